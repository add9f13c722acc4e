"""Where the files that define subagents are found."""

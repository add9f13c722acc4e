"""A subagent at work for a chat."""

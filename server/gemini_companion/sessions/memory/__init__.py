"""Memory files: what the person, extensions and the project tell every chat."""

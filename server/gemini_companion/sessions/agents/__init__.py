"""Subagents: models that work for a chat in a history of their own and hand back one result."""

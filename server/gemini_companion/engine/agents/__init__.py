"""Subagents: what defines one, and the words that go along with its task."""

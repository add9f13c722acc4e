"""Slash commands in sessions: where they come from, their names, and what they stand for when one is typed."""

"""Hooks in a session: when they run, what they are told, and what becomes of what they say."""

"""Gemini Companion: a daemon that gives every editor a Gemini chat that never forgets."""

__version__ = "0.1.0"

"""Conversations in progress: turns, compressions, clients, and what they need from outside (`ports`)."""

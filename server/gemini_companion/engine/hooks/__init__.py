"""Hooks: what the settings say of them, which run for an event, what they are told, and what their answers mean."""

"""Implementations of the ports in `sessions.ports` and `sessions.models.port`."""

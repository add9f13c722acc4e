"""Compressing a session: the service, one run of it, preview, apply and undo."""

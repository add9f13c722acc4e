"""Recalling what was said: in words, and where the user wants it also by meaning."""

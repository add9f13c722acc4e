"""Strategies: what a compression hides, and what it keeps word for word. Each is pure; `registry` names them all."""

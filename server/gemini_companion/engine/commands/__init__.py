"""Slash commands as text: their names, what they are given, and what a command file stands for. Reads no file."""

"""Runs the commands of hooks."""

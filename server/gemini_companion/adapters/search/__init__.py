"""Searching the files of the workspace folders."""

from gemini_companion.adapters.search.ripgrep import RipgrepSearch

__all__ = ["RipgrepSearch"]

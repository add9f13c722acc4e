"""Compressing a history: what to cut, where to split, what to ask, how to read the answer, what to install. Pure."""

from gemini_companion.engine.compression.split import find_split_point as find_split_point

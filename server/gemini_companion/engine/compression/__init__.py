"""Compression as pure steps: plan, prompt, read the answer, conclude."""

from gemini_companion.engine.compression.split import find_split_point as find_split_point

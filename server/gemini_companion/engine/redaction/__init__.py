"""Keeping secrets out of what is written: found, named by markers, and put back."""

from gemini_companion.engine.redaction.finding import mask as mask

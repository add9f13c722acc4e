"""The fallback estimate: a price per character, by whether it is ASCII, and flat prices for media."""

from __future__ import annotations

from typing import Final

ASCII_TOKENS: Final = 0.25
"""Tokens per ASCII character. Source: Gemini CLI's estimate."""

OTHER_TOKENS: Final = 1.3
"""Tokens per other character. Source: Gemini CLI's estimate."""


class HeuristicTokenCounter:
    """Tokens by characters alone, for comparison and for texts the lexical model must not be trusted with.

    It errs by about a quarter on chats full of tool calls and by more than half on Japanese; `LexicalTokenCounter` is
    the default.
    """

    def count_text(self, text: str) -> float:
        """Estimate the tokens of `text`, at least 0. Any string, lone surrogates included; linear in its length."""
        if text.isascii():
            return len(text) * ASCII_TOKENS
        ascii_characters = len(text.encode("ascii", "ignore"))
        return ascii_characters * ASCII_TOKENS + (len(text) - ascii_characters) * OTHER_TOKENS

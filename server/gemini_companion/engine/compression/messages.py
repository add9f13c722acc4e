"""The sentences for people: how far a compression shrank the chat, or why it did not."""

from __future__ import annotations

from typing import Final, assert_never

from gemini_companion.engine.history.log import CompressionStatus

SMALL_HISTORY_TOKENS: Final = 50_000
"""Below this an inflated result is blamed on the history's size (as Gemini CLI's `/compress` does)."""

NOT_AGAIN: Final = (
    "Not compressed: the last attempt came to nothing, and no large output is left. Compressing by hand tries again."
)
"""Why an automatic run ends at once while the failure flag is set."""

TOO_LITTLE: Final = "Not compressed ahead of need: it would save next to nothing."
"""Why what is prepared is not kept, or not installed."""


def message_for(status: CompressionStatus, before: int, after: int) -> str:
    """A sentence for people: how far the compression shrank the chat, or why it did not. Counts are tokens."""
    match status:
        case "COMPRESSED":
            return f"Compressed the chat from {before:,} to {after:,} tokens."
        case "PREVIEW":
            return (
                f"Preview: the chat would shrink from {before:,} to {after:,} tokens. Nothing is changed until you"
                " apply it."
            )
        case "CONTENT_TRUNCATED":
            return (
                f"Shortened large tool outputs, from {before:,} to {after:,} tokens. The whole outputs are kept in"
                " files."
            )
        case "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" if before < SMALL_HISTORY_TOKENS:
            return f"Compressing is not worth it for a history this small ({before:,} tokens). Nothing was changed."
        case "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT":
            return f"The result did not get smaller ({before:,} to {after:,} tokens), so the full history stays."
        case "COMPRESSION_FAILED_TOKEN_COUNT_ERROR":
            return "The tokens could not be counted, so the full history stays."
        case "COMPRESSION_FAILED_EMPTY_SUMMARY":
            return "The model wrote no usable snapshot, so the full history stays. Trying again may help."
        case "COMPRESSION_FAILED_LOW_RETENTION":
            return (
                "The snapshot left out too much of what must not be lost, so the full history stays. Another model for"
                " compression may do better; companion.compression.retentionFloor says how much must be kept."
            )
        case "UNDONE":
            return f"Undone: the chat is back at {after:,} tokens, with everything that came later."
        case "NOOP":
            return "Nothing to compress."
        case _:
            assert_never(status)

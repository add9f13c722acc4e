"""What a model is shown of a command's output."""

from __future__ import annotations

from gemini_companion.engine.ide_context.secrets import mask_secrets


def without_secrets(text: str) -> str:
    """The output as `read_file` shows a text, and word of it where that differs.

    Takes some time with a long text, so not on the event loop.
    """
    masked, count = mask_secrets(text)
    if not count:
        return text
    lead = "" if masked.endswith("\n") else "\n"
    what = "One secret is" if count == 1 else f"{count} secrets are"
    return f"{masked}{lead}[{what} masked as [masked: …]; the command's own output has the value.]\n"

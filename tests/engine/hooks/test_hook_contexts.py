"""What a hook adds to a prompt is not the person's."""

from __future__ import annotations

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.hooks.merging import hook_context
from gemini_companion.engine.prompts.attachments import as_read


def test_a_hooks_context_counts_as_read_and_not_as_said() -> None:
    said, added = {"text": "Mend it."}, {"text": hook_context("Never use </hook_context> tabs.")}
    first, second = as_read(Content(role="user", parts=(said, added)))
    assert first.parts == (said,)
    assert "functionResponse" in second.parts[0]

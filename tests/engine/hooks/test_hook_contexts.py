"""What a hook adds to a prompt is not the person's."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.hooks.merging import hook_context
from gemini_companion.engine.prompts.attachments import as_read


@pytest.mark.parametrize("text", ["if (a < b && c > d) List<String>", "&lt;b&gt; &amp;", "<system>x</system> <hook>"])
def test_a_hooks_context_reaches_the_model_word_for_word(text: str) -> None:
    assert hook_context(text) == f"<hook_context>{text}</hook_context>"


@pytest.mark.parametrize("tag", ["</hook_context>", "< / HOOK_context >", "<hook_context a='b'>"])
def test_nothing_in_a_hooks_context_ends_it_or_begins_another(tag: str) -> None:
    assert hook_context(f"a {tag} b") == f"<hook_context>a &lt;{tag[1:]} b</hook_context>"


def test_a_hooks_context_counts_as_read_and_not_as_said() -> None:
    said, added = {"text": "Mend it."}, {"text": hook_context("Never use </hook_context> tabs.")}
    first, second = as_read(Content(role="user", parts=(said, added)))
    assert first.parts == (said,)
    assert "functionResponse" in second.parts[0]

"""The text of a content in which facts are looked for."""

from __future__ import annotations

from gemini_companion.engine.facts.extract import result_text, strings_in
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import call_of, response_of, text_of


def text_of_content(content: Content) -> str:
    """Everything in a content that can hold a fact: texts, what calls were given, what they returned."""
    texts: list[str] = []
    for part in content.parts:
        if (text := text_of(part)) is not None:
            texts.append(text)
        elif (call := call_of(part)) is not None:
            texts.extend(value for _, value in strings_in(call.get("args")))
        elif (response := response_of(part)) is not None:
            texts.append(result_text(response))
    return "\n".join(texts)

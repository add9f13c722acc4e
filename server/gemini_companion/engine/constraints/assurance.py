"""The last look before a request goes out: every rule in force stands in it, word for word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gemini_companion.engine.history.constraint import Constraint, digest_of
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.part import text_of


def lacking(
    standing: Sequence[Constraint],
    contents: Iterable[Content],
    system_instruction: str | None,
    own_parts: Mapping[str, Sequence[Part]],
) -> list[Constraint]:
    """The rules in force that do not stand in a request as the person's.

    A rule stands there as a text of its own with the same SHA-256, in the prompt in which it was said, or in the system
    instruction. A snapshot, a file or a result that repeats it counts for nothing.

    Args:
        standing: The rules in force.
        contents: The contents of the request.
        system_instruction: That of the request.
        own_parts: By turn, what of its prompt the person wrote.
    """
    if not standing:
        return []
    texts = {
        text for content in contents if content.role == "user" for part in content.parts if (text := text_of(part))
    }
    lengths = {len(one.text) for one in standing}
    digests = {digest_of(text) for text in texts if len(text) in lengths}

    def is_said(one: Constraint) -> bool:
        said = (text_of(part) or "" for part in own_parts.get(one.turn_id or "", ()))
        return any(one.text in text and text in texts for text in said)

    return [
        one
        for one in standing
        if digest_of(one.text) not in digests and not is_said(one) and one.text not in (system_instruction or "")
    ]

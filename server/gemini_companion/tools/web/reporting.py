"""What the service found, as a text for the model, with its sources."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.ide_context.secrets import find_secrets
from gemini_companion.tools.grounding import Grounded, Grounding
from gemini_companion.tools.tool import ToolContext, ToolRefusal

LEAVES: Final = "What is asked leaves this machine, for Google's service."


def grounding_of(context: ToolContext) -> Grounding:
    """Who asks the network. Raises `ToolRefusal` where nobody can."""
    if context.ports.grounding is None:
        raise ToolRefusal("The model of this chat cannot ask the network. Go on without it, and say so.")
    return context.ports.grounding


def refuse_secrets(text: str) -> None:
    """Raises `ToolRefusal` for a text with what looks like a secret: it would leave the machine."""
    if find_secrets(text):
        raise ToolRefusal(
            "This has what looks like a secret in it, and would leave the machine. Ask without it.", outcome="declined"
        )


def with_sources(found: Grounded) -> str:
    """The answer with a mark behind each passage that has sources, and the list of them."""
    if not found.sources:
        return found.text
    pieces: list[str] = []
    begin = 0
    for end, sources in sorted(_marks(found).items()):
        pieces += [found.text[begin:end], "".join(f"[{number}]" for number in sorted(sources))]
        begin = end
    pieces.append(found.text[begin:])
    listed = "\n".join(
        f"[{number}] {source.title or source.address} ({source.address})"
        for number, source in enumerate(found.sources, start=1)
    )
    return f"{''.join(pieces).rstrip()}\n\nSources:\n{listed}"


def _marks(found: Grounded) -> dict[int, set[int]]:
    marks: dict[int, set[int]] = {}
    for passage in found.passages:
        known = {number + 1 for number in passage.sources if number < len(found.sources)}
        if known and 0 < passage.end <= len(found.text):
            marks.setdefault(passage.end, set()).update(known)
    return marks

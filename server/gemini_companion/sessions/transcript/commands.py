"""What went to the model in the place of a slash command."""

from __future__ import annotations

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.history.part import text_of
from gemini_companion.sessions.commands.results import SentText
from gemini_companion.sessions.session import Session


def sent_text(session: Session, turn_id: str) -> SentText:
    """Of a turn of the session. Raises `InvalidInput` if its prompt was no command."""
    known = session.transcript.has_prompt(turn_id)
    for entry in reversed(session.history.entries) if known else ():
        if isinstance(entry, PromptEntry) and entry.turn_id == turn_id and entry.command is not None:
            own = len(entry.own_parts)
            parts = entry.content.parts[own : own + entry.command.parts]
            return SentText(
                line="\n".join(text_of(part) or "" for part in entry.own_parts),
                text="\n\n".join(text_of(part) or "[an attachment]" for part in parts),
            )
    raise InvalidInput("This turn's prompt was no slash command.", path="$.turnId", hint="Name another turn.")

"""From bare contents to a log."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry, IdeContextEntry, PromptEntry, ReplyEntry, ToolResultEntry, TurnEndEntry
from gemini_companion.engine.history.part import has_response
from gemini_companion.sessions.services import Services


def entries_of(contents: Sequence[Content], services: Services) -> tuple[Entry, ...]:
    """A log that says these contents: a prompt begins a turn, what follows belongs to it, and every turn is completed."""
    entries: list[Entry] = []
    now = services.clock.now()
    turn_id = ""

    def stamp() -> dict[str, object]:
        return {"id": f"imported-{len(entries) + 1}", "seq": len(entries) + 1, "time": now}

    def end_turn() -> None:
        if turn_id:
            entries.append(TurnEndEntry(**stamp(), turn_id=turn_id, outcome="completed", kept_to=len(entries)))  # pyright: ignore[reportArgumentType]

    for content in contents:
        if content.role == "model":
            turn_id = turn_id or f"imported-turn-{len(entries) + 1}"
            entries.append(ReplyEntry(**stamp(), turn_id=turn_id, content=content))  # pyright: ignore[reportArgumentType]
        elif has_response(content):
            turn_id = turn_id or f"imported-turn-{len(entries) + 1}"
            entries.append(ToolResultEntry(**stamp(), turn_id=turn_id, content=content))  # pyright: ignore[reportArgumentType]
        else:
            end_turn()
            turn_id = f"imported-turn-{len(entries) + 1}"
            entries.append(PromptEntry(**stamp(), turn_id=turn_id, content=content))  # pyright: ignore[reportArgumentType]
    end_turn()
    return tuple(entries)


def ends_of_open_turns(entries: Sequence[Entry], services: Services, *, reason: str) -> tuple[TurnEndEntry, ...]:
    """What closes a copied log: a turn that was under way when it was copied does not go on in the copy."""
    said = (entry.turn_id for entry in entries if isinstance(entry, PromptEntry | ReplyEntry | ToolResultEntry | IdeContextEntry))
    ended = {entry.turn_id for entry in entries if isinstance(entry, TurnEndEntry)}
    last, now = entries[-1].seq if entries else 0, services.clock.now()
    return tuple(
        TurnEndEntry(id=services.new_id("entry"), seq=last + number, time=now, turn_id=turn_id, outcome="interrupted", reason=reason)
        for number, turn_id in enumerate((turn_id for turn_id in dict.fromkeys(said) if turn_id not in ended), start=1)
    )

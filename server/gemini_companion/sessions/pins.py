"""Pins: texts that stand word for word in every view after a compression."""

from __future__ import annotations

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import PinEntry, PromptEntry, UnpinEntry
from gemini_companion.sessions.constraints.news import tell
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.results import Pin
from gemini_companion.sessions.session import Session


def check_pin(text: str | None, turn_id: str | None) -> None:
    """Raises `InvalidInput` unless exactly one of the two is given, and the text is not blank."""
    if bool(text) == bool(turn_id):
        raise InvalidInput("Give either `text` or `turnId`.", path="$.text")
    if text and not text.strip():
        raise InvalidInput("The text to pin is empty.", path="$.text")


async def pin(session: Session, *, text: str | None = None, turn_id: str | None = None) -> Pin:
    """Pin a text, or the prompt of a turn. Raises `InvalidInput`, also for a turn without text."""
    check_pin(text, turn_id)
    text = text or _prompt_of(session, turn_id or "")
    pin_id, stamp = session.services.new_id("pin"), session.stamp()
    await session.append(lambda seq: PinEntry(**stamp, seq=seq, pin_id=pin_id, text=text, turn_id=turn_id))
    await tell(session)
    return Pin(pin_id=pin_id, text=text, turn_id=turn_id, created_at=stamp["time"])


async def unpin(session: Session, pin_id: str) -> None:
    """Remove a pin. Raises `InvalidInput` if there is none with this id."""
    if pin_id not in session.history.pins:
        raise InvalidInput(f"There is no pin {pin_id}.", path="$.pinId", hint="gemini/pins lists them.")
    one = session.history.constraints.get(pin_id)
    if one is not None and one.scope == "project":  # it holds in other sessions too
        await set_constraint(session, constraint_id=pin_id, state="released")
        return
    stamp = session.stamp()
    await session.append(lambda seq: UnpinEntry(**stamp, seq=seq, pin_id=pin_id))
    await tell(session)


def _prompt_of(session: Session, turn_id: str) -> str:
    """The text that a person wrote in a turn. Raises `InvalidInput` if there is none."""
    places = {seq for seq, turn, _ in session.history.sources.places() if turn == turn_id}
    entries = session.history.entries
    prompts = entries.of(PromptEntry, among=places.__contains__) if places else entries.of(PromptEntry)
    for entry in prompts if session.transcript.has_prompt(turn_id) else ():
        if entry.turn_id == turn_id and (text := visible_text_of(entry.own_parts)):
            return text
    raise InvalidInput(
        f"The session has no turn {turn_id} with a text to pin.",
        path="$.turnId",
        hint="Turn ids are in gemini/session/history.",
    )

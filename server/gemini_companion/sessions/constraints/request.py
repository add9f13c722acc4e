"""The one place through which a turn's request goes out: no rule in force is missing from it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator

import msgspec

from gemini_companion.engine.constraints.assurance import lacking
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.item import PROMPTS
from gemini_companion.engine.history.log import PromptEntry, SteerEntry
from gemini_companion.engine.history.pinned import pins_content
from gemini_companion.engine.history.sendable import sendable
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.session import Session

logger = logging.getLogger(__name__)


def _shown(history: History, turns: Collection[str | None]) -> Iterator[PromptEntry | SteerEntry]:
    """The prompts of some turns that the view may show: of those that are put away, none but what the view has."""
    prompts = history.prompts
    for item in history.items if prompts.gone else ():
        is_wanted = item.kind in PROMPTS and item.turn_id in turns and item.seq <= prompts.past_to
        if is_wanted and (prompt := prompts.at(item.seq)) is not None:
            yield prompt
    yield from prompts.live


def assured(session: Session, request: ModelRequest) -> ModelRequest:
    """The request with every rule in force in it. One that is missing is a defect: it is logged, and put in."""
    standing = session.history.standing
    if not standing:
        return request
    turns = {one.turn_id for one in standing}
    own_parts: dict[str, tuple[Part, ...]] = {}
    for prompt in _shown(session.history, turns):
        if prompt.turn_id in turns:
            own_parts[prompt.turn_id] = (*own_parts.get(prompt.turn_id, ()), *prompt.own_parts)
    missing = lacking(standing, request.contents, request.system_instruction, own_parts)
    if not missing:
        return request
    names = ", ".join(one.constraint_id for one in missing)
    logger.error("Defect: rules in force were missing from a request, and were put in: %s", names)
    contents = sendable((pins_content(one.text for one in missing), *request.contents))
    return msgspec.structs.replace(request, contents=contents)

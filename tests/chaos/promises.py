"""What daemons have acknowledged, session by session, and the comparison with what one of them says later."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from tests.chaos.client import Refused

Json = dict[str, Any]

LOOKS: Final = 40
"""How often something that runs is looked at again before it counts as false: a cancelled job may take a moment."""
BETWEEN_LOOKS: Final = 0.1
"""Seconds."""
AT_REST: Final = ("idle", "prepared")
"""States in which nothing runs: what is prepared waits for its safe point, in the next daemon too."""


class Asks(Protocol):
    """A client, as far as it is needed here."""

    async def ask(self, method: str, params: Json) -> Any:
        """The result. Raises `Refused` or `Gone`."""
        ...


@dataclass(slots=True)
class Turn:
    """A turn whose prompt is in the log for certain; `answer` once it was completed."""

    turn_id: str
    marker: str
    """Words that stand in its prompt and nowhere else."""
    answer: str | None = None
    may_be_replaced: bool = False


@dataclass(slots=True)
class Promises:
    """What was acknowledged of one session. `may_…` is what was asked for, so that it may have happened or not."""

    session_id: str
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    compressions: set[str] = field(default_factory=set[str])
    undone: set[str] = field(default_factory=set[str])
    pins: dict[str, str] = field(default_factory=dict[str, str])
    unpinned: set[str] = field(default_factory=set[str])
    may_be_unpinned: set[str] = field(default_factory=set[str])
    ratings: dict[str, set[int | None]] = field(default_factory=dict[str, set[int | None]])
    """By compression, the ratings that may stand: the last acknowledged one, and those asked for since."""
    titles: set[str] = field(default_factory=set[str])
    """The titles that may stand, in the same way; none if nobody gave one."""
    deleted: bool = False
    may_be_deleted: bool = False
    is_contested: bool = False
    """A window has asked to take it over from another."""
    previewed: str = ""
    """A preview that was acknowledged, with nothing asked for since that takes its place."""
    renaming: int = 0
    """Requests under way that give it a title."""
    busy: int = 0
    """Requests under way that change it."""
    news: int = 0
    """Rises with every acknowledgement."""
    compared: int = -1
    """The news up to which it was compared."""

    @property
    def is_checked(self) -> bool:
        """Nothing was acknowledged since it was last compared."""
        return self.compared == self.news

    def complete(self, turn_id: str, marker: str, answer: str) -> None:
        """A turn was answered."""
        replaced = turn_id in self.turns and self.turns[turn_id].may_be_replaced
        self.turns[turn_id] = Turn(turn_id, marker, answer, replaced)
        self.news += 1

    def accept(self, turn_id: str, marker: str) -> None:
        """A prompt was written: the first piece of its answer is here."""
        if turn_id not in self.turns:
            self.turns[turn_id] = Turn(turn_id, marker)
            self.news += 1

    def sure(self) -> Promises:
        """What is acknowledged by now, apart from what will be."""
        return replace(
            self,
            turns={key: replace(turn) for key, turn in self.turns.items()},
            compressions=set(self.compressions),
            undone=set(self.undone),
            pins=dict(self.pins),
            unpinned=set(self.unpinned),
            ratings={key: set(values) for key, values in self.ratings.items()},
            titles=set(self.titles),
        )

    def copied(self, session_id: str, up_to: str | None = None) -> Promises:
        """What a copy of the session must hold at least; of its turns `up_to` alone, if it was taken after that one."""
        sure = self.sure()
        if up_to is not None:
            return Promises(session_id, turns={up_to: sure.turns[up_to]})
        pins = {key: pin for key, pin in sure.pins.items() if key not in self.may_be_unpinned}
        return Promises(session_id, turns=sure.turns, pins=pins)


async def compare(client: Asks, promises: Promises) -> list[tuple[str, str]]:
    """Open the session and compare: violations as a kind and a sentence. Raises `Gone`, or `Refused` for a disk.

    Others may go on using the session: what was acknowledged before this began must be there, and what was asked for
    until it ended may be.
    """
    sure = promises.sure()
    session_id = promises.session_id
    named = {"sessionId": session_id}
    try:
        info = await client.ask("gemini/session/open", named)
        transcript = (await client.ask("gemini/session/history", {**named, "view": "transcript"}))["contents"]
        listed = (await client.ask("gemini/compression/list", named))["compressions"]
        pins = {pin["pinId"]: pin["text"] for pin in (await client.ask("gemini/pins", named))["pins"]}
        view = (await client.ask("gemini/session/history", {**named, "view": "model"}))["contents"]
        after = (await client.ask("gemini/compression/list", named))["compressions"]
    except Refused as refused:
        if refused.kind == "sessionNotFound":
            return [] if promises.may_be_deleted else [("lost", f"the session {session_id} is gone")]
        raise
    if sure.deleted:
        return [("lost", f"the deletion of {session_id} is gone: it can be opened")]
    lost = [
        *_turns(sure, promises, transcript),
        *_compressions(sure, promises, listed),
        *_pins(sure, promises, pins, _text(view) if _in_force(listed) & _in_force(after) else None),
    ]
    if sure.titles and info["title"] not in sure.titles | promises.titles:
        lost.append(f"the title is {info['title']!r}, none of {sorted(sure.titles | promises.titles)}")
    found = [("lost", f"{session_id}: {what}") for what in lost]
    if not info.get("heldBy"):
        found += [("falsely running", f"{session_id}: {what}") for what in await _running(client, promises)]
    if not found:
        promises.compared = sure.news
    return found


async def _running(client: Asks, promises: Promises) -> list[str]:
    """What still runs, or claims to, though nobody has asked for anything."""
    named = {"sessionId": promises.session_id}
    found: list[str] = []
    for _ in range(LOOKS):
        if promises.busy:
            return []
        status = await client.ask("gemini/compressionStatus", named)
        page = await client.ask("gemini/session/history", {**named, "view": "transcript"})
        found = list(_open_turns(page["contents"]))
        if status["state"] not in AT_REST:
            found.append(f"the status is {status['state']} in {status.get('phase')}")
        if not found:
            return []
        await asyncio.sleep(BETWEEN_LOOKS)
    return [] if promises.busy else found


def _in_force(listed: list[Json]) -> set[str]:
    """The compressions in force that hide something."""
    return {entry["compressionId"] for entry in listed if entry["state"] == "inForce" and entry.get("hides")}


def _text(contents: list[Json]) -> str:
    return "\n".join(part.get("text", "") for item in contents for part in item["parts"])


def _turns(sure: Promises, promises: Promises, transcript: list[Json]) -> Iterable[str]:
    prompts: dict[str, list[Json]] = {}
    replies: dict[str, str] = {}
    for item in transcript:
        turn_id = item.get("turnId", "")
        if item["kind"] == "prompt":
            prompts.setdefault(turn_id, []).append(item)
        elif item["kind"] == "reply":
            said = "".join(part.get("text", "") for part in item["parts"] if not part.get("thought"))
            replies[turn_id] = said  # the last of the turn; before it stand rounds, and what a loop cut short
    for turn_id, turn in sure.turns.items():
        found = prompts.get(turn_id, [])
        if not found or turn.marker not in _text(found):
            yield f"the prompt of {turn_id} ({turn.marker}) is gone"
        elif len(found) > 1:
            yield f"the prompt of {turn_id} is there {len(found)} times"
        elif turn.answer is not None:
            outcome = found[0].get("outcome")
            if outcome is not None and not (outcome == "replaced" and promises.turns[turn_id].may_be_replaced):
                yield f"the completed turn {turn_id} is {outcome} now"
            elif replies.get(turn_id, "") != turn.answer:
                yield f"the answer of {turn_id} is {replies.get(turn_id, '')[:80]!r}, it was {turn.answer[:80]!r}"


def _open_turns(transcript: list[Json]) -> Iterable[str]:
    answered = {item.get("turnId") for item in transcript if item["kind"] == "reply"}
    for item in transcript:
        turn_id = str(item.get("turnId"))
        if turn_id.startswith("imported-") or turn_id in answered or item["kind"] != "prompt":
            continue  # a file may hold prompts without answers
        if not item.get("outcome"):
            yield f"the turn {turn_id} has neither an answer nor an end"


def _compressions(sure: Promises, promises: Promises, listed: list[Json]) -> Iterable[str]:
    states = {entry["compressionId"]: entry["state"] for entry in listed}
    ratings = {entry["compressionId"]: entry.get("rating") for entry in listed}
    for compression_id in sure.compressions:
        if states.get(compression_id, "preview") in ("preview", "outdated"):
            yield f"the compression {compression_id} is gone"
    for compression_id in sure.undone:
        if states.get(compression_id) != "undone":
            yield f"the compression {compression_id} is {states.get(compression_id)}, it was undone"
    for compression_id, before in sure.ratings.items():
        allowed = before | promises.ratings[compression_id]
        if ratings.get(compression_id) not in allowed:
            yield f"the rating of {compression_id} is {ratings.get(compression_id)}, none of {allowed}"
    if sure.previewed and sure.previewed == promises.previewed and sure.previewed not in states:
        yield f"the preview {sure.previewed} is gone"


def _pins(sure: Promises, promises: Promises, pins: dict[str, str], view: str | None) -> Iterable[str]:
    """`view` is what the model gets, if a compression is in force."""
    for pin_id, text in sure.pins.items():
        if pin_id in sure.unpinned:
            if pin_id in pins:
                yield f"the pin {pin_id} is back"
        elif pin_id not in promises.may_be_unpinned:
            if pins.get(pin_id) != text:
                yield f"the pin {pin_id} is gone, or another: {pins.get(pin_id, '')[:60]!r}"
            elif view is not None and text not in view:
                yield f"the pin {pin_id} is not in the model's view, though a compression is in force"

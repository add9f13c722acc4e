"""Actions that change sessions, files or settings."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.chaos.promises import Promises

if TYPE_CHECKING:
    from tests.chaos.user import User
    from tests.chaos.window import Window

FILES: Final = ("src/config.py", "src/parser.py", "notes/plan.md", "README.md")
SETTINGS: Final = (
    {},
    {"model": {"compressionTokenCap": 3_000}},
    {"model": {"compressionTokenCap": 1_500, "name": "gemini-2.5-flash"}},
    {"model": {"compressionThreshold": 1}},
    {"model": {"tokenLimit": 20_000}},
    {"model": {"maxSessionTurns": 400}, "companion": {"ide": {"maxOpenFiles": 2}}},
    {"model": {"compressionThreshold": "half"}},
    "{ this is no JSON",
)


async def new(user: User, window: Window, chance: random.Random) -> None:
    """A new session, in place of an old one if there are too many."""
    known = [promises for promises in user.household.sessions.values() if not promises.may_be_deleted]
    if len(known) >= user.most_sessions:
        return await _delete(user, window, chance)
    info = await window.ask("gemini/session/new", {})
    user.household.sessions[info["sessionId"]] = Promises(info["sessionId"])
    window.current = info["sessionId"]
    user.report.counts["sessions"] += 1
    return None


async def _delete(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is not None and len(user.household.sessions) > 2:
        await delete_one(user, window, promises)


async def delete_one(user: User, window: Window, promises: Promises) -> None:
    """Delete a session."""
    promises.may_be_deleted = True
    await window.ask("gemini/session/delete", {"sessionId": promises.session_id})
    promises.deleted = True
    promises.news += 1
    user.report.counts["deletions"] += 1


async def _open(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    take_over = chance.random() < 0.3
    promises.is_contested = promises.is_contested or take_over
    info = await window.ask("gemini/session/open", {"sessionId": promises.session_id, "takeOver": take_over})
    window.current = info["sessionId"]


async def _rename(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    title = f"Title {chance.randrange(10**6)}"
    if promises.titles:  # otherwise it may keep one that nobody gave
        promises.titles.add(title)
    promises.renaming += 1
    try:
        info = await window.ask("gemini/session/rename", {"sessionId": promises.session_id, "title": title})
        if promises.renaming == 1:
            promises.titles.clear()
        promises.titles.add(info["title"])
        promises.news += 1
    finally:
        promises.renaming -= 1


async def _fork(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None or len(user.household.sessions) >= 2 * user.most_sessions:
        return
    completed = [turn.turn_id for turn in promises.turns.values() if turn.answer is not None]
    at_turn = chance.choice(completed) if completed and chance.random() < 0.5 else None
    before = promises.copied("", at_turn)
    params = {"sessionId": promises.session_id, **({"atTurn": at_turn} if at_turn else {})}
    info = await window.ask("gemini/session/fork", params)
    _keep_copy(user, window, before, promises, info["sessionId"])


async def _export_and_import(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None or len(user.household.sessions) >= 2 * user.most_sessions:
        return
    before = promises.copied("")
    named = {"sessionId": promises.session_id}
    plain = chance.random() < 0.3
    exported = await window.ask("gemini/session/export", {**named, "format": "gemini-cli" if plain else "companion"})
    file = user.household.scratch / f"{user.name}.json"
    file.write_text(exported["content"], "utf-8")
    info = await window.ask("gemini/session/import", {"path": str(file)})
    if plain:  # has no turns of its own
        before = Promises("")
    _keep_copy(user, window, before, promises, info["sessionId"])
    user.report.counts["imports"] += 1


def _keep_copy(user: User, window: Window, before: Promises, source: Promises, session_id: str) -> None:
    """A copy was acknowledged: it holds at least what its source held when it was asked for."""
    before.session_id = session_id
    for turn_id, turn in before.turns.items():
        turn.may_be_replaced = turn.may_be_replaced or source.turns[turn_id].may_be_replaced
    before.pins = {key: pin for key, pin in before.pins.items() if key not in source.may_be_unpinned}
    user.household.sessions[session_id] = before
    window.current = session_id
    user.report.counts["copies"] += 1


async def _pin(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    if promises.pins and chance.random() < 0.4:
        pin_id = chance.choice(list(promises.pins))
        promises.may_be_unpinned.add(pin_id)
        await window.ask("gemini/unpin", {"sessionId": promises.session_id, "pinId": pin_id})
        promises.unpinned.add(pin_id)
    else:
        text = f"Rule {chance.randrange(10**6)}: never touch the lock file."
        pin = await window.ask("gemini/pin", {"sessionId": promises.session_id, "text": text})
        promises.pins[pin["pinId"]] = pin["text"]
        user.report.counts["pins"] += 1
    promises.news += 1


async def _rate(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None or not promises.compressions:
        return
    compression_id, rating = chance.choice(sorted(promises.compressions)), chance.randint(1, 5)
    allowed = promises.ratings.setdefault(compression_id, {None})
    allowed.add(rating)
    await window.ask(
        "gemini/compression/rate",
        {"sessionId": promises.session_id, "compressionId": compression_id, "rating": rating},
    )
    allowed.discard(None)
    promises.news += 1


async def _workspace(user: User, window: Window, chance: random.Random) -> None:
    """Files appear, change, move and vanish under the daemon."""
    file = user.household.workspace / chance.choice(FILES)
    file.parent.mkdir(exist_ok=True)
    if file.exists() and chance.random() < 0.3:
        file.rename(file.with_name(f"{file.name}.old"))
    else:
        file.write_text(f"# {chance.random()}\n" * chance.choice((1, 50, 5_000)), "utf-8")


async def _documents(user: User, window: Window, chance: random.Random) -> None:
    file = user.household.workspace / chance.choice(FILES)
    uri = file.as_uri()
    text = f"value = {chance.random()}\n" * chance.choice((1, 30, 500))
    window.client.tell(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}},
    )
    cursor = {"line": chance.randrange(3), "character": 2}
    window.client.tell(
        "gemini/ideContext/didChange",
        {"openFiles": [{"uri": uri, "lastFocusedAt": chance.randrange(10**9), "isActive": True, "cursor": cursor}]},
    )
    if chance.random() < 0.5:
        change = {"text": f"{text}# more\n"}
        window.client.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]},
        )
    if chance.random() < 0.7:
        window.client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})


async def _settings(user: User, window: Window, chance: random.Random) -> None:
    user.report.fault("settings changed")
    section = chance.choice(SETTINGS)
    if chance.random() < 0.5 and isinstance(section, dict):
        window.client.tell("workspace/didChangeConfiguration", {"settings": {"geminiCompanion": section}})
        return
    write_settings(user.household.home, section)


def write_settings(home: Path, section: object) -> None:
    """Write the person's settings file as it is, valid or not."""
    folder = home / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(section if isinstance(section, str) else json.dumps(section), "utf-8")


ACTIONS: Final[dict[str, tuple[float, Callable[[User, Window, random.Random], Awaitable[None]]]]] = {
    "new": (4, new),
    "delete": (1.5, _delete),
    "open": (4, _open),
    "rename": (1.5, _rename),
    "fork": (1.5, _fork),
    "import": (1, _export_and_import),
    "pin": (5, _pin),
    "rate": (1, _rate),
    "workspace": (2, _workspace),
    "documents": (4, _documents),
    "settings": (1, _settings),
}

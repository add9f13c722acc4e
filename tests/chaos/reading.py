"""Actions that change nothing, and those of a client that behaves badly."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.chaos.user import User
    from tests.chaos.window import Window

_OF_A_SESSION: Final = (
    "gemini/compressionStatus",
    "gemini/compression/list",
    "gemini/context",
    "gemini/context/preview",
    "gemini/systemPrompt",
    "gemini/pins",
    "gemini/stats",
)


async def _look(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is not None:
        await window.ask(chance.choice(_OF_A_SESSION), {"sessionId": promises.session_id})


async def _look_at_everything(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is not None:
        named = {"sessionId": promises.session_id}
        await asyncio.gather(*(window.ask(method, named) for method in _OF_A_SESSION), window.ask("gemini/models", {}))


async def _history(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    params: dict[str, Any] = {"sessionId": promises.session_id, "view": chance.choice(("model", "transcript"))}
    if chance.random() < 0.5:
        params["limit"] = chance.choice((1, 10, 50))
    for _ in range(5):
        page = await window.ask("gemini/session/history", params)
        if "nextCursor" not in page:
            return
        params["cursor"] = page["nextCursor"]


async def _list(user: User, window: Window, chance: random.Random) -> None:
    query = chance.choice(("", "config", "loader defaults", '"unfinished', "nothing has this word xyzzy"))
    await window.ask("gemini/session/list", {"query": query, "limit": chance.choice((1, 50, 500))})


async def _replay(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    after = chance.choice((0, window.seqs.get(promises.session_id, 0)))
    page = await window.ask("gemini/events/replay", {"sessionId": promises.session_id, "afterSeq": after})
    numbers = [event["seq"] for event in page["events"]]
    if numbers != sorted(set(numbers)) or (numbers and numbers[0] <= after):
        user.report.violate("defect", f"{window.name}: replayed events are out of order", user.household.trails)


async def _files(user: User, window: Window, chance: random.Random) -> None:
    await window.ask("gemini/files", {"query": chance.choice(("", "conf", "plan", "zzz")), "limit": 20})


async def _command(user: User, window: Window, chance: random.Random) -> None:
    if window.current in user.household.sessions:
        command = chance.choice(("gemini.compressionStatus", "gemini.showContext"))
        arguments = [{"sessionId": window.current}]
        await window.ask("workspace/executeCommand", {"command": command, "arguments": arguments})


async def _nonsense(user: User, window: Window, chance: random.Random) -> None:
    """Requests that must be refused, and cost nothing."""
    user.report.fault("nonsense")
    method, params = chance.choice(
        (
            ("gemini/chat", {"prompt": 7}),
            ("gemini/session/open", {"sessionId": "no such session"}),
            ("gemini/session/history", {"view": "all"}),
            ("gemini/compression/apply", {"compressionId": "none", "sessionId": window.current or "none"}),
            ("gemini/session/import", {"path": "/dev/null"}),
            ("gemini/nothing", {}),
        )
    )
    await window.ask(method, params)


async def _stall(user: User, window: Window, chance: random.Random) -> None:
    """Read nothing for a while."""
    user.report.fault("unread client")
    window.stop_reading()
    await asyncio.sleep(chance.uniform(0.2, 2.5))
    window.go_on_reading()


ACTIONS: Final[dict[str, tuple[float, Callable[[User, Window, random.Random], Awaitable[None]]]]] = {
    "look": (10, _look),
    "look at everything": (4, _look_at_everything),
    "history": (5, _history),
    "list": (3, _list),
    "replay": (2, _replay),
    "files": (2, _files),
    "command": (1, _command),
    "nonsense": (1, _nonsense),
    "stall": (0.7, _stall),
}

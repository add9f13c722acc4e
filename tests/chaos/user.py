"""A person at a window: a plan of random actions, each a function of the seed, the person's name and the action's number."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from tests.chaos import editing, reading
from tests.chaos.client import Gone, Refused
from tests.chaos.promises import Promises
from tests.chaos.report import Report, Trail
from tests.chaos.window import Window

if TYPE_CHECKING:
    from tests.chaos.household import Household

MOST_AT_ONCE: Final = 6
"""Requests that one person has open beside the action under way."""
_LOREM: Final = (
    "the",
    "config",
    "loader",
    "keeps",
    "its",
    "defaults",
    "in",
    "src/config.py",
    "and",
    "must",
    "never",
    "read",
)


class User:
    """One person, who goes on at the next daemon when one is gone."""

    def __init__(
        self, name: str, household: Household, window: int, *, pace: float, most_sessions: int, most_turns: int
    ) -> None:
        self.name = name
        self.household = household
        self.report: Report = household.report
        self.trail = Trail(name)
        household.trails.append(self.trail)
        self.pace = pace
        """Mean seconds between two actions."""
        self.most_sessions = most_sessions
        self.most_turns = most_turns
        """A session with more of them is deleted, so that the daemon has no reason to grow."""
        self._window = window
        self._number = 0
        self._aside: set[asyncio.Task[None]] = set()

    async def run(self, until: float) -> None:
        """Act until that moment on the monotonic clock, then let what is open end."""
        while time.monotonic() < until:
            window = await self.household.window(self._window, until)
            if window is None:
                break
            self._number += 1
            name, chance = planned(self.report.seed, self.name, self._number)
            await self._guarded(name, ACTIONS[name][1](self, window, chance))
            await asyncio.sleep(chance.expovariate(1 / self.pace))
        if self._aside:
            await asyncio.wait(self._aside)

    def aside(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Do something while the next actions go on."""
        if len(self._aside) >= MOST_AT_ONCE:
            work.close()
            return
        task = asyncio.create_task(self._guarded(f"{name} (aside)", work))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    def marker(self) -> str:
        """Words for a prompt of the action under way, which stand nowhere else."""
        return f"{self.name}-{self._number}-{self.report.counts['prompts']}"

    def pick(self, chance: random.Random, window: Window) -> Promises | None:
        """A session to do something with: mostly the window's own, else any other; `None` if there is none."""
        known = [promises for promises in self.household.sessions.values() if not promises.may_be_deleted]
        if not known:
            return None
        long = next((promises for promises in known if len(promises.turns) > self.most_turns), None)
        if long is not None:
            self.aside("delete", editing.delete_one(self, window, long))
        own = self.household.sessions.get(window.current or "")
        if own in known and chance.random() < 0.8:
            return own
        return chance.choice(known)

    async def _guarded(self, name: str, work: Awaitable[None]) -> None:
        number = self._number
        self.trail.note(f"{number} {name}")
        try:
            await work
        except Gone as gone:
            self.trail.note(f"{number} {name}: the daemon is gone ({gone})")
        except Refused as refused:
            self.trail.note(f"{number} {name}: {str(refused)[:150]}")


def planned(seed: int, person: str, number: int) -> tuple[str, random.Random]:
    """What a person's action of that number is, and where everything random in it comes from."""
    chance = random.Random(f"{seed}:{person}:{number}")
    return chance.choices(tuple(ACTIONS), tuple(weight for weight, _ in ACTIONS.values()))[0], chance


def words(chance: random.Random, count: int) -> str:
    """Some words."""
    return " ".join(chance.choice(_LOREM) for _ in range(count))


# --- prompts


async def _prompt(
    user: User,
    window: Window,
    promises: Promises,
    text: str,
    *,
    marker: str,
    replaces: str = "",
    cancel_after: float | None = None,
    cancel_by_request: bool = False,
) -> None:
    """Send a prompt, cancel it if asked to, and keep what was acknowledged."""
    named: dict[str, Any] = {"sessionId": promises.session_id}
    params = {**named, "prompt": f"[[{marker}]] {text}", **({"replaces": replaces} if replaces else {})}
    if replaces:
        promises.turns[replaces].may_be_replaced = True
    promises.busy += 1
    try:
        request_id, future = window.client.send("gemini/chat", params)
        answer = _answer(window, "gemini/chat", future)
        if cancel_after is not None:
            await asyncio.wait({answer}, timeout=cancel_after)
            if not answer.done():
                await _cancel(user, window, named, request_id, by_request=cancel_by_request)
        result = await answer
        if not result.get("stopped"):
            promises.complete(result["turnId"], marker, result["text"])
        if "compression" in result:
            keep_compression(user, promises, result["compression"])
    finally:
        promises.busy -= 1


def _answer(window: Window, method: str, future: asyncio.Future[Any]) -> asyncio.Task[Any]:
    """The answer to a request just sent; that nobody waits for it any more is no news."""
    answer = asyncio.create_task(window.answer_of(method, future))
    answer.add_done_callback(lambda done: done.cancelled() or done.exception())
    return answer


async def _cancel(user: User, window: Window, named: dict[str, Any], request_id: int, *, by_request: bool) -> None:
    user.report.counts["cancels"] += 1
    if by_request:
        await window.ask("gemini/cancel", named)
    else:
        window.client.cancel(request_id)


def keep_compression(user: User, promises: Promises, result: dict[str, Any]) -> None:
    """Keep an acknowledged compression."""
    if result["status"] in ("COMPRESSED", "CONTENT_TRUNCATED") and result.get("compressionId"):
        promises.compressions.add(result["compressionId"])
        promises.previewed = ""
        promises.news += 1
        user.report.counts["compressions"] += 1
    else:
        user.report.counts["idle compressions"] += 1


async def _chat(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return await editing.new(user, window, chance)
    user.report.counts["prompts"] += 1
    text = words(chance, chance.choice((5, 30, 200, 200, 2_000)))
    if chance.random() < 0.2:
        text += " @src/config.py @notes"
    cancel_after = chance.choice((0.0, 0.02, 0.1, 0.5, 2.0)) if chance.random() < 0.2 else None
    last = next(reversed(promises.turns), "")
    replaces = last if last and chance.random() < 0.08 and promises.turns[last].answer is not None else ""
    work = _prompt(
        user,
        window,
        promises,
        text,
        marker=user.marker(),
        replaces=replaces,
        cancel_after=cancel_after,
        cancel_by_request=chance.random() < 0.5,
    )
    if chance.random() < 0.5:
        return user.aside("chat", work)
    return await work


async def _burst(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    for _ in range(chance.choice((2, 3, 5, 20))):
        user.report.counts["prompts"] += 1
        cancel_after = chance.uniform(0, 2) if chance.random() < 0.4 else None
        marker = user.marker()
        user.aside("chat", _prompt(user, window, promises, words(chance, 20), marker=marker, cancel_after=cancel_after))


# --- compressions


async def _compress(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    preview = chance.random() < 0.35
    cancel_after = chance.choice((0.0, 0.1, 0.4, 1.0)) if chance.random() < 0.25 else None
    work = _compression(user, window, promises, preview=preview, cancel_after=cancel_after, chance=chance)
    if chance.random() < 0.5:
        return user.aside("compress", work)
    return await work


async def _compression(
    user: User,
    window: Window,
    promises: Promises,
    *,
    preview: bool,
    cancel_after: float | None,
    chance: random.Random,
) -> None:
    named: dict[str, Any] = {"sessionId": promises.session_id}
    promises.previewed = ""
    promises.busy += 1
    try:
        params = {**named, "preview": preview, "instructions": words(chance, chance.choice((0, 8)))}
        request_id, future = window.client.send("gemini/compress", params)
        answer = _answer(window, "gemini/compress", future)
        if cancel_after is not None:
            await asyncio.wait({answer}, timeout=cancel_after)
            if not answer.done():
                await _cancel(user, window, named, request_id, by_request=chance.random() < 0.5)
        result = await answer
        if result["status"] != "PREVIEW":
            return keep_compression(user, promises, result)
        user.report.counts["previews"] += 1
        promises.news += 1
        if promises.busy == 1:
            promises.previewed = result["compressionId"]
        if chance.random() < 0.6:
            edited = {"snapshot": f"{result['snapshot']}\n{words(chance, 5)}"} if chance.random() < 0.4 else {}
            promises.previewed = ""
            applied = await window.ask(
                "gemini/compression/apply", {**named, "compressionId": result["compressionId"], **edited}
            )
            keep_compression(user, promises, applied)
    finally:
        promises.busy -= 1


async def _undo(user: User, window: Window, chance: random.Random) -> None:
    promises = user.pick(chance, window)
    if promises is None:
        return
    promises.busy += 1
    try:
        result = await window.ask("gemini/compression/undo", {"sessionId": promises.session_id})
        promises.undone.update(result["undone"])
        promises.compressions.update(result["undone"])
        promises.news += 1
        user.report.counts["undos"] += 1
    finally:
        promises.busy -= 1


Action = Callable[[User, Window, random.Random], Awaitable[None]]

ACTIONS: Final[dict[str, tuple[float, Action]]] = {
    "chat": (24, _chat),
    "burst": (2, _burst),
    "compress": (8, _compress),
    "undo": (3, _undo),
    **editing.ACTIONS,
    **reading.ACTIONS,
}
"""What a person does, with how often."""

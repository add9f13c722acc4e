"""The requests in flight of one client: each runs in a task and gets exactly one answer, also when it is cancelled or
its handler fails.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import msgspec

from gemini_companion.protocol.codec import encode_body
from gemini_companion.protocol.errors import RpcError, cancelled, to_wire

logger = logging.getLogger(__name__)

MessageId: TypeAlias = str | int

CANCEL_GRACE: Final = 0.08
"""Seconds between a cancel and the answer -32800, unless the handler settles it before."""
SLICE: Final = 200
"""Items of a result's list that are encoded in one go."""
CLOSE_GRACE: Final = 2.0
"""Seconds that handlers have to clean up when the client leaves."""


@dataclass(slots=True, eq=False)
class Call:
    """A request in flight."""

    id: MessageId
    method: str
    token: MessageId | None
    """The client's `workDoneToken`."""
    task: asyncio.Task[None] | None = None
    notes_cancel: bool = False
    """It is begun even if it was cancelled before."""
    has_begun: bool = False
    deadline: asyncio.TimerHandle | None = None
    """Set by a cancel: when the answer goes out without waiting for the handler any longer."""
    is_done: bool = False
    """The handler has returned: what it did is done, so that is the answer, and a cancel comes too late."""


class Calls:
    """The requests of one client that are not answered yet. `send` takes the body of an answer and returns at once."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._by_id: dict[MessageId, Call] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        """Also those that were answered by a deadline and run on."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, call_id: MessageId) -> bool:
        return call_id in self._by_id

    def start(
        self,
        call_id: MessageId,
        method: str,
        handle: Callable[[], Awaitable[Any]],
        *,
        token: MessageId | None = None,
        notes_cancel: bool = False,
    ) -> None:
        """Run `handle` and answer with what it returns, or with the error that it raises. If it `notes_cancel`, it is
        begun even where a cancel comes in one piece with it; else that keeps it from running at all.
        """
        call = self._by_id[call_id] = Call(call_id, method, token, notes_cancel=notes_cancel)
        call.task = asyncio.get_running_loop().create_task(self._run(call, handle), name=method)
        self._tasks.add(call.task)
        call.task.add_done_callback(functools.partial(self._ended, call))

    def cancel(self, call_id: MessageId) -> None:
        """Stop a call. A handler that catches this and returns a value in time has that value sent; one that does not
        is answered for.
        """
        call = self._by_id.get(call_id)
        if call is None or call.task is None or call.deadline is not None or call.is_done:
            return
        if call.notes_cancel and not call.has_begun:
            asyncio.get_running_loop().call_soon(call.task.cancel)
        else:
            call.task.cancel()
        call.deadline = asyncio.get_running_loop().call_later(
            CANCEL_GRACE, self._answer, call, error_body(call_id, cancelled())
        )

    def cancel_progress(self, token: MessageId) -> None:
        """Stop the calls that took this `workDoneToken`."""
        for call in [call for call in self._by_id.values() if call.token == token and type(call.token) is type(token)]:
            self.cancel(call.id)

    async def cancel_all(self, *, but: MessageId | None = None) -> None:
        """Stop all calls and wait until they are answered, which takes little more than `CANCEL_GRACE`."""
        stopped = [call for call in self._by_id.values() if call.id != but]
        for call in stopped:
            self.cancel(call.id)
        if tasks := [call.task for call in stopped if call.task]:
            await asyncio.wait(tasks, timeout=CANCEL_GRACE * 1.5)

    async def close(self) -> None:
        """Stop all calls and wait until their handlers have cleaned up, or for `CLOSE_GRACE`."""
        await self.cancel_all()
        if self._tasks:
            _, stuck = await asyncio.wait(self._tasks, timeout=CLOSE_GRACE)
            if stuck:
                logger.error("Left behind: %s", ", ".join(sorted(task.get_name() for task in stuck)))

    async def _run(self, call: Call, handle: Callable[[], Awaitable[Any]]) -> None:
        call.has_begun = True
        try:
            result = await handle()
            call.is_done = self._by_id.get(call.id) is call
            if call.is_done and call.deadline is not None:
                call.deadline.cancel()
            result = await _with_lists_encoded(result)
            body = encode_body({"jsonrpc": "2.0", "id": call.id, "result": result})
        except (Exception, asyncio.CancelledError) as error:
            wire = to_wire(error, doing=call.method)
            body = error_body(call.id, wire if call.deadline is None else cancelled())
        self._answer(call, body)

    def _ended(self, call: Call, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():  # before it began
            self._answer(call, error_body(call.id, cancelled()))

    def _answer(self, call: Call, body: bytes) -> None:
        if self._by_id.get(call.id) is not call:
            return
        del self._by_id[call.id]
        if call.deadline is not None:
            call.deadline.cancel()
        self._send(body)


async def _with_lists_encoded(result: Any) -> Any:
    """The result with its long lists as JSON already, made in slices between which everything else goes on.

    A thread would not help: the encoder lets nothing else run until it is done.
    """
    if not isinstance(result, msgspec.Struct):
        return result
    encoded: dict[str, msgspec.Raw] = {}
    for name in result.__struct_fields__:
        value: object = getattr(result, name)
        if isinstance(value, tuple) and len(cast("tuple[Any, ...]", value)) > SLICE:
            items = cast("tuple[Any, ...]", value)
            slices: list[bytes] = []
            for start in range(0, len(items), SLICE):
                slices.append(encode_body(items[start : start + SLICE])[1:-1])
                await asyncio.sleep(0)
            encoded[name] = msgspec.Raw(b"[" + b",".join(slices) + b"]")
    return msgspec.structs.replace(result, **encoded) if encoded else result


def error_body(call_id: MessageId | None, error: RpcError) -> bytes:
    """An error reply; without an id it carries `"id": null`, as JSON-RPC asks."""
    return encode_body(
        {"jsonrpc": "2.0", "id": call_id, "error": {"code": error.code, "message": error.message, "data": error.data}}
    )

"""Writing a session in Gemini CLI's format: one JSON object with `messages`, or a line for each of them.

Its reader takes a model message's `content` as complete when there are calls or thoughts in it. So every content goes
out as a message of its own, part by part, signatures and unknown fields included. `toolCalls` beside it is for its
screen alone: a result in it would be told to the model again each time that the session is resumed, because Gemini CLI
puts there, once it has read a file, what the message behind it says as well.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import ContentEntry, Entry, IdeContextEntry, ReplyEntry
from gemini_companion.engine.history.part import call_of, response_of, visible_text
from gemini_companion.sessions.interchange.compressed import mark_of
from gemini_companion.sessions.interchange.gemini_cli import OUR_FIELD, SNAPSHOT_ID
from gemini_companion.sessions.interchange.gemini_cli_prompts import spoken
from gemini_companion.sessions.interchange.pieces import Piece, items
from gemini_companion.sessions.ports import SessionMeta

_OUR_ID: Final = re.compile(r"session-([0-9a-f]{32})")

_SHOWN_ID: Final = "shown-"
"""Before the id of a call in `toolCalls`: Gemini CLI adds results to the records whose id is that of a call."""

_UNSEEN: Final = " "
"""What Gemini CLI's screen shows of a message with this as `displayContent`: nothing. The model gets `content`."""

_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])

_LAST_MOMENT: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, the last that ISO 8601 writes with four digits."""


def encode_for_gemini_cli(
    meta: SessionMeta,
    entries: Sequence[Entry],
    contents: Sequence[Content],
    snapshots_at: Sequence[int],
    *,
    as_lines: bool = False,
) -> Iterator[Piece]:
    """The session as a whole-file Gemini CLI session, UTF-8 JSON, indented; with `as_lines`, as its newer `.jsonl`.

    The time and the model of each content come from `entries`. `snapshots_at` are the indexes of snapshots in
    `contents`.
    """
    fields = {
        **header_for_gemini_cli(meta),
        **({"summary": meta.title} if meta.title else {}),
        **({"directories": list(meta.workspace_folders)} if meta.workspace_folders else {}),
        OUR_FIELD: {
            "model": meta.model,
            **({"systemInstruction": meta.system_instruction} if meta.system_instruction else {}),
            **mark_of(snapshots_at),
        },
    }
    messages = messages_for_gemini_cli(meta, entries, contents, snapshots_at=frozenset(snapshots_at))
    if as_lines:
        yield Piece(b"", msgspec.json.encode(fields))
        yield from (one._replace(before=b"\n") for one in items(messages, finished=_in_lines))
        yield Piece(b"\n")  # each line ends: Gemini CLI writes on behind the last one
        return
    yield Piece(b"", msgspec.json.encode({**fields, "messages": []}), _up_to_messages if messages else _indented)
    if messages:
        yield from items(messages, finished=_in_array)
        yield Piece(b"\n  ]\n}")


def _in_lines(array: bytes) -> bytes:
    return b"\n".join(_ARRAY.decode(array))


def _indented(document: bytes) -> bytes:
    return msgspec.json.format(document, indent=2)


def _up_to_messages(document: bytes) -> bytes:
    return _indented(document).removesuffix(b"]\n}")


def _in_array(array: bytes) -> bytes:
    """Items as they stand in an array of a field: two blanks further in than those of a document."""
    return _indented(array)[1:-2].replace(b"\n", b"\n  ")


def header_for_gemini_cli(meta: SessionMeta) -> dict[str, Any]:
    """The session's own fields that both of Gemini CLI's forms begin with."""
    project = meta.workspace_folders[0] if meta.workspace_folders else ""
    return {
        "sessionId": gemini_cli_id(meta.session_id),
        "projectHash": hashlib.sha256(project.encode()).hexdigest(),
        "startTime": _iso(meta.created_at),
        "lastUpdated": _iso(meta.updated_at),
        "kind": "main",
    }


def gemini_cli_id(session_id: str) -> str:
    """A session's id in Gemini CLI: the UUID in ours. It tells its files apart by the first eight characters."""
    match = _OUR_ID.fullmatch(session_id)
    return str(uuid.UUID(match[1])) if match else session_id


def messages_for_gemini_cli(
    meta: SessionMeta,
    entries: Iterable[Entry],
    contents: Sequence[Content],
    ids: Sequence[str] = (),
    *,
    snapshots_at: Collection[int] = (),
) -> list[dict[str, Any]]:
    """The messages of these contents. `ids` has the id of each content; without it they are those of its entry, but
    for the snapshots at `snapshots_at`.
    """
    origins = {
        id(entry.content): entry for entry in entries if isinstance(entry, ContentEntry)
    }  # a view has the same content objects as its log
    messages: list[dict[str, Any]] = []
    time = meta.created_at
    for index, content in enumerate(contents):
        origin = origins.get(id(content))
        time = origin.time if origin else time
        identity = ids[index] if ids else origin.id if origin else f"{meta.session_id}-{index}"
        message: dict[str, Any] = {
            "id": f"{SNAPSHOT_ID}{index}" if index in snapshots_at else identity,
            "timestamp": _iso(time),
            "type": "user",
            "content": spoken(content.parts) if content.role == "user" else content.parts,
        }
        if any(call_of(part) or response_of(part) for part in content.parts):
            message["displayContent"] = visible_text(content) or _UNSEEN
        elif isinstance(origin, IdeContextEntry):
            message["displayContent"] = _UNSEEN
        if content.role == "model":
            reply = origin if isinstance(origin, ReplyEntry) else None
            message |= {
                "type": "gemini",
                "thoughts": [],
                "tokens": _tokens(reply),
                "model": (reply and reply.model) or meta.model,
            }
            following = contents[index + 1] if index + 1 < len(contents) else None
            if tool_calls := _tool_calls(content, following, message):
                message["toolCalls"] = tool_calls
        messages.append(message)
    return _with_distinct_ids(messages)


def _tool_calls(content: Content, following: Content | None, message: dict[str, Any]) -> list[dict[str, Any]]:
    """What Gemini CLI shows of the calls; `following` is what answers them, `None` if nothing does."""
    responses = [response_of(part) or {} for part in following.parts] if following is not None else []
    answers = {response.get("id"): response for response in responses if response.get("id")}
    calls = [call for part in content.parts if (call := call_of(part)) is not None]
    return [
        {
            "id": f"{_SHOWN_ID}{call.get('id') or index}",
            "name": call["name"],
            "args": call.get("args") or {},
            "status": _status(answers.get(call.get("id"))),
            "timestamp": message["timestamp"],
            "displayName": call["name"],
            "description": "",
            "renderOutputAsMarkdown": False,
        }
        for index, call in enumerate(calls)
    ]


def _status(response: dict[str, Any] | None) -> str:
    if response is None:
        return "cancelled"
    body = response.get("response")
    return "error" if isinstance(body, dict) and "error" in body else "success"


def _tokens(reply: ReplyEntry | None) -> dict[str, int] | None:
    if reply is None or reply.usage is None:
        return None
    usage = reply.usage
    return {
        "input": usage.prompt_tokens,
        "output": usage.output_tokens,
        "cached": usage.cached_tokens,
        "thoughts": usage.thought_tokens,
        "tool": 0,
        "total": usage.total_tokens,
    }


def _with_distinct_ids(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Readers keep one message per id, so a content that occurs twice in the view needs two ids."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        while message["id"] in seen:
            message["id"] = f"{message['id']}-{index}"
        seen.add(message["id"])
    return messages


def _iso(milliseconds: int) -> str:
    moment = min(max(milliseconds, 0), _LAST_MOMENT)
    time = datetime.fromtimestamp(moment // 1000, UTC).replace(microsecond=moment % 1000 * 1000)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

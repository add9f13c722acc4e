"""Writing a session in Gemini CLI's format: one JSON object with `messages`, which it loads and resumes.

Its reader takes a model message's `content` as complete when there are calls or thoughts in it, and makes the content
of the results from `toolCalls[].result`, in that array's order. So contents go out part by part, signatures and unknown
fields included; a content of results goes into the `toolCalls` before it where that loses nothing, and stays a message
elsewhere.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import ContentEntry, Entry, ReplyEntry
from gemini_companion.engine.history.part import call_of, response_of
from gemini_companion.sessions.interchange.compressed import mark_of
from gemini_companion.sessions.interchange.gemini_cli import OUR_FIELD
from gemini_companion.sessions.ports import SessionMeta

_OUR_ID: Final = re.compile(r"session-([0-9a-f]{32})")

_LAST_MOMENT: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, the last that ISO 8601 writes with four digits."""


def encode_for_gemini_cli(
    meta: SessionMeta, entries: Sequence[Entry], contents: Sequence[Content], snapshots_at: Sequence[int]
) -> bytes:
    """The session as a whole-file Gemini CLI session, UTF-8 JSON, indented.

    The time and the model of each content come from `entries`. `snapshots_at` are the indexes of snapshots in
    `contents`.
    """
    document = {
        **header_for_gemini_cli(meta),
        **({"summary": meta.title} if meta.title else {}),
        **({"directories": list(meta.workspace_folders)} if meta.workspace_folders else {}),
        OUR_FIELD: {
            "model": meta.model,
            **({"systemInstruction": meta.system_instruction} if meta.system_instruction else {}),
            **mark_of(snapshots_at),
        },
        "messages": messages_for_gemini_cli(meta, entries, contents),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2)


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
    meta: SessionMeta, entries: Iterable[Entry], contents: Sequence[Content], ids: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The messages of these contents. `ids` has the id of each content; without it they are those of its entry."""
    origins = {
        id(entry.content): entry for entry in entries if isinstance(entry, ContentEntry)
    }  # a view has the same content objects as its log
    messages: list[dict[str, Any]] = []
    time = meta.created_at
    is_written = False  # with the calls that it answers
    for index, content in enumerate(contents):
        origin = origins.get(id(content))
        time = origin.time if origin else time
        if is_written:
            is_written = False
            continue
        identity = ids[index] if ids else origin.id if origin else f"{meta.session_id}-{index}"
        message: dict[str, Any] = {"id": identity, "timestamp": _iso(time), "type": "user", "content": content.parts}
        if content.role == "model":
            following = contents[index + 1] if index + 1 < len(contents) else None
            answers = _answers(content, following)
            is_written = answers is not None
            reply = origin if isinstance(origin, ReplyEntry) else None
            message |= {
                "type": "gemini",
                "thoughts": [],
                "tokens": _tokens(reply),
                "model": (reply and reply.model) or meta.model,
            }
            if tool_calls := _tool_calls(content, answers or {}, message):
                message["toolCalls"] = tool_calls
        messages.append(message)
    return _with_distinct_ids(messages)


def _answers(content: Content, following: Content | None) -> dict[str, list[Part]] | None:
    """The parts of `following` by the id of the call of `content` that they answer, in their order.

    Each answer starts with a function response with the id of one call; parts after it, such as an image, belong to it.
    `None` if not all parts can be assigned in that way.
    """
    if following is None or following.role != "user" or not following.parts:
        return None
    calls = [call.get("id") for part in content.parts if (call := call_of(part)) is not None]
    answers: dict[str, list[Part]] = {}
    current: list[Part] | None = None
    for part in following.parts:
        response = response_of(part)
        if response is not None:
            identity = response.get("id")
            if not isinstance(identity, str) or not identity or identity in answers or calls.count(identity) != 1:
                return None
            current = answers[identity] = []
        if current is None:
            return None
        current.append(part)
    return answers


def _tool_calls(content: Content, answers: dict[str, list[Part]], message: dict[str, Any]) -> list[dict[str, Any]]:
    """Gemini CLI's records of the calls; those with an answer come first, in the order of the answers."""
    calls = [call for part in content.parts if (call := call_of(part)) is not None]
    order = {identity: position for position, identity in enumerate(answers)}
    records: list[dict[str, Any]] = []
    for index, call in enumerate(sorted(calls, key=lambda call: order.get(call.get("id") or "", len(order)))):
        identity = call.get("id") or f"{message['id']}-{index}"
        result = answers.get(identity)
        records.append(
            {
                "id": identity,
                "name": call["name"],
                "args": call.get("args") or {},
                **({"result": result} if result else {}),
                "status": _status(result),
                "timestamp": message["timestamp"],
                "displayName": call["name"],
                "description": "",
                "renderOutputAsMarkdown": False,
            }
        )
    return records


def _status(result: list[Part] | None) -> str:
    if not result:
        return "cancelled"
    body = result[0]["functionResponse"].get("response")
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

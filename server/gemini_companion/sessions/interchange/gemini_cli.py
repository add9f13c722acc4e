"""Reading Gemini CLI's session files: the older whole-file `.json` and the newer `.jsonl` of records.

The format, as Gemini CLI 0.61 writes and loads it: a message has `id`, `timestamp`, `type` (user, gemini, info, error,
warning), `content` (a string, a part, or an array of either) and, from the model, `toolCalls` (each with `id`, `name`,
`args`, `result`), `thoughts`, `tokens` and `model`. In a `.jsonl` file each line is a record: the session's own fields
(`sessionId` and `projectHash`), a message (one with a known id replaces that message), `{"$set": {…}}` (fields;
`messages` replaces all messages) or `{"$rewindTo": id}` (removes that message and all after it; an unknown id removes
all).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.decode import decode_parts, mismatch
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.sessions.interchange.compressed import MOST_PLACES, places_of
from gemini_companion.sessions.interchange.gemini_cli_prompts import (
    COMMANDS,
    SURROUNDINGS,
    text_for_the_model,
    unmarked,
)
from gemini_companion.sessions.interchange.imported import ImportedSession
from gemini_companion.sessions.interchange.round_answers import RoundAnswers

OUR_FIELD: Final = "companion"
"""The field that marks a file that we wrote in this format, with what the format has no field for."""

SNAPSHOT_ID: Final = "companion-snapshot-"
"""Beginning of the id of a message that is the snapshot of a compression. Gemini CLI keeps the ids of messages, and no
other field of ours, when it goes on with a session.
"""


_TYPES: Final = frozenset({"user", "gemini", "info", "error", "warning"})


class Message(msgspec.Struct, frozen=True):
    """One message, and its path in the file for errors."""

    fields: dict[str, object]
    path: str


class Conversation(msgspec.Struct):
    """A recorded session, its records folded, like Gemini CLI's `loadConversationRecord`."""

    fields: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    """The session's own fields, later ones over earlier ones."""
    messages: dict[str, Message] = msgspec.field(default_factory=dict[str, Message])
    """By id, in the order in which the ids were first seen."""
    is_resumed: bool = False
    """True if Gemini CLI has gone on with it: it then writes all messages anew, its surroundings first."""

    @property
    def is_named(self) -> bool:
        """True if the file identifies the session."""
        return bool(self.fields.get("sessionId")) and bool(self.fields.get("projectHash"))


def conversation_of_document(document: dict[str, object]) -> Conversation:
    """Read a whole-file session: `{"sessionId": …, "messages": […]}`. Raises `InvalidInput`."""
    conversation = Conversation(fields=document)
    _take_messages(conversation, document.get("messages", []), "$.messages")
    return conversation


def conversation_of_records(records: Iterable[tuple[int, object]]) -> Conversation:
    """Fold the records of a `.jsonl` file, each with its line number from 1. Raises `InvalidInput`."""
    conversation = Conversation()
    for line, record in records:
        if isinstance(record, dict):
            _take_record(conversation, cast("dict[str, object]", record), f"line {line}: $")
    return conversation


def to_session(conversation: Conversation) -> ImportedSession:
    """The session as contents. Raises `InvalidInput` for a message whose content cannot be decoded."""
    fields = conversation.fields
    ours = fields.get(OUR_FIELD)
    own = cast("dict[str, object]", ours) if isinstance(ours, dict) else None
    is_verbatim = own is not None and not conversation.is_resumed
    messages = [
        message for message in conversation.messages.values() if message.fields.get("type") in ("user", "gemini")
    ]
    kinds = Counter(str(message.fields.get("type")) for message in conversation.messages.values())
    unknown = {kind: count for kind, count in kinds.items() if kind not in _TYPES}
    if unknown and len(unknown) == len(kinds):
        found = well_formed(next(iter(unknown))[:40])
        raise InvalidInput(f"No message has a type that is known, such as user or gemini; the first has {found}.")
    warnings = [
        f"{count:,} {'message' if count == 1 else 'messages'} of the type {well_formed(kind[:40])}, which is not known,"
        " left out."
        for kind, count in list(unknown.items())[:20]
    ]
    models = [model for message in messages if isinstance(model := message.fields.get("model"), str) and model]
    contents, times, snapshots_at = _contents(messages, is_verbatim=is_verbatim)
    return ImportedSession(
        contents=contents,
        system_instruction=_string(own.get("systemInstruction")) if own else None,
        title=_string(fields.get("summary")),
        model=(_string(own.get("model")) if own else None) or (models[-1] if models else None),
        session_id=_string(fields.get("sessionId")),
        created_at=_milliseconds(fields.get("startTime")),
        snapshots_at=(places_of(own) if is_verbatim else ()) or snapshots_at,
        times=times,
        warnings=tuple(warnings)
        if contents or not kinds
        else (*warnings, "Nothing in it is a prompt or an answer, so the chat is empty."),
    )


def _take_record(conversation: Conversation, record: dict[str, object], path: str) -> None:
    target, update = record.get("$rewindTo"), record.get("$set")
    if isinstance(target, str):
        _rewind(conversation.messages, target)
    elif isinstance(record.get("id"), str):
        _take_message(conversation.messages, record, path, in_array=False)
    elif isinstance(update, dict):
        changes = cast("dict[str, object]", update)
        if isinstance(changes.get("messages"), list):
            conversation.is_resumed = True
            conversation.messages.clear()
            _take_messages(conversation, changes["messages"], f"{path}.$set.messages")
        conversation.fields = {**conversation.fields, **changes}
    elif isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str):
        conversation.fields = {**conversation.fields, **record}
        if isinstance(record.get("messages"), list):
            _take_messages(conversation, record["messages"], f"{path}.messages")


def _take_messages(conversation: Conversation, raw: object, path: str) -> None:
    if not isinstance(raw, list):
        raise mismatch("an array of messages", raw, path)
    for index, item in enumerate(cast("list[object]", raw)):
        if not isinstance(item, dict):
            raise mismatch("a message (an object)", item, f"{path}[{index}]")
        _take_message(conversation.messages, cast("dict[str, object]", item), f"{path}[{index}]", in_array=True)


def _take_message(messages: dict[str, Message], fields: dict[str, object], path: str, *, in_array: bool) -> None:
    identity = fields.get("id")
    key = identity if isinstance(identity, str) else f"\0{path}"
    known = messages.get(key)
    if known is not None and fields != known.fields and (in_array or known.fields.get("type") != fields.get("type")):
        key = f"{key}\0{path}"  # two messages, whatever their ids say
    messages[key] = Message(fields, path)


def _rewind(messages: dict[str, Message], target: str) -> None:
    ids = list(messages)
    start = ids.index(target) if target in messages else 0
    for identity in ids[start:]:
        del messages[identity]


def _contents(
    messages: list[Message], *, is_verbatim: bool
) -> tuple[list[Content], tuple[int | None, ...], tuple[int, ...]]:
    """The history that resuming the session gives, the time of each content, and where ids say that there are
    snapshots in it.

    `is_verbatim` keeps every message, as one that the model got.
    """
    contents: list[Content] = []
    times: list[int | None] = []
    snapshots_at: list[int] = []
    parts_of = [_parts(message.fields.get("content"), f"{message.path}.content") for message in messages]
    answers: RoundAnswers | None = None
    for index, (message, parts) in enumerate(zip(messages, parts_of, strict=True)):
        time = _milliseconds(message.fields.get("timestamp"))
        is_user = message.fields.get("type") == "user"
        if not is_user and not is_verbatim and (index == 0 or messages[index - 1].fields.get("type") == "user"):
            answers = _answers_of_round(messages, parts_of, index)
        if is_user:
            is_answered = index + 1 < len(messages) and messages[index + 1].fields.get("type") == "gemini"
            if is_verbatim or _is_for_the_model(parts, is_answered=is_answered):
                once = unmarked(parts) if answers is None else answers.once(unmarked(parts))
                if once or not parts:
                    if str(message.fields.get("id", "")).startswith(SNAPSHOT_ID):
                        snapshots_at.append(len(contents))
                    contents.append(Content(role="user", parts=once))
                    times.append(time)
            continue
        tool_calls = _tool_calls(message)
        if not any(is_thought(part) or "functionCall" in part for part in parts):
            # An older file: `content` is the text alone, thoughts and calls are in fields beside it.
            parts = (*_thoughts(message), *parts, *[_call_part(call) for call in tool_calls])
        if parts or is_verbatim:
            contents.append(Content(role="model", parts=parts))
            times.append(time)
        results = _results(tool_calls)
        if results := results if answers is None else answers.missing(results):
            contents.append(Content(role="user", parts=results))
            times.append(time)
    return contents, tuple(times), tuple(snapshots_at[:MOST_PLACES])


def _answers_of_round(messages: list[Message], parts_of: list[tuple[Part, ...]], start: int) -> RoundAnswers:
    """What the user's messages tell the model's messages from `start` on."""
    end = start
    recorded: set[str] = set()
    while end < len(messages) and messages[end].fields.get("type") == "gemini":
        recorded.update(call.id for call in _tool_calls(messages[end]))
        end += 1
    told: list[Part] = []
    while end < len(messages) and messages[end].fields.get("type") == "user":
        told.extend(parts_of[end])
        end += 1
    return RoundAnswers(told, recorded - {""})


def _is_for_the_model(parts: tuple[Part, ...], *, is_answered: bool) -> bool:
    """False for the session's surroundings, and for commands to the command line unless the model answered them."""
    text = text_for_the_model(parts)
    if text is None:
        return True
    if not text or text.startswith(SURROUNDINGS):
        return False
    return is_answered or not text.startswith(COMMANDS)


def _parts(raw: object, path: str) -> tuple[Part, ...]:
    """The parts of a `content` or `result`: a string, a part, or an array of either; `None` and `""` have none."""
    if raw is None or raw == "":
        return ()
    if isinstance(raw, list):
        items = cast("list[object]", raw)
        return decode_parts([{"text": item} if isinstance(item, str) else item for item in items], path)
    return decode_parts([{"text": raw}] if isinstance(raw, str) else [raw], path)


class _ToolCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    args: dict[str, Any]
    result: object
    path: str
    """Its path in the file."""


def _tool_calls(message: Message) -> list[_ToolCall]:
    raw = message.fields.get("toolCalls")
    path = f"{message.path}.toolCalls"
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise mismatch("an array of tool calls", raw, path)
    return [_tool_call(item, f"{path}[{index}]") for index, item in enumerate(cast("list[object]", raw))]


def _tool_call(raw: object, path: str) -> _ToolCall:
    if not isinstance(raw, dict):
        raise mismatch("a tool call (an object)", raw, path)
    fields = cast("dict[str, object]", raw)
    identity, name, args = fields.get("id"), fields.get("name"), fields.get("args")
    if identity is not None and not isinstance(identity, str):
        raise mismatch("a string", identity, f"{path}.id")
    if not isinstance(name, str):
        raise mismatch("a string", name, f"{path}.name")
    if args is not None and not isinstance(args, dict):
        raise mismatch("an object", args, f"{path}.args")
    (known,) = decode_parts([cast("dict[str, Any]", args or {})], f"{path}.args")  # bounds its depth and its numbers
    return _ToolCall(identity or "", name, known, fields.get("result"), path)


def _call_part(call: _ToolCall) -> Part:
    identity = {"id": call.id} if call.id else {}
    return {"functionCall": {**identity, "name": call.name, "args": call.args}}


def _results(calls: list[_ToolCall]) -> tuple[Part, ...]:
    """The results recorded with their calls, as parts; a plain text becomes the output of its call."""
    results: list[Part] = []
    for call in calls:
        parts = _parts(call.result, f"{call.path}.result")
        if (
            parts
            and not any("functionResponse" in part for part in parts)
            and all(text_of(part) is not None for part in parts)
        ):
            output = "".join(text_of(part) or "" for part in parts)
            identity = {"id": call.id} if call.id else {}
            parts = ({"functionResponse": {**identity, "name": call.name, "response": {"output": output}}},)
        results.extend(parts)
    return tuple(results)


def _thoughts(message: Message) -> list[Part]:
    raw = message.fields.get("thoughts")
    if not isinstance(raw, list):
        return []
    thoughts = [cast("dict[str, object]", item) for item in cast("list[object]", raw) if isinstance(item, dict)]
    texts = [(_string(thought.get("subject")), _string(thought.get("description")) or "") for thought in thoughts]
    return [{"text": f"**{subject}** {text}" if subject else text, "thought": True} for subject, text in texts]


def _string(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _milliseconds(value: object) -> int | None:
    """Milliseconds since 1970 of an ISO 8601 time with a zone, `None` for anything else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return max(0, round(time.timestamp() * 1000)) if time.tzinfo else None
    except (ValueError, OverflowError):
        return None

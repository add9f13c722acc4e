"""Reading chats as others write them: OpenAI's, Anthropic's and LangChain's messages with a role and a `content`.

Texts, thoughts, calls, what came of them and pictures are taken; system messages become the system instruction. What is
of another kind is left out and told. A role that is not known is a fault, and so is a file of which nothing is left.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any, Final, cast

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.decode import decode_content, decode_parts, mismatch
from gemini_companion.engine.history.part import has_response
from gemini_companion.sessions.interchange.imported import ImportedSession
from gemini_companion.sessions.interchange.json_document import parse_json

_ROLES: Final = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "ai", "model"), "model"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_TEXTS: Final = frozenset({"text", "input_text", "output_text", "refusal"})
_THOUGHTS: Final = frozenset({"thinking", "reasoning"})


def is_chat(raw: object) -> bool:
    """Whether these are messages of that form: all have a role, or LangChain's types, and one has no `parts`."""
    if not isinstance(raw, list) or not raw:
        return False
    items = cast("list[object]", raw)
    messages = [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]
    return (
        len(messages) == len(items)
        and all("role" in one or one.get("type") in ("human", "ai", "system", "tool") for one in messages)
        and any("parts" not in one and ("content" in one or "data" in one or "tool_calls" in one) for one in messages)
    )


def chat_to_session(raw: object, path: str, instruction: str | None = None) -> ImportedSession:
    """The session in such messages. Raises `InvalidInput`."""
    reading = _Reading()
    for index, message in enumerate(cast("list[dict[str, object]]", raw)):
        reading.take(message, f"{path}[{index}]")
    if not reading.contents:
        raise InvalidInput(f"Nothing in the messages at {path} could be read.{reading.left_out()}", path=path)
    system = "\n\n".join(text for text in (instruction or "", *reading.system) if text)
    return ImportedSession(
        contents=reading.contents,
        system_instruction=system or None,
        warnings=(reading.left_out().strip(),) if reading.skipped else (),
    )


class _Reading:
    def __init__(self) -> None:
        self.contents: list[Content] = []
        self.system: list[str] = []
        self.skipped: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        """Of calls, by id."""

    def left_out(self) -> str:
        kinds = ", ".join(f"{well_formed(kind[:40])} ({count:,})" for kind, count in self.skipped.most_common(20))
        return f" Left out, for it is of a kind that is not read: {kinds}." if kinds else ""

    def take(self, message: dict[str, object], path: str) -> None:
        """Take in one message."""
        if isinstance(message.get("data"), dict) and "content" not in message:  # LangChain's dumps
            message = {"type": message.get("type"), **cast("dict[str, object]", message["data"])}
        named = message.get("role", message.get("type"))
        role = _ROLES.get(named.lower()) if isinstance(named, str) else None
        if role is None:
            raise InvalidInput(
                f"Expected a role such as user, assistant, system or tool at {path}.role,"
                f" found {well_formed(str(named)[:40])!r}.",
                path=f"{path}.role",
            )
        if "parts" in message and role != "system":
            role = "model" if role == "model" else "user"
            self._add(role, decode_content({**message, "role": role}, path).parts)
            return
        parts = self._blocks(message.get("content"), f"{path}.content")
        if role == "tool":
            identity = message.get("tool_call_id")
            self._add("user", (self._response(identity, message.get("name"), parts),))
        elif role == "system":
            self.system += [part["text"] for part in parts if isinstance(part.get("text"), str)]
        else:
            calls = message.get("tool_calls") if role == "model" else None
            if calls is not None and not isinstance(calls, list):
                raise mismatch("an array of calls", calls, f"{path}.tool_calls")
            known = {part["functionCall"].get("id") for part in parts if "functionCall" in part}
            for index, call in enumerate(cast("list[object]", calls or [])):
                part = self._call(call, f"{path}.tool_calls[{index}]")
                if part["functionCall"].get("id", "") not in known:  # LangChain has Anthropic's twice
                    parts.append(part)
            self._add(role, tuple(parts))

    def _add(self, role: Any, parts: tuple[Part, ...]) -> None:
        """Results of one round stand together, before what else the user's message says."""
        results = tuple(part for part in parts if "functionResponse" in part) if role == "user" else ()
        rest = tuple(part for part in parts if part not in results) if results else parts
        if results and self.contents and has_response(self.contents[-1]):
            results = (*self.contents.pop().parts, *results)
        self.contents += [Content(role=role, parts=some) for some in (results, rest) if some]

    def _blocks(self, raw: object, path: str) -> list[Part]:
        if raw is None or raw == "":
            return []
        if not isinstance(raw, str | list):
            raise mismatch("a string or an array", raw, path)
        made: list[Part] = []
        for index, block in enumerate([raw] if isinstance(raw, str) else cast("list[object]", raw)):
            part = self._block(block, f"{path}[{index}]")
            made += [] if part is None else decode_parts([part], f"{path}[{index}]")
        return made

    def _block(self, block: object, path: str) -> Part | None:
        if isinstance(block, str):
            return {"text": block}
        if not isinstance(block, dict):
            raise mismatch("a string or an object", block, path)
        fields = cast("dict[str, Any]", block)
        kind = fields.get("type", "text" if "text" in fields else "without a type")
        text = fields.get("text", fields.get("refusal"))
        if kind in _TEXTS and isinstance(text, str):
            return {"text": text}
        if kind in _THOUGHTS and isinstance(thought := fields.get("thinking", fields.get("reasoning")), str):
            return {"text": thought, "thought": True}
        if kind == "tool_use":
            return self._call({**fields, "args": fields.get("input")}, path)
        if kind == "tool_result":
            return self._response(fields.get("tool_use_id"), None, self._blocks(fields.get("content"), path))
        if (media := _media(fields)) is not None:
            return {"inlineData": media}
        self.skipped[str(kind)] += 1
        return None

    def _call(self, raw: object, path: str) -> Part:
        """A call as OpenAI (`function` with `arguments` as JSON), Anthropic or LangChain writes it."""
        if not isinstance(raw, dict):
            raise mismatch("a call (an object)", raw, path)
        fields = cast("dict[str, Any]", raw)
        inner = fields.get("function")
        function = cast("dict[str, Any]", inner) if isinstance(inner, dict) else fields
        name, args = function.get("name"), function.get("args", function.get("arguments"))
        if not isinstance(name, str):
            raise mismatch("a string", name, f"{path}.name")
        if isinstance(args, str):
            with suppress(InvalidInput):
                args = parse_json(args.encode("utf-8", "replace")) if args.strip() else None
        given = cast("dict[str, Any]", args) if isinstance(args, dict) else {} if args is None else {"arguments": args}
        identity = fields.get("id")
        call: dict[str, Any] = {"id": identity} if isinstance(identity, str) and identity else {}
        if call:
            self._names[call["id"]] = name
        return decode_parts([{"functionCall": {**call, "name": name, "args": given}}], path)[0]

    def _response(self, identity: object, name: object, parts: list[Part]) -> Part:
        call: dict[str, Any] = {"id": identity} if isinstance(identity, str) and identity else {}
        known = self._names.get(call.get("id", "")) or (name if isinstance(name, str) and name else "unknown")
        output = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        self.skipped.update(["media of a result"] * sum("inlineData" in part for part in parts))
        return {"functionResponse": {**call, "name": known, "response": {"output": output}}}


def _media(fields: dict[str, Any]) -> dict[str, str] | None:
    """A picture that stands in the file itself, as Anthropic or OpenAI writes it."""
    source, link = fields.get("source"), fields.get("image_url")
    if isinstance(source, dict):
        known = cast("dict[str, Any]", source)
        mime, data = known.get("media_type"), known.get("data")
        if known.get("type") == "base64" and isinstance(mime, str) and isinstance(data, str):
            return {"mimeType": mime, "data": data}
    url = cast("dict[str, Any]", link).get("url") if isinstance(link, dict) else link
    if isinstance(url, str) and url.startswith("data:"):
        mime, is_base64, data = url[5:].partition(";base64,")
        if is_base64:
            return {"mimeType": mime, "data": data}
    return None

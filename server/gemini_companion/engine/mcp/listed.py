"""What servers list: tools, prompts, resources. Nothing of it is believed before it is read here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.commands.naming import name_of_prompt
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.mcp.config import ServerDefinition
from gemini_companion.engine.mcp.names import tool_name
from gemini_companion.engine.mcp.schemas import clean_schema, clean_text

MOST_TOOLS: Final = 128
"""Tools of one server that are offered."""
MOST_LISTED: Final = 1_000
"""Prompts, and resources, of one server that are kept."""
_OF_OTHERS: Final = frozenset(
    {
        *("protocolVersion", "capabilities", "tools", "prompts", "resources", "resourceTemplates", "contents"),
        *("messages", "completion", "roots", "tasks", "nextCursor"),
    }
)
"""Fields that results have which are no answers to a call."""
_ANSWER: Final = "gemini-companion/answer"
_MAX_DESCRIPTION: Final = 2_000
_MAX_NAME: Final = 500
_MAX_URI: Final = 2_000


class ListedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that a server offers."""

    name: str
    """As models call it."""
    wire_name: str
    """As the server calls it."""
    description: str
    parameters: Mapping[str, Any]
    """A cleaned JSON Schema."""
    title: str = ""
    only_reads: bool = False
    """What the server says; nobody has proven it."""


class PromptArgument(msgspec.Struct, frozen=True, kw_only=True):
    """An argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class ListedPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that a server offers."""

    name: str
    """The command that it wants to be; see `naming.name_of_prompt`."""
    wire_name: str
    description: str
    arguments: tuple[PromptArgument, ...]


class ListedResource(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that a server offers."""

    uri: str
    name: str
    description: str
    mime_type: str


def listed_tools(server: ServerDefinition, raw: Iterable[object]) -> tuple[tuple[ListedTool, ...], tuple[str, ...]]:
    """The tools of a server that are offered, by name, and what was left out, in sentences."""
    kept: dict[str, ListedTool] = {}
    problems: list[str] = []
    for fields in _objects(raw):
        wire = fields.get("name")
        if not isinstance(wire, str) or not wire or len(wire) > _MAX_NAME:
            problems.append("A tool without a usable name is left out.")
            continue
        if not server.offers(wire):
            continue
        name = tool_name(server.name, wire)
        if name in kept:
            problems.append(f"The tool {wire[:80]!r} is listed twice; the first counts.")
            continue
        if len(kept) >= MOST_TOOLS:
            problems.append(f"Only {MOST_TOOLS} tools are offered; includeTools chooses which.")
            break
        notes = fields.get("annotations")
        hints = cast("dict[str, Any]", notes) if isinstance(notes, dict) else {}
        words = clean_text(fields.get("description"), _MAX_DESCRIPTION)
        kept[name] = ListedTool(
            name=name,
            wire_name=wire,
            description=words or f"The tool {clean_text(wire, 80)} of the MCP server {server.name}.",
            parameters=clean_schema(fields.get("inputSchema")),
            title=clean_text(fields.get("title") or hints.get("title"), 100),
            only_reads=hints.get("readOnlyHint") is True,
        )
    return tuple(kept[name] for name in sorted(kept)), tuple(dict.fromkeys(problems))


def listed_prompts(raw: Iterable[object]) -> tuple[ListedPrompt, ...]:
    """The prompts of a server, each once. Where the names of two become one, the later one's ends with a number."""
    kept: dict[str, ListedPrompt] = {}
    names: set[str] = set()
    numbers: Counter[str] = Counter()
    for fields in _objects(raw):
        wire = fields.get("name")
        if not isinstance(wire, str) or not wire.strip() or len(wire) > _MAX_NAME or len(kept) >= MOST_LISTED:
            continue
        if wire in kept:
            continue
        name = wished = name_of_prompt(clean_text(wire, 100))
        while name in names:
            numbers[wished] += 1
            name = f"{wished}{numbers[wished]}"
        names.add(name)
        given = fields.get("arguments")
        kept[wire] = ListedPrompt(
            name=name,
            wire_name=wire,
            description=clean_text(fields.get("description"), 500),
            arguments=tuple(_arguments(cast("list[object]", given) if isinstance(given, list) else ())),
        )
    return tuple(kept.values())


def listed_resources(raw: Iterable[object]) -> tuple[ListedResource, ...]:
    """The resources of a server, each address once."""
    kept: dict[str, ListedResource] = {}
    for fields in _objects(raw):
        uri = fields.get("uri")
        if isinstance(uri, str) and uri and len(uri) <= _MAX_URI and one_line(uri) == uri and len(kept) < MOST_LISTED:
            kept.setdefault(
                uri,
                ListedResource(
                    uri=uri,
                    name=clean_text(fields.get("name"), 200),
                    description=clean_text(fields.get("description"), 500),
                    mime_type=clean_text(fields.get("mimeType"), 100),
                ),
            )
    return tuple(kept.values())


def answer_in(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a server answered, by the `_meta` of what `mended` made of it."""
    answer = meta.get(_ANSWER)
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}


def mended(result: dict[str, Any]) -> dict[str, Any]:
    """The result of a listing with what makes one entry spoil the whole list taken out; an answer, past the
    SDK, for `answer_in`; any other result as it is.

    The SDK refuses a list of which one tool has no schema, or the wrong one, and an answer of which one piece is of a
    kind that it does not know. Schemas of outputs go: a result is taken as it is.
    """
    if "content" in result or not _OF_OTHERS & result.keys():
        return {"content": [], "_meta": {_ANSWER: result}}
    for key in ("contents", "messages"):
        if key in result:
            return {key: [], "content": [], "_meta": {_ANSWER: result}}
    mended = dict(result)
    for key, kept in (
        ("tools", ("name", "title", "description", "annotations")),
        ("prompts", ("name", "title", "description", "arguments")),
        ("resources", ("uri", "name", "title", "description", "mimeType")),
    ):
        if not isinstance(mended.get(key), list):
            continue
        mended[key] = [_plain(fields, kept, key) for fields in _objects(cast("list[object]", mended[key])[:5_000])]
        if not isinstance(mended.get("nextCursor", ""), str):
            del mended["nextCursor"]
    # It may be a call's answer after all, of a server that puts its own fields where `content` would be.
    return {**mended, "content": [], "_meta": {_ANSWER: mended}}


def _plain(fields: Mapping[str, Any], kept: Iterable[str], kind: str) -> dict[str, Any]:
    """An entry whose fields have the types that they must have; one that has none is an entry without a name."""
    plain: dict[str, Any] = {key: fields[key] for key in kept if isinstance(fields.get(key), str)}
    plain.setdefault("name", "")
    if kind == "resources":
        plain.setdefault("uri", "")
    if kind == "prompts":
        given = fields.get("arguments")
        plain["arguments"] = [
            {
                "name": one["name"],
                "description": str(one.get("description") or ""),
                "required": one.get("required") is True,
            }
            for one in _objects(cast("list[object]", given) if isinstance(given, list) else ())
            if isinstance(one.get("name"), str)
        ]
    if kind == "tools":
        notes = fields.get("annotations")
        plain["inputSchema"] = clean_schema(fields.get("inputSchema"))
        hints = cast("dict[str, Any]", notes) if isinstance(notes, dict) else {}
        plain["annotations"] = {
            key: held
            for key, held in hints.items()
            if (key == "title" and isinstance(held, str)) or (key.endswith("Hint") and isinstance(held, bool))
        }
    return plain


def arguments_text(args: Mapping[str, Any], longest: int = 200) -> str:
    """Arguments in a line for people."""
    text = json.dumps(args, ensure_ascii=False)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _arguments(raw: Iterable[object]) -> Iterator[PromptArgument]:
    for number, fields in enumerate(_objects(raw)):
        name = fields.get("name")
        if isinstance(name, str) and name.strip() and len(name) <= 100 and number < 50:
            yield PromptArgument(
                name=name,
                description=clean_text(fields.get("description"), 300),
                required=fields.get("required") is True,
            )


def _objects(raw: Iterable[object]) -> Iterator[dict[str, Any]]:
    return (cast("dict[str, Any]", one) for one in raw if isinstance(one, dict))

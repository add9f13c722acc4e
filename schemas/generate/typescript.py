"""The protocol's types in TypeScript: interfaces, maps from method to params and result, and constants.

They compile on their own, under `strict`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import inspect as mi

from gemini_companion.protocol import errors
from gemini_companion.protocol.capabilities import PROTOCOL_VERSION
from gemini_companion.protocol.methods import Method, Notification, Request, ServerNotification, ServerRequest
from gemini_companion.tools.tool import Risk
from schemas.generate import docstrings, reachable
from schemas.generate.json_schema import NOTICE

_SCALARS: Mapping[type[mi.Type], str] = {
    mi.AnyType: "unknown",
    mi.RawType: "unknown",
    mi.NoneType: "null",
    mi.BoolType: "boolean",
    mi.IntType: "number",
    mi.FloatType: "number",
    mi.StrType: "string",
    mi.BytesType: "string",
}
_EVENT = "CompanionEvent"


def is_open(values: Iterable[Any]) -> bool:
    """Whether a client takes values that it does not know: a question of a kind that is new is still to be shown."""
    return frozenset(values) == frozenset(get_args(Risk))


def typescript_module(
    methods: Sequence[Method],
    events: Sequence[type[msgspec.Struct]],
    *,
    commands: Mapping[str, Request[Any, Any]],
    initialization_options: type[msgspec.Struct],
) -> str:
    """The text of `protocol.gen.ts`."""
    requests = [method for method in methods if isinstance(method, Request)]
    notifications = [method for method in methods if isinstance(method, Notification)]
    emitted = [method for method in methods if isinstance(method, ServerNotification)]
    asked = [method for method in methods if isinstance(method, ServerRequest)]
    sent = sent_types(methods, commands, initialization_options)
    received: list[Any] = [
        errors.FaultData,
        *events,
        *(method.params for method in (*emitted, *asked)),
        *(method.result for method in requests),
    ]
    writer = _Writer(inputs=reachable.names(sent), events=events)
    blocks = [
        f"// {NOTICE}",
        *(writer.interface(kind) for kind in reachable.structs([*sent, *received])),
        (
            f"/** Whatever happens in a session. */\nexport type {_EVENT}"
            f" =\n{_alternatives(event.__name__ for event in events)};"
        ),
        writer.calls("Requests", "What a client may ask.", requests),
        writer.calls("ServerRequests", "What the server may ask.", asked),
        writer.messages("Notifications", "What a client may send without an answer.", notifications),
        writer.messages("ServerNotifications", "What the server sends without an answer.", emitted),
        writer.commands(commands),
        _constants("RequestMethod", "Requests", requests),
        _constants("NotificationMethod", "Notifications", notifications),
        _constants("ServerNotificationMethod", "ServerNotifications", emitted),
        _constants("ServerRequestMethod", "ServerRequests", asked),
        _protocol_version(),
        _error_codes(),
    ]
    return "\n\n".join(blocks) + "\n"


def sent_types(
    methods: Sequence[Method], commands: Mapping[str, Request[Any, Any]], initialization_options: type[msgspec.Struct]
) -> list[Any]:
    """What a client sends."""
    sent: list[Any] = [initialization_options]
    sent += [method.params for method in methods if isinstance(method, Request | Notification)]
    sent += [method.params for method in commands.values()]
    return sent + [method.result for method in methods if isinstance(method, ServerRequest)]


def presence(struct: mi.StructType, field: mi.Field, inputs: set[str]) -> tuple[bool, bool]:
    """Whether a field may be absent on the wire, and whether `null` is never written for it.

    `inputs` names the Structs that a client sends.
    """
    may_be_sent = struct.cls.__name__ in inputs
    omits_defaults = struct.cls.__struct_config__.omit_defaults
    may_be_unset = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    is_optional = not field.required and (may_be_sent or omits_defaults or may_be_unset)
    return is_optional, not may_be_sent and omits_defaults and field.default is None


class _Writer:
    """Writes types. `inputs` names the Structs that a client sends, in which fields with a default may be left out."""

    def __init__(self, *, inputs: set[str], events: Sequence[type[msgspec.Struct]]) -> None:
        self._inputs = inputs
        self._events = {event.__name__ for event in events}

    def interface(self, kind: mi.StructType) -> str:
        texts = docstrings.of_fields(kind.cls)
        lines = [f"  readonly {kind.tag_field}: {json.dumps(kind.tag)};"] if kind.tag_field else []
        for field in kind.fields:
            lines += [*_comment(texts.get(field.name, ""), "  "), f"  {self._property(kind, field)};"]
        text = docstrings.of_struct(kind.cls)
        if lines:
            return _interface(kind.cls.__name__, text, lines)
        return "\n".join([*_comment(text), f"export type {kind.cls.__name__} = Readonly<Record<string, never>>;"])

    def _property(self, struct: mi.StructType, field: mi.Field) -> str:
        optional, never_null = presence(struct, field, self._inputs)
        mark = "?" if optional else ""
        return f"readonly {_key(field.encode_name)}{mark}: {self.type(field.type, without_null=never_null)}"

    def type(self, kind: mi.Type, *, without_null: bool = False) -> str:
        match kind:
            case mi.Metadata(type=inner):
                return self.type(inner, without_null=without_null)
            case mi.StructType(cls=cls):
                return cls.__name__
            case mi.LiteralType(values=values):
                return "string" if is_open(values) else " | ".join(map(json.dumps, values))
            case mi.UnionType(types=members):
                return self._union(
                    [member for member in members if not (without_null and isinstance(member, mi.NoneType))]
                )
            case mi.TupleType(item_types=items):
                return f"readonly [{', '.join(map(self.type, items))}]"
            case mi.DictType(value_type=value):
                return f"Readonly<Record<string, {self.type(value)}>>"
            case mi.CollectionType(item_type=item):
                inner = self.type(item)
                return f"readonly {f'({inner})' if ' | ' in inner or inner.startswith('readonly ') else inner}[]"
            case _:
                if type(kind) not in _SCALARS:
                    raise TypeError(f"no TypeScript for {kind}")
                return _SCALARS[type(kind)]

    def _union(self, members: Iterable[mi.Type]) -> str:
        names = [self.type(member) for member in members]
        if self._events and self._events.issubset(names):
            names = [_EVENT, *(name for name in names if name not in self._events)]
        return " | ".join(names)

    def calls(self, name: str, text: str, methods: Sequence[Request[Any, Any] | ServerRequest[Any, Any]]) -> str:
        """A map from method to params and result."""
        lines: list[str] = []
        for method in methods:
            result = "null" if method.result is None else self.type(mi.type_info(method.result))
            shape = f"{{ readonly params: {method.params.__name__}; readonly result: {result} }}"
            lines += [*_comment(method.doc, "  "), f"  readonly {json.dumps(method.name)}: {shape};"]
        return _interface(name, text, lines)

    def messages(self, name: str, text: str, methods: Sequence[Notification[Any] | ServerNotification[Any]]) -> str:
        """A map from method to params."""
        lines: list[str] = []
        for method in methods:
            lines += [*_comment(method.doc, "  "), f"  readonly {json.dumps(method.name)}: {method.params.__name__};"]
        return _interface(name, text, lines)

    def commands(self, commands: Mapping[str, Request[Any, Any]]) -> str:
        """A map from command to its one argument and its result."""
        lines: list[str] = []
        for name, method in commands.items():
            result = "null" if method.result is None else self.type(mi.type_info(method.result))
            lines += [
                *_comment(method.doc, "  "),
                (
                    f"  readonly {json.dumps(name)}: {{ readonly argument: {method.params.__name__}; readonly result:"
                    f" {result} }};"
                ),
            ]
        return _interface("Commands", "The commands of `workspace/executeCommand`.", lines)


def _interface(name: str, text: str, lines: Sequence[str]) -> str:
    return "\n".join([*_comment(text), f"export interface {name} {{", *lines, "}"])


def _constants(name: str, of: str, methods: Sequence[Method]) -> str:
    lines = [f"  {_constant_name(method.name)}: {json.dumps(method.name)}," for method in methods]
    return "\n".join(
        [f"export const {name} = {{", *lines, f"}} as const satisfies Readonly<Record<string, keyof {of}>>;"]
    )


def _constant_name(method: str) -> str:
    first, *rest = re.split(r"\W+", method.removeprefix("gemini/"))
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _protocol_version() -> str:
    comment = _comment("The version of the protocol that these types describe.")
    return "\n".join([*comment, f"export const PROTOCOL_VERSION = {PROTOCOL_VERSION};"])


def _error_codes() -> str:
    codes = {wire.kind: wire.code for wire in errors.WIRE_ERRORS.values()}
    for wire in (
        errors.PARSE_ERROR,
        errors.INVALID_REQUEST,
        errors.METHOD_NOT_FOUND,
        errors.NOT_INITIALIZED,
        errors.DEFECT,
    ):
        codes[wire.kind] = wire.code
    lines = [f"  {kind}: {code}," for kind, code in sorted(codes.items(), key=lambda item: (-item[1], item[0]))]
    return "\n".join(
        [*_comment("JSON-RPC error codes by `FaultData.kind`."), "export const ErrorCode = {", *lines, "} as const;"]
    )


def _alternatives(names: Iterable[str]) -> str:
    return "\n".join(f"  | {name}" for name in names)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else json.dumps(name)


def _comment(text: str, indent: str = "") -> list[str]:
    if not text:
        return []
    safe = text.replace("*/", "*\\/")
    lines = safe.split("\n")
    if len(lines) == 1:
        return [f"{indent}/** {safe} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]

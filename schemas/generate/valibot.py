"""Schemas for valibot, with which a TypeScript client checks results, notifications and requests of the daemon."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect as mi

from gemini_companion.protocol import errors
from gemini_companion.protocol.methods import Method, Request, ServerNotification, ServerRequest
from schemas.generate import reachable
from schemas.generate.json_schema import NOTICE
from schemas.generate.typescript import is_open, presence, sent_types

_SCALARS: Mapping[type[mi.Type], str] = {
    mi.AnyType: "v.unknown()",
    mi.RawType: "v.unknown()",
    mi.NoneType: "v.null()",
    mi.BoolType: "v.boolean()",
    mi.IntType: "integer",
    mi.FloatType: "v.number()",
    mi.StrType: "v.string()",
    mi.BytesType: "v.string()",
}
_HEAD = """import * as v from "valibot";
import type { Requests, ServerNotifications, ServerRequests } from "./protocol.gen.js";

const integer = v.pipe(v.number(), v.integer());"""


def valibot_module(
    methods: Sequence[Method],
    *,
    commands: Mapping[str, Request[Any, Any]],
    initialization_options: type[msgspec.Struct],
) -> str:
    """The text of `protocol.schemas.gen.ts`. The compiler holds it against `protocol.gen.ts`."""
    requests = [method for method in methods if isinstance(method, Request)]
    notifications = [method for method in methods if isinstance(method, ServerNotification)]
    server_requests = [method for method in methods if isinstance(method, ServerRequest)]
    received: list[Any] = [
        errors.FaultData,
        *(method.params for method in (*notifications, *server_requests)),
        *(method.result for method in requests),
    ]
    writer = _Writer(reachable.names(sent_types(methods, commands, initialization_options)))
    tables = (
        (
            "results",
            "Requests[M]['result']",
            "Requests",
            [(method.name, writer.result(method.result)) for method in requests],
        ),
        (
            "notifications",
            "ServerNotifications[M]",
            "ServerNotifications",
            [(method.name, writer.result(method.params)) for method in notifications],
        ),
        (
            "serverRequests",
            "ServerRequests[M]['params']",
            "ServerRequests",
            [(method.name, writer.result(method.params)) for method in server_requests],
        ),
    )
    blocks = [f"// {NOTICE}", _HEAD, *(writer.struct(kind) for kind in reachable.dependencies_first(received))]
    blocks += [_table(name, of.replace("'", '"'), keys, rows) for name, of, keys, rows in tables]
    return "\n\n".join(blocks) + "\n"


class _Writer:
    """Writes schemas. `inputs` names the Structs that a client sends, where what has a default may be left out."""

    def __init__(self, inputs: set[str]) -> None:
        self._inputs = inputs

    def struct(self, kind: mi.StructType) -> str:
        lines = [f"  {kind.tag_field}: v.literal({json.dumps(kind.tag)}),"] if kind.tag_field else []
        for field in kind.fields:
            optional, never_null = presence(kind, field, self._inputs)
            schema = self.type(field.type, without_null=never_null)
            lines.append(
                f"  {json.dumps(field.encode_name)[1:-1]}: {f'v.exactOptional({schema})' if optional else schema},"
            )
        return "\n".join([f"export const {_name(kind.cls)} = v.object({{", *lines, "});"])

    def result(self, cls: Any) -> str:
        return "v.null()" if cls is None else self.type(mi.type_info(cls))

    def type(self, kind: mi.Type, *, without_null: bool = False) -> str:
        match kind:
            case mi.Metadata(type=inner):
                return self.type(inner, without_null=without_null)
            case mi.StructType(cls=cls):
                return _name(cls)
            case mi.LiteralType(values=values):
                if is_open(values):
                    return "v.string()"
                return f"v.picklist([{', '.join(map(json.dumps, values))}])"
            case mi.UnionType(types=members):
                return self._union(members, without_null=without_null)
            case mi.TupleType(item_types=items):
                return f"v.tuple([{', '.join(map(self.type, items))}])"
            case mi.DictType(value_type=value):
                return f"v.record(v.string(), {self.type(value)})"
            case mi.CollectionType(item_type=item):
                return f"v.array({self.type(item)})"
            case _:
                if type(kind) not in _SCALARS:
                    raise TypeError(f"no schema for {kind}")
                return _SCALARS[type(kind)]

    def _union(self, members: Iterable[mi.Type], *, without_null: bool) -> str:
        present = [member for member in members if not isinstance(member, mi.NoneType)]
        is_nullable = len(present) < len(tuple(members)) and not without_null
        schemas = [self.type(member) for member in present]
        tags = {member.tag_field for member in present if isinstance(member, mi.StructType)}
        if len(schemas) == 1:
            schema = schemas[0]
        elif len(tags) == 1 and all(isinstance(member, mi.StructType) for member in present):
            schema = f"v.variant({json.dumps(tags.pop())}, [{', '.join(schemas)}])"
        else:
            schema = f"v.union([{', '.join(schemas)}])"
        return f"v.nullable({schema})" if is_nullable else schema


def _table(name: str, of: str, keys: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"  {json.dumps(method)}: {schema}," for method, schema in rows]
    check = f"}} as const satisfies {{ readonly [M in keyof {keys}]: v.GenericSchema<unknown, {of}> }};"
    return "\n".join([f"/** By method. */\nexport const {name} = {{", *lines, check])


def _name(cls: type[Any]) -> str:
    return cls.__name__[0].lower() + cls.__name__[1:]

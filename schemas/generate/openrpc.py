"""The OpenRPC document of the whole protocol.

OpenRPC has requests and notifications from the client. What the server sends, the events and the commands are under
`x-` names in the same form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from gemini_companion.engine.errors import Cancelled, CompanionError, InvalidInput
from gemini_companion.protocol import errors
from gemini_companion.protocol.methods import Method, Notification, Request, ServerNotification, ServerRequest
from schemas.generate import docstrings
from schemas.generate.json_schema import NOTICE, components

OPENRPC = "1.3.2"
_SCHEMAS = "#/components/schemas/"
_OF_THE_WIRE: Mapping[str, errors.WireError] = {
    "ParseError": errors.PARSE_ERROR,
    "InvalidRequest": errors.INVALID_REQUEST,
    "MethodNotFound": errors.METHOD_NOT_FOUND,
    "ServerNotInitialized": errors.NOT_INITIALIZED,
    "Defect": errors.DEFECT,
}


def openrpc_document(
    methods: Sequence[Method],
    events: Sequence[type[msgspec.Struct]],
    *,
    version: str,
    commands: Mapping[str, Request[Any, Any]],
    initialization_options: type[msgspec.Struct],
) -> dict[str, Any]:
    """The document for the method table, the events and the commands."""
    types: list[Any] = [
        errors.FaultData,
        initialization_options,
        *events,
        *(command.params for command in commands.values()),
    ]
    for method in methods:
        types += [method.params, *_result(method)]
    # Two methods may have one result; msgspec accepts each type only once.
    unique = list({id(kind): kind for kind in types}.values())
    schemas, named = components(unique, _SCHEMAS)
    schema_of = dict(zip(map(id, unique), schemas, strict=True))

    def described(method: Method) -> dict[str, Any]:
        params = named[method.params.__name__]
        entry: dict[str, Any] = {
            "name": method.name,
            "summary": method.doc,
            "paramStructure": "by-name",
            "params": [
                _parameter(name, schema, name in params.get("required", ()))
                for name, schema in params["properties"].items()
            ],
        }
        if isinstance(method, Request | ServerRequest):
            result = schema_of[id(method.result)] if method.result is not None else {"type": "null"}
            entry["result"] = {"name": getattr(method.result, "__name__", "result"), "schema": result}
        if isinstance(method, Request):
            entry["errors"] = _errors_of(method.errors)
        return entry

    return {
        "openrpc": OPENRPC,
        "info": {
            "title": "Gemini Companion",
            "version": version,
            "description": f"What a client of the language server can ask beyond LSP. {NOTICE}",
            "license": {"name": "Apache-2.0"},
        },
        "methods": [described(method) for method in methods if isinstance(method, Request | Notification)],
        "components": {"schemas": named, "errors": _all_errors()},
        "x-serverNotifications": [described(method) for method in methods if isinstance(method, ServerNotification)],
        "x-serverRequests": [described(method) for method in methods if isinstance(method, ServerRequest)],
        "x-events": [
            {"type": event.__struct_config__.tag, "schema": {"$ref": _SCHEMAS + event.__name__}} for event in events
        ],
        "x-commands": [
            {"command": name, "method": command.name, "argument": {"$ref": _SCHEMAS + command.params.__name__}}
            for name, command in commands.items()
        ],
        "x-errorData": {"$ref": _SCHEMAS + errors.FaultData.__name__},
        "x-initializationOptions": {"$ref": _SCHEMAS + initialization_options.__name__},
    }


def _result(method: Method) -> list[Any]:
    return [method.result] if isinstance(method, Request | ServerRequest) and method.result is not None else []


def _parameter(name: str, schema: dict[str, Any], required: bool) -> dict[str, Any]:
    bare = {key: value for key, value in schema.items() if key != "description"}
    described = {"description": schema["description"]} if "description" in schema else {}
    return {"name": name, **described, "required": required, "schema": bare}


def _errors_of(faults: Iterable[type[CompanionError]]) -> list[dict[str, Any]]:
    """References to the method's own errors and those of every method; one for each code."""
    by_code: dict[int, str] = {}
    for fault in (*faults, InvalidInput, Cancelled):
        by_code.setdefault(errors.wire_error_of(fault).code, fault.__name__)
    return [{"$ref": f"#/components/errors/{name}"} for name in by_code.values()]


def _all_errors() -> dict[str, Any]:
    of_faults = {
        fault.__name__: {"code": wire.code, "message": _first_paragraph(fault), "data": {"kind": wire.kind}}
        for fault, wire in errors.WIRE_ERRORS.items()
    }
    of_the_wire = {
        name: {"code": wire.code, "message": name, "data": {"kind": wire.kind}} for name, wire in _OF_THE_WIRE.items()
    }
    return dict(sorted((of_faults | of_the_wire).items()))


def _first_paragraph(fault: type[CompanionError]) -> str:
    return docstrings.unwrapped(fault.__doc__ or "").split("\n\n")[0]

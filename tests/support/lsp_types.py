"""What can be seen of `lsprotocol.types`, for two processes to be compared; and how a daemon gets the plain module.

`python -m tests.support.lsp_types` prints it as JSON, of the module as pygls has it in that process.
"""

from __future__ import annotations

import enum
import inspect
import json
import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any, Final

PLAIN: Final = str(Path(__file__).with_name("plain_lsp_types"))
"""On `PYTHONPATH` it has a process import the module whole."""
_POINT: Final = {"line": 1, "character": 2}
_RANGE: Final = {"start": _POINT, "end": {"line": 1, "character": 3}}
_MESSAGES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("InitializeParams", {"processId": 1, "capabilities": {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {"hover": {"contentFormat": ["markdown"]}}}, "workspaceFolders": [{"uri": "file:///a", "name": "a"}]}),
    ("CompletionList", {"isIncomplete": False, "items": [{"label": "x", "kind": 3, "textEdit": {"range": _RANGE, "newText": "q"}}]}),
    ("WorkspaceEdit", {"changes": {"file:///a": [{"range": _RANGE, "newText": "q"}]}}),
    ("CodeAction", {"title": "t", "kind": "quickfix", "diagnostics": [{"range": _RANGE, "message": "m", "severity": 1}]}),
    ("DidChangeTextDocumentParams", {"textDocument": {"uri": "u", "version": 1}, "contentChanges": [{"text": "a"}, {"range": _RANGE, "text": "b"}]}),
)  # fmt: skip


def daemon_paths(*paths: Path) -> str:
    """`PYTHONPATH` of a daemon under test; with COMPANION_PLAIN_LSP_TYPES set, of one that has the plain module."""
    plain = [PLAIN] if os.environ.get("COMPANION_PLAIN_LSP_TYPES") else []
    return os.pathsep.join([*map(str, paths), *plain])


def described() -> dict[str, Any]:
    """Every name with all that can be seen of its value."""
    import attrs
    from lsprotocol import types
    from pygls.protocol import default_converter

    names = sorted(name for name in dir(types) if not name.startswith("__") or name == "__lsp_version__")
    seen: dict[str, Any] = {name: _value(getattr(types, name)) for name in names}
    converter = default_converter()
    classes = {name: value for name in names if attrs.has(value := getattr(types, name))}
    seen["resolved"] = {name: [str(field.type) for field in attrs.fields(of)] for name, of in classes.items()}
    seen["table is of these classes"] = all(
        types.ALL_TYPES_MAP[name] is of for name, of in classes.items() if name in types.ALL_TYPES_MAP
    )
    seen["messages"] = [
        [repr(value := converter.structure(message, getattr(types, name))), converter.unstructure(value)]
        for name, message in _MESSAGES
    ]
    first, second = types.Position(1, 2), types.Position(1, 3)
    seen["order"] = [first < second, first == types.Position(1, 2), hash(types.MarkupKind.Markdown) != 0]
    seen["pickled"] = repr(pickle.loads(pickle.dumps(types.Range(first, second))))
    try:
        seen["out of range"] = repr(types.Position(-1, 0))
    except ValueError as refused:
        seen["out of range"] = str(refused)
    return seen


def _value(value: Any) -> Any:
    import attrs

    if isinstance(value, type) and attrs.has(value):
        fields = [
            [
                field.name,
                str(field.type),
                repr(field.default),
                repr(field.validator),
                field.kw_only,
                field.alias,
                field.eq,
            ]
            for field in attrs.fields(value)
        ]
        members = sorted(name for name in vars(value) if name not in ("__weakref__", "__dict__"))
        return [fields, str(inspect.signature(value)), value.__hash__ is None, members, *_class(value)]
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return [[[member.name, repr(member.value)] for member in value], *_class(value)]
    if isinstance(value, dict):
        return [[name, str(entry)] for name, entry in value.items()]
    return str(value).split(" at 0x")[0]


def _class(of: type) -> list[Any]:
    return [
        of.__doc__,
        of.__module__,
        of.__qualname__,
        [base.__qualname__ for base in of.__mro__],
    ]


def main() -> None:
    """Print it, without addresses."""
    import gemini_companion.protocol.server as _server

    assert _server
    sys.stdout.write(re.sub(r" at 0x[0-9a-f]+", "", json.dumps(described(), sort_keys=True)))


if __name__ == "__main__":
    main()

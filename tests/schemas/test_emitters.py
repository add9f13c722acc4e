"""What types become in TypeScript and JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import pytest
from msgspec import Meta

from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.protocol.methods import Empty, Notification, Request, ServerNotification, ServerRequest
from schemas.generate import docstrings, reachable
from schemas.generate.json_schema import document
from schemas.generate.typescript import typescript_module


class Base(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    turn_id: str
    """Which turn.

    It has a second paragraph, which goes
    over two lines."""


class Sent(Base, frozen=True, kw_only=True):
    """What a client sends: */ is harmless."""

    count: Annotated[int, Meta(ge=1)] = 1
    note: str | None = None
    """A note."""
    parts: str | list[dict[str, Any]] = ""
    pair: tuple[int, Literal["a", "b"]] = (0, "a")


class Inner(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", omit_defaults=True):
    is_shown: bool = False
    said: str | None = None


class Received(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a server sends."""

    inner: tuple[Inner, ...]
    by_name: dict[str, Inner | None]
    always: int = 0
    maybe_null: str | None = None
    maybe_absent: float | msgspec.UnsetType = msgspec.UNSET
    both: Sent | None = None


class Started(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="started", omit_defaults=True):
    """It began."""


class Stopped(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="stopped", omit_defaults=True):
    """It ended."""

    why: str | None = None


Happening: TypeAlias = Started | Stopped


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """An event."""

    event: Happening
    also: Started | None = None


class Options(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a client says of itself."""

    trusted: bool | None = None


async def handler(*_: Any) -> Any: ...


METHODS = (
    Request("gemini/session/new", Sent, Received, handler, doc="Start.", errors=(SessionNotFound,)),
    Request("gemini/list", Empty, tuple[Inner, ...], handler, doc="List."),  # type: ignore[arg-type]
    Request("gemini/drop", Empty, None, handler, doc="Drop."),
    Notification("gemini/note", Sent, lambda *_: None, doc="Note."),
    ServerNotification("gemini/event", Told, doc="An event."),
    ServerRequest("gemini/ask", Inner, Sent, doc="Ask."),
)


@pytest.fixture(scope="module")
def typescript() -> str:
    commands: dict[str, Request[Any, Any]] = {"gemini.new": METHODS[0]}  # type: ignore[dict-item]
    return typescript_module(METHODS, (Started, Stopped), commands=commands, initialization_options=Options)


@pytest.mark.parametrize(
    "text",
    [
        (
            "/** What a client sends: *\\/ is harmless. */\nexport interface Sent {\n  /**\n   * Which turn.\n   *\n  "
            " * It has a second paragraph, which goes over two lines.\n   */\n  readonly turnId: string;\n  readonly"
            " count?: number;\n  /** A note. */\n  readonly note?: string | null;\n  readonly parts?: string | readonly"
            ' Readonly<Record<string, unknown>>[];\n  readonly pair?: readonly [number, "a" | "b"];\n}'
        ),
        '  readonly "is-shown"?: boolean;\n  readonly said?: string;\n}',
        (
            "  readonly inner: readonly Inner[];\n  readonly byName: Readonly<Record<string, Inner | null>>;\n "
            " readonly always: number;\n  readonly maybeNull: string | null;\n  readonly maybeAbsent?: number;\n "
            " readonly both: Sent | null;\n}"
        ),
        'export interface Stopped {\n  readonly type: "stopped";\n  readonly why?: string;\n}',
        "  readonly event: CompanionEvent;\n  readonly also: Started | null;\n",
        "export type CompanionEvent =\n  | Started\n  | Stopped;",
        "export type Empty = Readonly<Record<string, never>>;",
        '  /** Start. */\n  readonly "gemini/session/new": { readonly params: Sent; readonly result: Received };',
        '  readonly "gemini/list": { readonly params: Empty; readonly result: readonly Inner[] };',
        '  readonly "gemini/drop": { readonly params: Empty; readonly result: null };',
        '  readonly "gemini/note": Sent;',
        '  readonly "gemini/ask": { readonly params: Inner; readonly result: Sent };',
        '  readonly "gemini.new": { readonly argument: Sent; readonly result: Received };',
        '  sessionNew: "gemini/session/new",',
        "  sessionNotFound: 1001,",
    ],
)
def test_typescript_says_what_the_types_say(typescript: str, text: str):
    assert text in typescript


def test_two_types_of_one_name_are_refused():
    other = msgspec.defstruct("Inner", [("x", int)])
    with pytest.raises(ValueError, match="Inner is declared in"):
        reachable.structs([Inner, other])


def test_a_type_without_a_translation_is_refused():
    odd = msgspec.defstruct("Odd", [("when", complex)])
    with pytest.raises(TypeError):
        typescript_module([ServerNotification("x", odd, doc="x")], (), commands={}, initialization_options=Options)


def test_a_struct_that_leads_to_itself_is_met_once():
    tree = msgspec.defstruct("Tree", [("leaves", "list[Tree]")], namespace={"__module__": __name__})
    globals()["Tree"] = tree
    assert [kind.cls.__name__ for kind in reachable.structs([tree])] == ["Tree"]


def test_a_schema_carries_the_docstrings_of_fields_by_their_wire_names():
    schema = document(Sent, "Sent")
    properties = schema["$defs"]["Sent"]["properties"]
    assert properties["note"]["description"] == "A note."
    assert properties["turnId"]["description"].startswith("Which turn.")
    assert "description" not in properties["count"]
    assert schema["description"] == "What a client sends: */ is harmless."
    assert schema["$ref"] == "#/$defs/Sent"


def test_a_struct_without_a_docstring_has_no_description():
    assert docstrings.of_struct(Inner) == ""
    assert "description" not in document(Inner, "Inner")["$defs"]["Inner"]

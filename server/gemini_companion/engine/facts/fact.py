"""What the search for facts takes and gives: plain types, cheap to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.facts.statements import Statement
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_call, has_response, is_plain_user, response_of

FactKind: TypeAlias = Literal["directive", "decision", "task", "error", "path", "command", "symbol", "url", "number"]
"""The most worthy first. A number is also a version, a date, a sum or an id."""


class FactSource:
    """One content that a compression hides, and where it stands. Immutable."""

    __slots__ = ("content", "ide_context", "index", "seq")

    known: Known | None = None
    """What is known of a content that is put away, which is in memory only while somebody reads it."""
    number: int = 0
    """Which it is of the contents that are read of its entry, where that is put away."""

    def __init__(self, index: int, content: Content, seq: int, ide_context: bool = False) -> None:
        self.index = index
        """Its place in the view, from 0."""
        self.content = content
        self.seq = seq
        """The sequence number of its log entry."""
        self.ide_context = ide_context
        """True for the editor's state: nobody said it, so only its paths are facts."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FactSource) and _fields(self) == _fields(other)

    def __hash__(self) -> int:
        return hash((self.index, self.seq))

    def __repr__(self) -> str:
        return f"FactSource({self.index}, {self.content!r}, {self.seq}, {self.ide_context})"


def _fields(source: FactSource) -> tuple[int, Content, int, bool]:
    return source.index, source.content, source.seq, source.ide_context


class Fact(msgspec.Struct, frozen=True, gc=False):
    """Something that must not be lost, as it stands in its content."""

    kind: FactKind
    text: str
    index: int
    seq: int
    listed: bool = False
    """True for what a tool's output or the editor's state only names: nobody spoke of it."""
    line: str = ""
    """Of a directive: the whole line that it stands in, which may say what `only` and `it` mean."""


class Settled(NamedTuple):
    """A sentence that says that something is over."""

    words: frozenset[str]
    outright: bool
    """Whether it says so of what it names as a whole, rather than that something was done to it."""


class Said(NamedTuple):
    """What was said in a content that may settle a task."""

    sentences: tuple[Settled, ...] = ()
    opens_over: bool = False
    """Whether it is an answer that begins with that what was asked is done."""


class Named(NamedTuple):
    """What of a part somebody may ask for once only its name is left."""

    names: tuple[str, ...]
    """The identifiers and amounts, each once, in order."""
    keys: tuple[str, ...] = ()
    """Of an output in JSON the keys, which are words of a form; one with two digits is data (`card_7091`)."""
    short: str | None = None
    """The output on one line, if it is short."""


class Known:
    """What is known of a content whose facts were looked for. It outlasts the content in memory.

    All but who said it, and whether it has calls, is found out when it is asked for, and `None` until then.
    """

    __slots__ = (
        "by_user",
        "content",
        "facts",
        "has_call",
        "has_change",
        "has_response",
        "is_output",
        "left_open",
        "named",
        "read",
        "statements",
    )

    def __init__(self, content: Content) -> None:
        self.content: Content | None = content
        """`None` once it is put away."""
        self.by_user = is_plain_user(content)
        self.is_output = all(response_of(part) is not None for part in content.parts)
        self.has_call, self.has_response = has_call(content), has_response(content)
        self.facts: Sequence[Fact] | None = None
        self.left_open: frozenset[str] | None = None
        """Texts of its tasks that were left for later."""
        self.statements: tuple[Statement, ...] | None = None
        """What is said in it, for the record."""
        self.has_change: bool | None = None if self.has_call else False
        """Whether one of its calls alters a file."""
        self.named: tuple[Named, ...] | None = None
        """What is named in each of its parts, while it is in memory."""
        self.read = -1
        """Which vocabulary of a cache has its words, of contents that are put away."""


class FactReader(Protocol):
    """Reads contents, or knows what others found in them (`retention.FactCache`)."""

    def facts_of(self, source: FactSource) -> Sequence[Fact]:
        """The facts of a content; they may carry another index."""
        ...

    def statements(self, source: FactSource) -> Sequence[Statement]:
        """The statements of a content."""
        ...


class SummaryTask(msgspec.Struct, frozen=True, kw_only=True):
    """What a summariser that runs on this machine gets instead of a prompt to be parsed."""

    sources: tuple[FactSource, ...]
    """The contents to be hidden, in order, without snapshots and acknowledgements of earlier compressions."""
    previous_snapshot: str | None = None
    guidance: str = ""
    budget_tokens: int
    """Tokens that the snapshot may have, its frame not counted."""
    hidden_tokens: int
    """Tokens of what it replaces."""
    cite: bool = False
    """Whether lines are to end with the `index` of the source that they come from: `[c12]`."""
    later: tuple[Content, ...] = ()
    """What stands behind it, and stays: the goal may have changed there."""
    beside_record: bool = False
    """Whether what was said and done is quoted beside the snapshot (`engine.record`)."""
    in_force: tuple[str, ...] = ()
    """Rules that stand beside the snapshot word for word."""
    released: tuple[str, ...] = ()
    """Rules that hold no more."""
    reader: FactReader | None = None
    """Saves reading the same contents again."""

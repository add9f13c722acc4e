"""`Item`: one content of a view, with its origin in the log and its measured size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.json_length import json_length
from gemini_companion.engine.history.part import call_of, has_call, has_response, is_thought, response_of, text_of

ItemKind: TypeAlias = Literal[
    "prompt", "steer", "reply", "toolResult", "ide", "snapshot", "acknowledgement", "pin", "filled"
]

PROMPTS: Final[frozenset[str]] = frozenset({"prompt", "steer"})
"""Kinds that a person wrote."""

REPLACEMENT_KINDS: Final[frozenset[str]] = frozenset({"snapshot", "acknowledgement", "pin"})
"""Kinds that a compression put in the place of what it hides."""


class Measure(NamedTuple):
    """Estimated tokens of one content: all of it, and the share that function responses take."""

    tokens: int
    tool_tokens: int
    media_tokens: int = 0
    """The share of media, wherever they stand: flat rates by type, which may be far from what a model counts."""


MeasureContent: TypeAlias = Callable[[Content], Measure]


class Counted(NamedTuple):
    """What is known of a content's size."""

    whole: Measure
    bare: Measure | None = None
    """Without its thoughts; `None` if it has none, or if nobody has asked yet."""


class Item:
    """A content in a view, with its position in the log. Immutable but for cached values; compare by `content`."""

    __slots__ = (
        "_weight",
        "bare",
        "compression_id",
        "content",
        "curated_round",
        "entry_id",
        "kind",
        "measure",
        "numbers",
        "original",
        "seq",
        "shape",
        "turn_id",
    )

    def __init__(
        self,
        content: Content,
        *,
        seq: int,
        entry_id: str,
        kind: ItemKind,
        measure: Measure,
        turn_id: str = "",
        compression_id: str | None = None,
    ) -> None:
        self.content = content
        self.seq = seq
        """Sequence number of the entry that it comes from; of a replacement, the first that it hides."""
        self.entry_id = entry_id
        self.turn_id = turn_id
        self.kind: ItemKind = kind
        self.compression_id = compression_id
        """The compression that put it here, for a replacement; else `None`."""
        self.measure = measure
        self.shape = shape_of(content)
        self.original: Content = content
        """The content as it is in the log, uncut and not curated."""
        self.numbers: tuple[int, ...] | None = None
        """Indexes into `original.parts` of the parts of `content`, where curation dropped some; `None` if none."""
        self.bare: Measure | None = None
        """The size without thoughts, once it was asked for; a cache of `curation`."""
        self.curated_round: tuple[tuple[Item, ...], tuple[Item, ...]] | None = None
        """The round that begins here, and what curation made of it; a cache of `curation`."""
        self._weight = -1

    @property
    def weight(self) -> int:
        """Length of the compact JSON in UTF-16 code units."""
        if self._weight < 0:
            self._weight = json_length(self.content)
        return self._weight

    def with_content(self, content: Content, measure: Measure, *, numbers: tuple[int, ...] | None = None) -> Item:
        """The same place in the log with another content.

        `numbers` are the indexes of its parts in `original.parts`; `None` if it has all of them.
        """
        item = Item(
            content,
            seq=self.seq,
            entry_id=self.entry_id,
            turn_id=self.turn_id,
            kind=self.kind,
            measure=measure,
            compression_id=self.compression_id,
        )
        item.original, item.numbers = self.original, numbers
        return item

    def filled(self, content: Content, measure: Measure) -> Item:
        """An item that no entry holds: the results that this one's calls never got."""
        return Item(content, seq=self.seq, entry_id=self.entry_id, turn_id=self.turn_id, kind="filled", measure=measure)

    def part_number(self, index: int) -> int:
        """Index in `original.parts` of the part `index` of `content`."""
        return index if self.numbers is None else self.numbers[index]

    def with_outputs(self, outputs: Mapping[int, str], measure: MeasureContent) -> Item:
        """The item with the outputs of some function responses replaced; ids, names and unknown fields stay.

        The keys of `outputs` are part numbers, see `part_number`.
        """
        parts: list[Part] = list(self.content.parts)
        for index, part in enumerate(parts):
            output = outputs.get(self.part_number(index))
            response = response_of(part)
            if output is not None and response is not None:
                parts[index] = {**part, "functionResponse": {**response, "response": {"output": output}}}
        content = Content(role=self.content.role, parts=tuple(parts))
        return self.with_content(content, measure(content), numbers=self.numbers)

    def __repr__(self) -> str:
        return f"Item({self.kind} seq={self.seq} {self.content.role})"


class Shape:
    """What curation must know of a content, determined once. Plain strings compared by identity."""

    PLAIN_USER: Final = "plainUser"
    RESULTS: Final = "results"
    """A user content with function responses."""
    TEXT: Final = "text"
    """A valid model content without calls and thoughts."""
    CALLS: Final = "calls"
    """A valid model content with calls, and no thoughts."""
    THOUGHTS: Final = "thoughts"
    """A valid model content some of whose parts are thoughts."""
    NOTHING: Final = "nothing"
    """A model content without a single part."""
    INVALID: Final = "invalid"
    """A model content that is empty or malformed: its whole run is dropped."""


def shape_of(content: Content) -> str:
    """The content's shape: one of the constants of `Shape`."""
    if content.role == "user":
        return Shape.RESULTS if has_response(content) else Shape.PLAIN_USER
    parts = content.parts
    if len(parts) == 1 and len(parts[0]) == 1:  # by far the commonest
        text = parts[0].get("text")
        if isinstance(text, str) and text:
            return Shape.TEXT
    if not parts:
        return Shape.NOTHING
    thoughts = False
    for part in parts:
        if is_thought(part):
            thoughts = True
        elif not _is_valid(part):
            return Shape.INVALID
    if thoughts:
        return Shape.THOUGHTS
    return Shape.CALLS if has_call(content) else Shape.TEXT


def _is_valid(part: dict[str, object]) -> bool:
    if not part:
        return False
    if "functionCall" in part and (call := call_of(part)) is not None:
        name = call.get("name")
        return isinstance(name, str) and bool(name)
    if "text" not in part:
        return True
    text = text_of(part)
    if text is None:
        return False
    # An empty text with something beside it (a thought signature) still carries meaning; a bare one is half an answer.
    return bool(text) or any(key not in ("text", "thought", "callIndex") for key in part)

"""`Item`: one content of a view, with its way back to the log and what was measured of it once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.json_length import json_length
from gemini_companion.engine.history.part import call_of, has_call, has_response, is_thought, response_of, text_of

ItemKind: TypeAlias = Literal["prompt", "reply", "toolResult", "ide", "snapshot", "acknowledgement", "pin", "filled"]

STANDING_IN: Final[frozenset[str]] = frozenset({"snapshot", "acknowledgement", "pin"})
"""Kinds that a compaction put in the place of what it hides."""


class Measure(NamedTuple):
    """Estimated tokens of one content: all of it, and the share that is function responses."""

    tokens: int
    tool_tokens: int


MeasureContent: TypeAlias = Callable[[Content], Measure]


class Item:
    """A content where it stands in a view. Immutable but for what it remembers; compare with `content`."""

    __slots__ = (
        "_weight",
        "clean_round",
        "compaction_id",
        "content",
        "entry_id",
        "kind",
        "measure",
        "numbers",
        "original",
        "plain_user",
        "seq",
        "shape",
        "turn_id",
    )

    def __init__(
        self, content: Content, *, seq: int, entry_id: str, kind: ItemKind, measure: Measure, turn_id: str = "", compaction_id: str | None = None
    ) -> None:
        self.content = content
        self.seq = seq
        """Sequence number of the entry that it comes from."""
        self.entry_id = entry_id
        self.turn_id = turn_id
        self.kind: ItemKind = kind
        self.compaction_id = compaction_id
        """The compaction that put it here, for what stands in for a hidden span."""
        self.measure = measure
        self.shape = shape_of(content)
        self.plain_user = self.shape is Shape.PLAIN_USER
        self.original: Content = content
        """The content as it stands in the log, uncut and not curated."""
        self.numbers: tuple[int, ...] | None = None
        """Which parts of `original` the parts of `content` are, where curation dropped some; `None` if all are there."""
        self.clean_round: tuple[Item, ...] | None = None
        """The round that begins here, if curation found nothing to change in it; see `curation`."""
        self._weight = -1

    @property
    def weight(self) -> int:
        """Length of the compact JSON in UTF-16 code units."""
        if self._weight < 0:
            self._weight = json_length(self.content)
        return self._weight

    def with_content(self, content: Content, measure: Measure, *, numbers: tuple[int, ...] | None = None) -> Item:
        """The same place in the log with another content, made of the parts `numbers` of `original` if it is not made of all."""
        item = Item(
            content,
            seq=self.seq,
            entry_id=self.entry_id,
            turn_id=self.turn_id,
            kind=self.kind,
            measure=measure,
            compaction_id=self.compaction_id,
        )
        item.original, item.numbers = self.original, numbers
        return item

    def filled(self, content: Content, measure: Measure) -> Item:
        """A content that no entry holds, standing for results that this one's calls never got."""
        return Item(content, seq=self.seq, entry_id=self.entry_id, turn_id=self.turn_id, kind="filled", measure=measure)

    def part_number(self, index: int) -> int:
        """Which part of `original` the part `index` of `content` is."""
        return index if self.numbers is None else self.numbers[index]

    def with_outputs(self, outputs: Mapping[int, str], measure: MeasureContent) -> Item:
        """The item with the outputs of some function responses (by their part number) replaced; ids, names and unknown fields stay."""
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
    """What curation must know of a content, told once. Plain strings compared by identity."""

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
    """The content's shape; see `Shape`."""
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

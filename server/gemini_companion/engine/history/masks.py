"""`Masks`: the outputs that a view shows shortened, whatever is compressed or undone beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.item import Item, MeasureContent
from gemini_companion.engine.history.part import SKIP_SIGNATURE, call_of, media_of, response_of
from gemini_companion.engine.history.tool_entries import MaskEntry, Repeat

Place: TypeAlias = tuple[int, int]
"""A part of a log: the sequence number of its entry, and its index in that entry's content."""


class Masks(Fold):
    """Feed it with `take_in`, in order."""

    def __init__(self) -> None:
        self.outputs: dict[Place, str] = {}
        """What stands for each masked part. Must not be changed."""
        self.repeats: dict[Place, Repeat] = {}
        """Results that repeat an earlier one, whether or not that is in view. Must not be changed."""
        self._made: dict[int, tuple[Item, dict[int, str], Item]] = {}
        """Per entry: what was masked last, how, and what came of it."""

    def take_in(self, entry: MaskEntry, unsent: Iterable[Item]) -> bool:
        """What the next entry of the log masks; true if that concerns nothing but results that no request has had.

        `unsent` are the items that the model has not answered.
        """
        for cut in entry.cuts:
            self.outputs[cut.seq, cut.part] = cut.output
        for repeat in entry.repeats:
            self.repeats[repeat.seq, repeat.part] = repeat
        seqs = {item.seq for item in unsent}
        return not entry.cuts and all(repeat.seq in seqs for repeat in entry.repeats)

    def forget_made(self, to: int) -> None:
        """Make what is masked up to an entry anew, should a view show it again."""
        self._made = {seq: made for seq, made in self._made.items() if seq > to}

    def applied(self, items: Sequence[Item], measure: MeasureContent) -> list[Item]:
        """The items with what is masked shortened; a repeat only while what it repeats is whole in front of it."""
        if not self.outputs and not self.repeats:
            return list(items)
        outputs: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for (seq, part), output in self.outputs.items():
            outputs[seq][part] = output
        by_seq = {item.seq: item for item in items} if self.repeats else {}
        for (seq, part), repeat in self.repeats.items():
            if (seq, part) not in self.outputs and self._is_whole(by_seq.get(repeat.of_seq), repeat.of_part):
                outputs[seq][part] = repeat.output
        return [self._masked(item, outputs[item.seq], measure) if item.seq in outputs else item for item in items]

    def _is_whole(self, item: Item | None, part: int) -> bool:
        if item is None or (item.seq, part) in self.outputs or part >= len(item.original.parts):
            return False
        return any(
            item.part_number(index) == part and shown == item.original.parts[part]
            for index, shown in enumerate(item.content.parts)
        )

    def _masked(self, item: Item, outputs: dict[int, str], measure: MeasureContent) -> Item:
        if item.compression_id is not None:  # a snapshot may have the number of what it hides
            return item
        known = self._made.get(item.seq)
        if known is not None and (item is known[0] or item is known[2]) and known[1] == outputs:
            return known[2]
        content = Content(role=item.content.role, parts=tuple(_parts(item, outputs)))
        masked = item.with_content(content, measure(content), numbers=item.numbers)
        self._made[item.seq] = item, outputs, masked
        return masked


def unmasked(item: Item, measure: MeasureContent) -> Item:
    """The item with all its parts as they are in the log, but for what curation did to them."""
    if item.content is item.original:  # nearly every one
        return item
    parts: list[Part] = []
    for index, part in enumerate(item.content.parts):
        number = item.part_number(index)
        whole = item.original.parts[number] if number < len(item.original.parts) else part
        response, was = response_of(part), response_of(whole)
        call, called = call_of(part), call_of(whole)
        if call is not None and called is not None and call.get("args") != called.get("args"):
            signed = {key: whole[key] for key in ("thoughtSignature",) if key in whole}
            part = {**part, "functionCall": {**call, "args": called.get("args")}, **signed}
        elif response is not None and was is not None and response.get("response") != was.get("response"):
            fields = {key: value for key, value in was.items() if key not in ("id", "name")}
            part = {**part, "functionResponse": {**response, **fields}}
        elif response is None and call is None and (media_of(whole) is not None or "text" in whole):
            part = whole
        parts.append(part)
    if all(part is shown for part, shown in zip(parts, item.content.parts, strict=True)):
        return item
    content = Content(role=item.content.role, parts=tuple(parts))
    return item.with_content(content, measure(content), numbers=item.numbers)


def masked_part(part: Part, output: str) -> Part:
    """The part as a view shows it once it is masked.

    `output` stands for a result's response with its media, for media, or for a text; for a call it is the JSON of the
    arguments that are shown. A call's signature goes: it was made for other arguments.
    """
    response, call = response_of(part), call_of(part)
    if response is not None:
        fields = {key: value for key, value in response.items() if key != "parts"}
        return {**part, "functionResponse": {**fields, "response": {"output": output}}}
    if call is not None:
        signed = {"thoughtSignature": SKIP_SIGNATURE} if part.get("thoughtSignature") else {}
        return {**part, "functionCall": {**call, "args": _arguments(output)}, **signed}
    return {"text": output} if media_of(part) is not None or "text" in part else part


def _parts(item: Item, outputs: Mapping[int, str]) -> Iterable[Part]:
    for index, part in enumerate(item.content.parts):
        output = outputs.get(item.part_number(index))
        yield part if output is None else masked_part(part, output)


def _arguments(output: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(output, type=dict[str, Any])
    except (msgspec.DecodeError, ValueError, RecursionError):  # a file from elsewhere may say anything
        return {"omitted": output}

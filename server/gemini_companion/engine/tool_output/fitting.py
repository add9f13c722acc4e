"""A view that is larger than its room, made to fit: its largest parts are shown shortened, the older ones first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, cast

from gemini_companion.engine.compression.prompt import nested_media
from gemini_companion.engine.compression.truncate import MINIMUM_OUTPUT_CHARACTERS, head_and_tail, whole_text
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, MeasureContent
from gemini_companion.engine.history.masks import Masks, Place, masked_part
from gemini_companion.engine.history.part import call_of, media_of, response_of, text_of
from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tool_output.arguments import shortened_arguments
from gemini_companion.engine.tool_output.cutting import OutputShape, cut_output
from gemini_companion.engine.tool_output.levels import level
from gemini_companion.engine.tool_output.masking import ReferTo, masked_text
from gemini_companion.engine.tool_output.preview import preview

LEAST_TOKENS: Final = 300
"""Parts of no more than this stay; it is what a preview takes at most, about."""

_TRIES: Final = 4

ShapeOf = Callable[[str], OutputShape]
"""What the output of a tool consists of, by the tool's name."""

MayShorten = Callable[[Item, int], bool]
"""Whether a text, the part of this number, may be shortened: not what a person wrote."""


class _Sized(NamedTuple):
    item: Item
    number: int
    part: Part
    tokens: int

    @property
    def place(self) -> Place:
        return self.item.seq, self.number


def plan_fit(
    items: Sequence[Item],
    masks: Masks,
    *,
    room: int,
    measure: MeasureContent,
    refer_to: ReferTo,
    shape_of: ShapeOf,
    may_shorten: MayShorten,
) -> tuple[Cut, ...]:
    """The cuts after which a curated view takes at most `room` tokens, as far as cuts can do that; none if it fits.

    Results, media, arguments, and the texts that `may_shorten` allows lose what is above one level; those of the newest
    round, which the model has not answered, only where all older ones are down to previews and that is not enough.
    """
    total = sum(item.measure.tokens for item in items)
    if total <= room:
        return ()
    newest = newest_round(items)
    sized = list(_sized(items, measure, may_shorten))
    old = [one for one in sized if one.item.seq not in newest]
    new = [one for one in sized if one.item.seq in newest]
    free = room - total + sum(one.tokens for one in sized)
    for_old = max(LEAST_TOKENS, level([one.tokens for one in old], free - sum(one.tokens for one in new)))
    used = sum(min(one.tokens, for_old) for one in old)
    for_new = max(LEAST_TOKENS, level([one.tokens for one in new], free - used))
    cuts: dict[Place, Cut] = {}
    for one, most in (*((one, for_old) for one in old), *((one, for_new) for one in new)):
        if one.tokens > most:
            cut = _fitted(one, most, measure, refer_to(one.item, one.number), shape_of)
            if cut is not None:
                cuts[one.place] = cut
    return (*cuts.values(), *_bared(items, masks, cuts, measure, refer_to))


def newest_round(items: Sequence[Item]) -> frozenset[int]:
    """Sequence numbers of the newest results, which the model has not answered, and of the answer that called them."""
    seqs: set[int] = set()
    has_calls = False
    for item in reversed(items):
        is_call = item.content.role == "model"
        if has_calls and not is_call:
            break
        has_calls = has_calls or is_call
        if is_call and not seqs:  # the view ends with an answer: everything is answered
            break
        seqs.add(item.seq)
    return frozenset(seqs)


def _sized(items: Sequence[Item], measure: MeasureContent, may_shorten: MayShorten) -> list[_Sized]:
    found: list[_Sized] = []
    for item in items:
        if item.measure.tokens <= LEAST_TOKENS or item.compression_id is not None:
            continue
        if item.kind in REPLACEMENT_KINDS or item.kind in ("ide", "filled"):
            continue
        for index, part in enumerate(item.content.parts):
            number = item.part_number(index)
            is_tools = response_of(part) is not None or call_of(part) is not None or media_of(part) is not None
            if is_tools or (text_of(part) is not None and may_shorten(item, number)):
                tokens = measure(Content(role=item.content.role, parts=(part,))).tokens
                if tokens > LEAST_TOKENS:
                    found.append(_Sized(item, number, part, tokens))
    return found


def _fitted(one: _Sized, most: int, measure: MeasureContent, reference: str, shape_of: ShapeOf) -> Cut | None:
    """The part in at most `most` tokens, or as a preview where that takes more."""
    whole = one.item.original.parts[one.number]
    size = len(_text_of(whole))
    limit = int(size * most / max(1, measure(Content(role=one.item.content.role, parts=(whole,))).tokens))
    text, tokens = "", one.tokens
    for attempt in range(_TRIES):
        shown = _shown(whole, 0 if attempt == _TRIES - 1 else limit, reference, shape_of)
        if shown is None:
            return None
        text = shown
        tokens = measure(Content(role=one.item.content.role, parts=(masked_part(one.part, text),))).tokens
        if tokens <= most or limit < MINIMUM_OUTPUT_CHARACTERS:
            break
        limit = int(limit * 0.9 * most / tokens)
    saved = one.tokens - tokens
    return Cut(seq=one.item.seq, part=one.number, output=text, path="", tokens_saved=saved) if saved > 0 else None


def _text_of(part: Part) -> str:
    response, call = response_of(part), call_of(part)
    if response is not None:
        return whole_text(response)
    return json_text(call.get("args")) if call is not None else text_of(part) or ""


def _shown(whole: Part, limit: int, reference: str, shape_of: ShapeOf) -> str | None:
    """What is shown of a part in about `limit` characters; a preview where that is little."""
    response, call = response_of(whole), call_of(whole)
    where = f"{reference} gives the whole back."
    if call is not None:
        args = call.get("args")
        if not isinstance(args, dict):
            return None
        return shortened_arguments(cast("dict[str, Any]", args), room=limit, reference=reference)
    if response is None and media_of(whole) is None:
        text = text_of(whole) or ""
        if limit >= MINIMUM_OUTPUT_CHARACTERS:
            return head_and_tail(text, where=where, limit=limit)
        return f"[Shortened: {len(text):,} characters. {where}]\n{preview(text)}"
    if response is None or limit < MINIMUM_OUTPUT_CHARACTERS:
        return masked_text(whole, reference)
    text, media = whole_text(response), nested_media(response)
    shown = cut_output(text, shape=shape_of(str(response.get("name"))), limit=limit, where=where) or text
    return shown if not media else f"{shown}\n[No longer shown: {', '.join(media)}. {where}]"


def _bared(
    items: Sequence[Item], masks: Masks, cuts: dict[Place, Cut], measure: MeasureContent, refer_to: ReferTo
) -> list[Cut]:
    """Masks for the results that only named one that is cut now: they would be shown whole from here on."""
    found: list[Cut] = []
    by_seq = {item.seq: item for item in items}
    for (seq, number), repeat in masks.repeats.items():
        item = by_seq.get(seq)
        if (repeat.of_seq, repeat.of_part) not in cuts or (seq, number) in cuts or (seq, number) in masks.outputs:
            continue
        if item is None or number >= len(item.original.parts):
            continue
        text = masked_text(item.original.parts[number], refer_to(item, number))
        if text is not None:
            found.append(Cut(seq=seq, part=number, output=text, path="", tokens_saved=0))
    return found

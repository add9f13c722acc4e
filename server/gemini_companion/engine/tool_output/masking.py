"""Which old outputs and arguments a view shows shortened: the newest stay, and it is done where it saves enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple, cast

from gemini_companion.engine.compression.prompt import describe_media, nested_media
from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.history.compose import newest_results
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item, MeasureContent, Shape
from gemini_companion.engine.history.masks import Masks, Place, masked_part
from gemini_companion.engine.history.part import call_of, media_of, response_of, response_text
from gemini_companion.engine.history.tool_entries import Repeat
from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tool_output.arguments import shortened_arguments
from gemini_companion.engine.tool_output.cutting import capped
from gemini_companion.engine.tool_output.part_measures import PartMeasures
from gemini_companion.engine.tool_output.preview import LINE_SHOWN, PREVIEW_CHARACTERS, preview

PROTECTED_TOKENS: Final = 50_000
"""Tokens of outputs, counted from the newest, that are never masked (Gemini CLI's number)."""

FINISHED_SHARE: Final = 0.5
"""Share of these for outputs of earlier turns: the answers to those stand in the view and say what came of them."""

PROTECTED_SHARE: Final = 1 / 8
"""Share of a model's window that the protected outputs have at most, so that a small one does not fill with them."""

LEAST_SAVED_TOKENS: Final = 30_000
"""Masking breaks the provider's cache of what was sent, so it is done when it saves this much (Gemini CLI's number)."""

LEAST_CHARACTERS: Final = 1_500
"""Outputs that are shorter stay."""

EXEMPT: Final = frozenset({"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode", "write_todos"})
"""Tools whose outputs are the person's own words, or short and needed."""

RECALL: Final = "recall"
"""What was asked for once more stays whole for twice as long."""

ReferTo = Callable[[Item, int], str]
"""How the model asks for a part again, by the item and the part's number: `recall(tool_call_id="…")`."""


class _Candidate(NamedTuple):
    item: Item
    number: int
    tokens: int


def plan_masks(
    items: Sequence[Item],
    masks: Masks,
    *,
    measure: MeasureContent,
    refer_to: ReferTo,
    names: Collection[str] = (),
    protected: int = PROTECTED_TOKENS,
    least_saved: int = LEAST_SAVED_TOKENS,
    measures: PartMeasures | None = None,
) -> tuple[Cut, ...]:
    """The parts of a curated view to mask, oldest first; none while that would save less than `least_saved` tokens.

    Function responses with their media, and media that a person attached, count from the newest, and so, for
    themselves, do calls with their arguments, once the model has answered their results; the one that does not
    fit into `protected` tokens and all older ones are candidates, in turns before the newest from `FINISHED_SHARE` of
    that on. So is, wherever it stands, a result of the tools `names` whose very call was made again later: the newer
    one says how it is now. What the model has not answered yet is none. A result that a newer one is shown as repeating
    stays as long as that one does. `measures` remembers, from one time to the next, what of this does not change.
    """
    measures = measures or PartMeasures(measure)
    candidates = _candidates(items, masks, measures, protected, superseded(items, names))
    old = {(one.item.seq, one.number) for one in candidates}
    needed = {
        (repeat.of_seq, repeat.of_part)
        for place, repeat in masks.repeats.items()
        if place not in old and place not in masks.outputs
    }
    cuts: dict[Place, Cut] = {}
    for item, number, tokens in reversed(candidates):  # what is repeated before what repeats it
        place, reference = (item.seq, number), refer_to(item, number)
        repeat = masks.repeats.get(place)
        is_bare = repeat is not None and (repeat.of_seq, repeat.of_part) in cuts  # it would be whole from now on
        cut = None if place in needed else _cut(item, number, tokens, measures, reference, even_if_longer=is_bare)
        if cut is not None:
            cuts[place] = cut
    return tuple(cuts.values()) if sum(cut.tokens_saved for cut in cuts.values()) >= least_saved else ()


def plan_repeats(
    items: Sequence[Item], masks: Masks, names: Collection[str], *, measure: MeasureContent, refer_to: ReferTo
) -> tuple[Repeat, ...]:
    """The newest results of the tools `names` that say word for word what an earlier result in view says."""
    fresh = [item for item in newest_results(items) if item.shape is Shape.RESULTS]
    wanted: dict[tuple[str, str], tuple[Item, int]] = {}
    for item in fresh:
        for number, name, text in _texts(item):
            if name in names and len(text) >= LEAST_CHARACTERS:
                wanted.setdefault((name, text), (item, number))
    if not wanted:
        return ()
    lengths = {len(text) for _, text in wanted}
    first: dict[tuple[str, str], Place] = {}
    repeats: list[Repeat] = []
    for item in items:
        if item.shape is not Shape.RESULTS or item.weight < LEAST_CHARACTERS:
            continue
        for number, name, text in _texts(item):
            key, place = (name, text), (item.seq, number)
            if len(text) not in lengths or key not in wanted or place in masks.outputs or place in masks.repeats:
                continue
            if key not in first:
                first[key] = place
            elif item in fresh and not _says_more(item, number):
                repeats.append(_repeat(item, number, name, text, first[key], measure, refer_to))
    return tuple(repeat for repeat in repeats if repeat.tokens_saved > 0)


def _candidates(
    items: Sequence[Item], masks: Masks, measures: PartMeasures, protected: int, old: Collection[Place]
) -> list[_Candidate]:
    """Newest first; `old` are places that are candidates however new they are."""
    unsent = {item.seq for item in newest_results(items)}
    turn_id = next((item.turn_id for item in reversed(items) if item.turn_id), "")
    old_items = {seq for seq, _ in old}
    found: list[_Candidate] = []
    spent = spent_on_calls = 0
    is_finished = False
    for item in reversed(items):
        if item.compression_id is not None or item.kind in REPLACEMENT_KINDS or item.kind in ("ide", "filled"):
            continue
        room = protected if item.turn_id == turn_id else int(protected * FINISHED_SHARE)
        if item.content.role == "model":
            if item.shape is Shape.CALLS and is_finished:
                spent_on_calls = _add_calls(found, item, masks, measures, spent_on_calls, room)
            continue
        is_finished = is_finished or item.seq not in unsent
        tool_tokens = item.measure.tool_tokens
        if item.shape is Shape.RESULTS and spent + tool_tokens <= room and item.seq not in old_items:
            spent += tool_tokens
            continue
        for index in range(len(item.content.parts) - 1, -1, -1):
            part, number = item.content.parts[index], item.part_number(index)
            response = response_of(part)
            if response is None and media_of(part) is None:
                continue
            tokens = measures.tokens(item.content.role, part)
            spent += tokens
            is_kept = spent <= room and (item.seq, number) not in old
            if is_kept or item.seq in unsent or (item.seq, number) in masks.outputs:
                continue
            name = response.get("name") if response is not None else None
            if name in EXEMPT or (name == RECALL and spent <= 2 * protected):
                continue
            found.append(_Candidate(item, number, tokens))
    return found


def _add_calls(found: list[_Candidate], item: Item, masks: Masks, measures: PartMeasures, spent: int, room: int) -> int:
    """Add the calls of an answer that do not fit into what is left of the room; returns what is spent then."""
    if spent + item.measure.tokens <= room:
        return spent + item.measure.tokens
    for index in range(len(item.content.parts) - 1, -1, -1):
        part, number = item.content.parts[index], item.part_number(index)
        if call_of(part) is None:
            continue
        tokens = measures.tokens("model", part)
        spent += tokens
        if spent > room and (item.seq, number) not in masks.outputs:
            found.append(_Candidate(item, number, tokens))
    return spent


def superseded(items: Sequence[Item], names: Collection[str]) -> frozenset[Place]:
    """The outputs of the tools `names` behind which the same call, with the same arguments, has a newer output."""
    if not names:
        return frozenset()
    made: dict[str, tuple[str, str]] = {}
    newest: dict[tuple[str, str], Place] = {}
    older: set[Place] = set()
    for item in items:
        for index, part in enumerate(item.content.parts):
            call, response = call_of(part), response_of(part)
            if call is not None and call.get("id") and call.get("name") in names:
                made[str(call["id"])] = str(call["name"]), json_text(call.get("args") or {})
            elif response is not None and (key := made.pop(str(response.get("id")), None)) is not None:
                if response_text(response) is None:
                    continue  # it failed, or was declined: what is known is the older one
                if key in newest:
                    older.add(newest[key])
                newest[key] = item.seq, item.part_number(index)
    return frozenset(older)


def _cut(
    item: Item, number: int, tokens: int, measures: PartMeasures, reference: str, *, even_if_longer: bool
) -> Cut | None:
    whole = item.original.parts[number]

    def masked() -> tuple[str, int] | None:
        text = masked_text(whole, reference)
        return None if text is None else (text, measures.fresh_tokens(item.content.role, masked_part(whole, text)))

    made = measures.masked(whole, reference, masked)
    if made is None:
        return None
    text, left = made
    saved = tokens - left
    if saved <= 0 and not even_if_longer:
        return None
    return Cut(seq=item.seq, part=number, output=text, path="", tokens_saved=max(0, saved))


def masked_text(whole: Part, reference: str) -> str | None:
    """What stands for a result, media, or the arguments of a call, as `masked_part` takes it; `None` if it is short."""
    response, call = response_of(whole), call_of(whole)
    if call is not None:
        args = call.get("args")
        if not isinstance(args, dict) or len(json_text(cast("object", args))) < LEAST_CHARACTERS:
            return None
        return shortened_arguments(cast("dict[str, Any]", args), room=PREVIEW_CHARACTERS, reference=reference)
    if response is None:
        return f"[{describe_media(media_of(whole) or {}).strip('[]')}, no longer shown; {reference} brings it back]"
    said, media = whole_text(response), nested_media(response)
    return None if len(said) < LEAST_CHARACTERS and not media else _masked_text(said, media, reference)


def _masked_text(said: str, media: Sequence[str], reference: str) -> str:
    shown = ", ".join((f"{len(said):,} characters", *media)) if said else ", ".join(media)
    opening = f"[An earlier output of {shown}, shortened here. {reference} gives it back word for word.]\n"
    return opening + preview(said)


def _repeat(
    item: Item, number: int, name: str, text: str, of: Place, measure: MeasureContent, refer_to: ReferTo
) -> Repeat:
    begins = capped(text.strip().partition("\n")[0], LINE_SHOWN)
    output = (
        f"[Nothing has changed: word for word what {name} gave earlier in this conversation, where it still stands;"
        f" {len(text):,} characters that begin: {begins}\n{refer_to(item, number)} repeats it here.]"
    )
    whole = item.content.parts[number]
    shorter = {**whole, "functionResponse": {**(response_of(whole) or {}), "response": {"output": output}}}
    before, after = (measure(Content(role="user", parts=(part,))).tokens for part in (whole, shorter))
    return Repeat(seq=item.seq, part=number, of_seq=of[0], of_part=of[1], output=output, tokens_saved=before - after)


def _says_more(item: Item, number: int) -> bool:
    """Whether a result has something to say beside its output, such as a memory file of the folder it is about."""
    body = (response_of(item.original.parts[number]) or {}).get("response")
    return isinstance(body, dict) and len(cast("dict[str, object]", body)) > 1


def _texts(item: Item) -> list[tuple[int, str, str]]:
    """Number, tool and text of the results of an item that are as they are in the log, and have no media."""
    texts: list[tuple[int, str, str]] = []
    for index, part in enumerate(item.content.parts):
        number, response = item.part_number(index), response_of(part)
        if response is None or response.get("parts"):
            continue
        said, was = response_text(response), response_of(item.original.parts[number])
        name = response.get("name")
        if said is not None and isinstance(name, str) and was is not None and response_text(was) == said:
            texts.append((number, name, said))
    return texts

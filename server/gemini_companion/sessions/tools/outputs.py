"""What the outputs of tools leave in the history: cut when they come, masked when they are old."""

from __future__ import annotations

import logging
from collections import Counter
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

from gemini_companion.engine.compression.truncate import MINIMUM_OUTPUT_CHARACTERS
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.tool_entries import MaskEntry
from gemini_companion.engine.tool_output.cutting import cut_output
from gemini_companion.engine.tool_output.masking import (
    LEAST_SAVED_TOKENS,
    PROTECTED_SHARE,
    PROTECTED_TOKENS,
    RECALL,
    plan_masks,
    plan_repeats,
)
from gemini_companion.engine.tool_output.part_measures import PartMeasures
from gemini_companion.engine.tool_output.places import entry_at, reference_to, whole_file_name, whole_file_of
from gemini_companion.sessions.fitting import fit_round, fit_view, limit_of
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, off_loop
from gemini_companion.sessions.tool_events import OutputsMasked
from gemini_companion.sessions.tools.condensing import budget_of, condense, is_above
from gemini_companion.tools.tool import Tool, ToolCall, ToolOutput

logger = logging.getLogger(__name__)

QUOTA_BYTES: Final = 512 * 2**20
"""Bytes of the whole outputs that a session keeps in private files."""


class CutOutputs:
    """The port `Outputs`: long outputs are cut, or condensed by a model where the settings say so, their whole kept
    in a private file; old ones are masked.
    """

    def __init__(self) -> None:
        self._spent: Counter[str] = Counter()
        """Tokens by session."""
        self._measures: WeakKeyDictionary[Session, PartMeasures] = WeakKeyDictionary()

    async def shape(
        self, session: Session, tool: Tool[Any], call: ToolCall, output: ToolOutput
    ) -> tuple[dict[str, Any], tuple[Part, ...]]:
        """The `response` of the function response, within its limit, and the media that go with it.

        Where the whole cannot be kept, the text says so. Raises nothing.
        """
        key, whole = ("output", output.output) if output.error is None else ("error", output.error)
        if tool.name == RECALL:  # it keeps to its own limit, and its whole is in the log
            return {key: whole}, output.media
        limit = limit_of(session)
        if output.is_whole_file is None and len(whole) <= MINIMUM_OUTPUT_CHARACTERS:
            return {key: whole}, output.media
        text = await _cut(tool, whole, limit, _where(call))
        budget = budget_of(session, tool)
        is_long = text is not None or output.is_whole_file is not None
        if budget is not None and not is_long and not is_above(session, whole, budget):
            budget = None
        if budget is None and not is_long:
            return {key: whole}, output.media
        where = await self._kept(session, tool, call, output, whole)
        if budget is not None:
            summary, spent = await condense(session, tool, call, whole, budget=budget, where=where)
            self._spent[session.session_id] += spent
            if summary is not None and len(summary) <= limit:
                return {key: summary}, output.media
        text = await _cut(tool, whole, limit, where)
        if text is None and not is_long:
            return {key: whole}, output.media
        return {key: text if text is not None else f"{whole}\n[{where}]"}, output.media

    async def mask_if_due(self, session: Session) -> None:
        """Mask old outputs if that saves enough, and name results that repeat an earlier one. Raises nothing.

        Called where no call is open. Where it cannot be written nothing is masked. A round that is too large for the
        window by itself is cut first: no compression reaches it.
        """
        await fit_round(session)
        history = session.history
        items = history.curated()

        def refer_to(item: Item, number: int) -> str:
            return reference_to(history.entries, item.seq, item.entry_id, number)

        shaped = {tool.name for tool in session.tools if tool.shape != "text"}
        names = {tool.name for tool in session.tools if tool.shape in ("file", "listing", "search")}
        measure, masks = session.ledger.measure, history.masks
        share = PROTECTED_SHARE * session.limit(session.choice()) / PROTECTED_TOKENS
        protected, least_saved = (int(tokens * min(1.0, share)) for tokens in (PROTECTED_TOKENS, LEAST_SAVED_TOKENS))

        def plan() -> tuple[Cut, ...]:
            limits = {"protected": protected, "least_saved": least_saved}
            remembered = self._measures.setdefault(session, PartMeasures(measure))
            return plan_masks(
                items, masks, measure=measure, refer_to=refer_to, names=shaped, measures=remembered, **limits
            )

        repeats = plan_repeats(items, masks, names, measure=measure, refer_to=refer_to)
        cuts = await off_loop(len(items), plan)
        if not cuts and not repeats:
            return
        stamp = session.stamp()
        try:
            await session.append(lambda seq: MaskEntry(**stamp, seq=seq, cuts=cuts, repeats=repeats))
        except CompanionError as fault:
            logger.warning("Old outputs stay whole: %s", fault.message)
            return
        if cuts:
            session.emit(OutputsMasked(outputs=len(cuts), tokens_saved=sum(cut.tokens_saved for cut in cuts)))
            session.notify_usage()

    async def fit(self, session: Session, room: int, *, texts: bool) -> bool:
        """Shorten what is largest in the view until it takes at most `room` tokens, as far as that goes; whether it
        did. `texts` allows what the model said. Raises nothing.
        """
        return await fit_view(session, room, texts=texts)

    def note_spent(self, session: Session, tokens: int) -> None:
        """Models took tokens for a call of the session."""
        self._spent[session.session_id] += tokens

    def take_spent(self, session: Session) -> int:
        """Tokens that models took to condense the session's outputs since this was asked last."""
        return self._spent.pop(session.session_id, 0)

    async def _kept(self, session: Session, tool: Tool[Any], call: ToolCall, output: ToolOutput, whole: str) -> str:
        """Keep the whole, in place of older ones where there is no room; a sentence that says how it is read."""
        store, name = session.services.store, whole_file_name(call.name, call.call_id)
        try:
            if output.is_whole_file is not None:
                await store.keep_file(session.session_id, name, output.is_whole_file)
            else:
                await store.save_text(session.session_id, name, whole)
        except CompanionError as fault:
            logger.warning("The whole output of %s could not be kept: %s", tool.name, fault.message)
            return "The whole could not be kept: the rest is lost, so run it again with less output if you need more."
        try:
            await store.limit_texts(session.session_id, QUOTA_BYTES, first=await _masked_files(session), spared=name)
        except CompanionError as fault:
            logger.warning("The outputs of a session are not limited: %s", fault.message)
        return _where(call)


async def _cut(tool: Tool[Any], whole: str, limit: int, where: str) -> str | None:
    cut = partial(cut_output, whole, shape=tool.shape, limit=limit, where=where)
    return await off_loop(len(whole) // CHARACTERS_A_UNIT, cut)


def _where(call: ToolCall) -> str:
    return f'The whole can be read on with recall(tool_call_id="{call.call_id}", offset=…), or searched with query=….'


async def _masked_files(session: Session) -> list[str]:
    """Names of the private files of which the view shows a preview, oldest first; some of them may not be there."""
    entries, places = session.history.entries.copied(), sorted(session.history.masks.outputs)

    def names() -> list[str]:
        found = (whole_file_of(entry_at(entries, seq), number) for seq, number in places)
        return [name for name in found if name is not None]

    return await off_loop(entries.units if places else 0, names)

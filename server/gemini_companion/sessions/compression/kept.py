"""What is kept of a compression word for word, and what the person says of it: it need not be, or is to be again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.statements import Statement as Said
from gemini_companion.engine.facts.statements import Unwanted, same_as
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import CompressionEntry, StatementEntry
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.sources import within
from gemini_companion.engine.record.record import statements_in
from gemini_companion.sessions.compression.results import KeptReport, Statement
from gemini_companion.sessions.compression.sources import find_compression, hidden_items
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread

MOST_LISTED: Final = 1_000
"""Statements in one report."""

_Name = tuple[int, int]


async def kept_report(session: Session, compression_id: str | None, contains: str = "") -> KeptReport:
    """What is kept of a compression, or preview; without an id of the newest in force that keeps what was said.

    `contains` leaves out statements without that text. Raises `CompressionNotFound`.
    """
    entry = _newest(session) if compression_id is None else find_compression(session, compression_id)
    words = entry.words if entry is not None else None
    if entry is None or words is None:
        return KeptReport()
    history, cache = session.history, session.fact_cache
    sources, rules, unwanted = history.sources.copied(), _Rules(history.standing), Unwanted(history.unwanted)
    is_preview, looked_for = entry.compression_id not in history.compressions, contains.casefold()

    def look(poll: Poll) -> KeptReport:
        listed: list[Statement] = []
        whole, cut, now_unwanted = set(words.whole), set(words.cut), set[_Name]()
        for item, name, one, text in _of_person(hidden_items(sources, entry), cache, poll):
            is_unwanted = unwanted.has(one, name[0])
            if is_unwanted:
                now_unwanted.add(name)
            if looked_for in text.casefold():
                stands = "whole" if name in whole else "cut" if name in cut else "no"
                rule = rules.said_by(text, item.turn_id)
                listed.append(
                    Statement(
                        statement_id=_id_of(name),
                        text=text,
                        turn_id=item.turn_id,
                        stands=stands,
                        is_kept=not is_unwanted,
                        constraint_id=rule.constraint_id if rule else None,
                    )
                )
        return KeptReport(
            compression_id=entry.compression_id,
            statements=tuple(listed[-MOST_LISTED:]),
            omitted=max(0, len(listed) - MOST_LISTED),
            whole=len(words.whole),
            tokens=words.tokens,
            budget=words.budget,
            model_statements=words.model,
            calls=words.calls,
            is_preview=is_preview,
            is_outdated=now_unwanted != set(words.unwanted),
        )

    return await in_thread(look, units=len(sources))


async def keep_statement(session: Session, statement_id: str, *, is_kept: bool) -> None:
    """Keep a statement of the person's no more, or again, from the next compression on.

    Raises `InvalidInput` if there is none with this id, and for one that says a rule in force: the rule would go on to
    stand in every request.
    """
    item, one, text = _found(session, statement_id)
    if not is_kept and (rule := _Rules(session.history.standing).said_by(text, item.turn_id)) is not None:
        raise InvalidInput(
            f"It says a rule that is in force ({rule.constraint_id}).",
            path="$.statementId",
            hint="Release the rule first, with gemini/constraints/set.",
        )
    known = session.history.unwanted
    if is_kept:
        changed = [place for place in known if Unwanted((place,)).has(one, item.seq)]
    else:
        changed = [] if Unwanted(known).has(one, item.seq) else [(item.seq, text)]

    def draft(at: int, text: str) -> Draft:
        stamp = session.stamp()
        return lambda seq: StatementEntry(**stamp, seq=seq, at=at, text=text, is_kept=is_kept)

    if changed:
        await session.append(*(draft(at, text) for at, text in changed))


def _found(session: Session, statement_id: str) -> tuple[Item, Said, str]:
    seq = statement_id.partition(".")[0]
    items = list(within(session.history.sources, int(seq), int(seq))) if seq.isdecimal() else []
    for item, name, one, text in _of_person(items, FactCache()):
        if _id_of(name) == statement_id:
            return item, one, text
    raise InvalidInput(f"There is no statement {statement_id}.", path="$.statementId", hint="gemini/kept lists them.")


def _id_of(name: _Name) -> str:
    return f"{name[0]}.{name[1]}"


def _newest(session: Session) -> CompressionEntry | None:
    in_force = session.history.in_force.outermost
    return next((entry for entry in reversed(list(in_force)) if entry.words is not None), None)


def _of_person(
    items: Sequence[Item], cache: FactCache, poll: Poll = lambda: None
) -> Iterator[tuple[Item, _Name, Said, str]]:
    """The person's own statements: what was pasted, fenced or quoted is nobody's."""
    sources, by_seq = sources_of(items, cache), {item.seq: item for item in items}
    for heard in statements_in(sources, cache, poll):
        if not heard.known.by_user:
            continue
        parts = sources[heard.at].content.parts
        for number, one in enumerate(heard.statements, heard.first):
            if not one.is_material:
                text = (text_of(parts[one.part]) or "")[one.start : one.end].strip()
                yield by_seq[heard.seq], (heard.seq, number), one, text


class _Rules:
    """The rules in force, by where they were said."""

    def __init__(self, standing: Sequence[Constraint]) -> None:
        self._by_text = {same_as(rule.text): rule for rule in standing}
        self._in_turn: defaultdict[str, list[Constraint]] = defaultdict(list)
        for rule in standing:
            if rule.turn_id is not None:
                self._in_turn[rule.turn_id].append(rule)

    def said_by(self, text: str, turn_id: str) -> Constraint | None:
        """The rule that a statement of a turn says, alone or among other words, or is a part of."""
        said = self._in_turn.get(turn_id, ())
        found = (rule for rule in said if rule.text.strip() in text or text in rule.text)
        return self._by_text.get(same_as(text)) or next(found, None)

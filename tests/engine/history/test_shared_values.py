"""A log that was read has equal ids, names and counts of neighbouring entries once, and says what it said."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import (
    Entry,
    PromptEntry,
    ReplyEntry,
    TurnEndEntry,
    decode_entry,
    encode_entry,
)
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.sharing import KEPT
from gemini_companion.engine.history.usage import Usage
from gemini_companion.engine.history.view import History
from tests.support.examples import examples
from tests.support.logs import LEDGER
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS, Step


def a_turn(number: int, usage: Usage) -> list[Entry]:
    at: dict[str, Any] = {"time": number}
    turn, first = f"turn-{number:032}", number * 4
    model = "gemini-2.5-pro"
    return [
        PromptEntry(id="p", seq=first + 1, turn_id=turn, content=user_text("q"), client="client-of-all", **at),
        ModelCallEntry(
            id="m",
            seq=first + 2,
            purpose="answer",
            subject=turn,
            model=model,
            outcome="ok",
            duration_ms=1,
            usage=usage,
            **at,
        ),
        ReplyEntry(id="r", seq=first + 3, turn_id=turn, content=model_text("a"), model=model, usage=usage, **at),
        TurnEndEntry(id="e", seq=first + 4, turn_id=turn, outcome="completed", **at),
    ]


def read(entries: list[Entry]) -> History:
    return History(LEDGER.measure, [decode_entry(encode_entry(entry)) for entry in entries])


def test_entries_of_a_turn_have_its_id_their_model_and_their_count_in_common() -> None:
    entries: list[Any] = list(read([*a_turn(0, Usage(prompt_tokens=9)), *a_turn(1, Usage(prompt_tokens=10))]).entries)
    for prompt, called, reply, end in (entries[:4], entries[4:]):
        assert prompt.turn_id is called.subject is reply.turn_id is end.turn_id
        assert called.usage is reply.usage
    assert len({id(entry.model) for entry in entries if isinstance(entry, ModelCallEntry | ReplyEntry)}) == 1
    assert entries[0].client is entries[4].client
    assert entries[2].usage == Usage(prompt_tokens=9)
    assert entries[6].usage == Usage(prompt_tokens=10)


def test_what_is_shared_is_bounded_and_goes_on_in_a_long_log() -> None:
    turns = [a_turn(number, Usage(prompt_tokens=number)) for number in range(KEPT * 2)]
    entries: list[Any] = list(read([entry for turn in turns for entry in turn]).entries)
    ids = {id(getattr(entry, "turn_id", None) or getattr(entry, "subject", "")) for entry in entries}
    assert len(turns) <= len(ids) <= len(turns) + 4  # one turn may be split where the known ones are let go
    assert len({id(entry.client) for entry in entries if isinstance(entry, PromptEntry)}) <= 4


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_every_entry_of_every_log_says_what_it_said(steps: list[Step]) -> None:
    stored = [encode_entry(entry) for entry in write(steps).entries]
    history = History(LEDGER.measure, map(decode_entry, stored))
    assert [encode_entry(entry) for entry in history.entries] == stored
    assert history.entries == [decode_entry(data) for data in stored]

"""What a session's number rests on is kept with it, and holds as long as its view has only grown."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import Entry, PromptEntry, ResumeEntry, TurnEndEntry
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import EstimatedParts, TokenLedger
from gemini_companion.sessions.kept_counts import KeptTokens
from gemini_companion.sessions.listed_counts import count_on, kept_tokens
from tests.support.logs import LEDGER

PARTS = EstimatedParts(messages=4_000)


def entry(kind: type[Any], seq: int, **fields: Any) -> Any:
    return kind(id=f"e{seq}", seq=seq, time=seq, **fields)


def prompt(seq: int) -> PromptEntry:
    return entry(PromptEntry, seq, turn_id=f"t{seq}", content=user_text("word " * 20))


def history(*more: Entry) -> History:
    return History(LEDGER.measure, [prompt(1), entry(TurnEndEntry, 2, turn_id="t1", outcome="completed"), *more])


def kept() -> KeptTokens:
    before, ledger = history(), TokenLedger()
    assert ledger.observe("m", before.epoch, PARTS, 4_700)
    found = kept_tokens(ledger, before, "m")
    assert found is not None
    assert found.version == 2
    return found


def source_after(kept: KeptTokens | None, *more: Entry) -> str:
    after, ledger = history(*more), TokenLedger()
    count_on(ledger, after, kept)
    return ledger.read("m", after.epoch, PARTS).source


@pytest.mark.parametrize(
    "more",
    [(), (entry(ResumeEntry, 3),), (prompt(3), entry(ResumeEntry, 4), entry(ResumeEntry, 5, reason="takeOver"))],
    ids=["as it was", "opened again", "grown and opened twice"],
)
def test_a_number_by_the_api_is_one_after_the_session_was_opened_again(more: tuple[Entry, ...]) -> None:
    assert source_after(kept(), *more) == "api"


@pytest.mark.parametrize(
    "more",
    [
        (entry(ResumeEntry, 3, reason="clear"),),
        (prompt(3), entry(TurnEndEntry, 4, turn_id="t3", outcome="interrupted"), entry(ResumeEntry, 5)),
    ],
    ids=["cleared", "a turn that left the view"],
)
def test_a_view_that_was_changed_since_is_estimated(more: tuple[Entry, ...]) -> None:
    assert source_after(kept(), *more) == "estimate"


def test_a_number_of_a_longer_log_of_other_rules_or_of_none_is_not_taken() -> None:
    found = kept()
    others = [KeptTokens(version=99, rules=found.rules, memory=found.memory)]
    others.append(KeptTokens(version=2, rules=found.rules + 1, memory=found.memory))
    assert {source_after(one) for one in (*others, None)} == {"estimate"}

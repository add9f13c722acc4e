"""What a fold says it need not be fed changes nothing of it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings

from gemini_companion.engine.compression.breaker import Breaker
from gemini_companion.engine.compression.experience import Experience
from gemini_companion.engine.compression.preparing import Prepared
from gemini_companion.engine.history.appending import CONTENT_KINDS, TURN_KINDS
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import (
    ContentEntry,
    Entry,
    IdeContextEntry,
    PromptEntry,
    ReplyEntry,
    SteerEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ToolCallEntry
from gemini_companion.engine.history.tool_state import ToolState
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.statistics.spending import Spending
from tests.support.examples import examples
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS_WITH_RULES, Step

FOLDS = (Transcript, ToolState, Breaker, Experience, Prepared, Spending)


def said(kind: Any, entries: list[Entry]) -> dict[str, Any]:
    fold = kind()
    for entry in entries:
        fold.apply(entry)
    return {name: repr(value) for name, value in vars(fold).items() if name != "changes"}


@pytest.mark.parametrize("kind", FOLDS)
@given(PROGRAMS_WITH_RULES)
@settings(max_examples=examples(60), deadline=None)
def test_a_fold_without_what_it_ignores_says_the_same(kind: Any, program: list[Step]) -> None:
    entries = list(write(program).history.entries)
    assert said(kind, entries) == said(kind, [entry for entry in entries if type(entry) not in kind.ignored])


def test_all_kinds_of_contents_are_known() -> None:
    assert {PromptEntry, SteerEntry, ReplyEntry, ToolResultEntry, IdeContextEntry} == CONTENT_KINDS
    assert set(get_args(ContentEntry)) == CONTENT_KINDS


@pytest.mark.parametrize(
    ("fold", "kind"),
    [
        (Experience, ReplyEntry),
        (Experience, TurnEndEntry),
        (Spending, ModelCallEntry),
        *((Transcript, kind) for kind in sorted(TURN_KINDS - {ModelCallEntry}, key=lambda one: one.__name__)),
        *((ToolState, kind) for kind in (PromptEntry, SteerEntry, ToolResultEntry, ToolCallEntry, TurnEndEntry)),
    ],
)
def test_what_a_fold_is_made_of_is_not_ignored(fold: type[Fold], kind: type) -> None:
    assert kind not in fold.ignored


def test_nothing_is_ignored_but_what_turns_leave() -> None:
    assert all(fold.ignored <= TURN_KINDS for fold in FOLDS)

"""How much of what was said is found again, on conversations that are not in this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.evaluation.recall import (
    RecallFigures,
    Searched,
    by_any_word,
    by_recall,
    by_recall_with_names,
    evaluate_recall,
)
from gemini_companion.evaluation.recall_tasks import Question, Scope


@pytest.fixture(scope="module")
def figures(corpus_folder: Path) -> dict[tuple[str, str], RecallFigures]:
    found = evaluate_recall(corpus_folder, resamples=50)
    return {(each.task, each.arm): each for each in found}


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("task", "arm", "alone", "with_neighbours"),
    [
        ("locomo", "recall, names known", 0.53, 0.58),
        ("locomo", "recall", 0.46, 0.58),
        ("code", "recall", 0.75, 0.88),
    ],
)
def test_recall_finds_at_least_what_it_found_when_it_was_designed(
    figures: dict[tuple[str, str], RecallFigures], task: str, arm: str, alone: float, with_neighbours: float
):
    measured = figures[task, arm]
    assert measured.turns_at[5].value >= alone
    assert measured.turns_with_neighbours_at[5].value >= with_neighbours
    assert measured.turns_at[5].low <= measured.turns_at[5].value <= measured.turns_at[5].high


@pytest.mark.slow
@pytest.mark.thorough
def test_in_talk_recall_finds_more_than_the_index_alone(figures: dict[tuple[str, str], RecallFigures]):
    recall, index = figures["locomo", "recall"], figures["locomo", "any word"]
    assert recall.turns_at[5].low > index.turns_at[5].value
    assert recall.turns_with_neighbours_at[5].low > index.turns_with_neighbours_at[5].value


def test_a_corpus_without_questions_has_no_figures(tmp_path: Path):
    assert evaluate_recall(tmp_path) == []


def test_every_arm_gives_turns_of_the_scope_best_first():
    texts = ["Ann here, the marmot sleeps.", "Where?", "In a hole.", "Unrelated."]
    entries = tuple(
        PromptEntry(id=f"e{number}", seq=number, time=number, turn_id=f"t{number}", content=user_text(text))
        for number, text in enumerate(texts, start=1)
    )
    question = Question(text="Where does Ann's marmot sleep?", answers=frozenset({0}), kind="one")
    searched = Searched(Scope(name="s", sessions=(entries,), questions=(question,), names={"ann": "user"}))
    try:
        for arm in (by_any_word, by_recall, by_recall_with_names):
            assert arm(searched, question.text)[0] == 0
    finally:
        searched.close()

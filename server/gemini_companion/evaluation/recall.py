"""How much of what was said recall finds again: questions with known answers, asked of the product's own index."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from gemini_companion.adapters.storage import recall_index, recall_rows, recall_search
from gemini_companion.adapters.storage.records import insert_session
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.recall.passages import Speaker
from gemini_companion.engine.recall.query import parse_query, query_words
from gemini_companion.engine.recall.words import normal
from gemini_companion.evaluation.recall_tasks import Question, Scope, coding, dialogues
from gemini_companion.sessions.ports import SessionMeta

Search: TypeAlias = Callable[["Searched", str], list[int]]
"""Turns of a scope for a question, best first, by index."""

_SHOWN: Final = 50
"""Results in which the first that answers is looked for."""
_NOBODY: Final[Mapping[str, Speaker]] = {}


class Share(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A share from 0 to 1 with its 95 % interval, by bootstrap over questions."""

    value: float
    low: float
    high: float


class RecallFigures(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One arm on one task. `turns` are shares of the turns that answer, `questions` of questions with one found."""

    task: str
    arm: str
    questions: int
    answers: int
    turns_at: dict[int, Share]
    """By how many results are looked at: 5 and 10."""
    turns_with_neighbours_at: dict[int, Share]
    """The same if the turns next to a result count as found, which are shown beside it."""
    questions_at: dict[int, Share]
    questions_with_neighbours_at: dict[int, Share]
    reciprocal_rank: Share
    """The mean of one over the rank of the first result that answers."""
    median_ms: float
    p95_ms: float
    """CPU time of a search."""


class Searched:
    """A scope in the product's index, in memory."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(self.connection)
        self._turns: dict[tuple[str, int], int] = {}
        vaulted = Vaulted()
        for number, entries in enumerate(scope.sessions):
            session_id = f"session-{number}"
            meta = SessionMeta(session_id=session_id, title="", model="", created_at=0, updated_at=entries[-1].time)
            insert_session(self.connection, vaulted.meta(meta), vaulted.entries(entries))
            for entry in entries:
                self._turns[session_id, entry.seq] = len(self._turns)
        while recall_index.index_step(self.connection):
            pass
        rows = self.connection.execute(
            "SELECT passages.id, session_id, seq FROM passages JOIN recall_sessions ON number = passages.id >> 24"
        )
        self.turn_at = {spot: self._turns[session_id, seq] for spot, session_id, seq in rows}
        """Turns by their spots."""

    def close(self) -> None:
        """Forget the index."""
        self.connection.close()


def by_recall(searched: Searched, question: str) -> list[int]:
    """As the product does it."""
    return _search(searched, question, _NOBODY)


def by_recall_with_names(searched: Searched, question: str) -> list[int]:
    """The same, where the speakers have names by which a question can call them."""
    return _search(searched, question, searched.scope.names)


def by_any_word(searched: Searched, question: str) -> list[int]:
    """The index alone: any word of the question, the best rank first."""
    words = " OR ".join(f'"{word}"' for word in query_words(normal(question)))
    rows = searched.connection.execute(
        "SELECT rowid FROM recall WHERE recall MATCH ? ORDER BY rank LIMIT ?", (words, 2 * _SHOWN)
    )
    return list(dict.fromkeys(searched.turn_at[recall_rows.row_of(rowid).spot] for (rowid,) in rows))


ARMS: Final[Mapping[str, Search]] = {
    "any word": by_any_word,
    "recall": by_recall,
    "recall, names known": by_recall_with_names,
}


def evaluate_recall(
    corpus: Path, *, arms: Mapping[str, Search] = ARMS, resamples: int = 1_000, seed: int = 1
) -> list[RecallFigures]:
    """Ask all questions of a corpus in every arm; tasks that it has no files for are left out.

    The shares are the same in every run; the times are not.
    """
    figures: list[RecallFigures] = []
    tasks: dict[str, Sequence[Scope]] = {"locomo": list(dialogues(corpus)), "code": [coding(corpus)]}
    for task, scopes in tasks.items():
        if not any(scope.questions for scope in scopes):
            continue
        answered: dict[str, list[_Answered]] = {arm: [] for arm in arms}
        for scope in scopes:
            with closing(Searched(scope)) as searched:
                for arm, search in arms.items():
                    answered[arm] += _ask(searched, search)
        figures += [_figures(task, arm, rows, resamples, seed) for arm, rows in answered.items()]
    return figures


class _Answered(msgspec.Struct, frozen=True):
    """What came of a question: how many turns answer it, and how many of them were found."""

    answers: int
    found: dict[int, int]
    found_beside: dict[int, int]
    reciprocal_rank: float
    ms: float


_LOOKED_AT: Final = (5, 10)


def _ask(searched: Searched, search: Search) -> Iterator[_Answered]:
    for question in searched.scope.questions:
        begun = time.thread_time()
        order = search(searched, question.text)[:_SHOWN]
        yield _answered(question, order, (time.thread_time() - begun) * 1_000)


def _answered(question: Question, order: Sequence[int], ms: float) -> _Answered:
    answers = question.answers
    found: dict[int, int] = {}
    beside: dict[int, int] = {}
    for count in _LOOKED_AT:
        shown = set(order[:count])
        near = {turn + step for turn in shown for step in (-1, 0, 1)}
        found[count], beside[count] = len(answers & shown), len(answers & near)
    rank = next((1 / rank for rank, turn in enumerate(order, start=1) if turn in answers), 0.0)
    return _Answered(len(answers), found, beside, rank, ms)


def _figures(task: str, arm: str, rows: Sequence[_Answered], resamples: int, seed: int) -> RecallFigures:
    times = sorted(row.ms for row in rows)
    answers = [row.answers for row in rows]
    ones = [1] * len(rows)

    def share(values: Iterable[float], of: Sequence[int]) -> Share:
        return _share(list(values), of, random.Random(seed), resamples)

    return RecallFigures(
        task=task,
        arm=arm,
        questions=len(rows),
        answers=sum(answers),
        turns_at={k: share((row.found[k] for row in rows), answers) for k in _LOOKED_AT},
        turns_with_neighbours_at={k: share((row.found_beside[k] for row in rows), answers) for k in _LOOKED_AT},
        questions_at={k: share((row.found[k] > 0 for row in rows), ones) for k in _LOOKED_AT},
        questions_with_neighbours_at={k: share((row.found_beside[k] > 0 for row in rows), ones) for k in _LOOKED_AT},
        reciprocal_rank=share((row.reciprocal_rank for row in rows), ones),
        median_ms=statistics.median(times),
        p95_ms=times[int(0.95 * (len(times) - 1))],
    )


def _share(values: Sequence[float], of: Sequence[int], chance: random.Random, resamples: int) -> Share:
    def drawn() -> float:
        picked = chance.choices(range(len(values)), k=len(values))
        return sum(values[index] for index in picked) / sum(of[index] for index in picked)

    samples = sorted(drawn() for _ in range(resamples))
    value = sum(values) / sum(of)
    low, high = (samples[int(edge * (len(samples) - 1))] for edge in (0.025, 0.975)) if samples else (value, value)
    return Share(value=value, low=low, high=high)


def _search(searched: Searched, question: str, names: Mapping[str, Speaker]) -> list[int]:
    found = recall_search.search(searched.connection, parse_query(question, names=names), limit=_SHOWN)
    return [searched.turn_at[each.spot] for each in found]

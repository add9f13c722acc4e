"""The record of hidden turns: the person's words whole, the model's by worth, calls by line, within budgets.

It is made anew of the log at every pass, never of what an earlier pass left: so nothing in it wears away. Each part has
a budget of its own, as a share of what is hidden, and no more than a share of the window: a person who writes much does
not crowd out what the model found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from gemini_companion.engine.facts.actions import read_actions
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_response, text_of
from gemini_companion.engine.record.outputs import lines_of_calls, names_in
from gemini_companion.engine.record.statements import Statement, folded, statements_of, tokens_in

INTRODUCTION: Final = (
    "What was said and done in the replaced turns, quoted from the log in order; later words replace earlier ones."
    " \"…\" marks what was left out: recall brings it back. It is a record, not a request."
)

WORDS_SHARE, WORDS_WINDOW = 0.5, 0.1
"""Of what is hidden, and of the window, what the person's own words may have. They stay whole below both."""
MODEL_SHARE, MODEL_PROSE_SHARE, MODEL_WINDOW = 0.2, 0.6, 0.05
"""The same of the model's prose, which has at most so much of itself."""
CALLS_SHARE, CALLS_WINDOW = 0.08, 0.03
"""The same of calls and what they gave."""
MATERIAL_SHARE, MATERIAL_WINDOW = 0.01, 0.01
"""The same of what was pasted, fenced or quoted."""

_SAME: Final = 30
"""Characters from which a sentence that is said twice stands once."""
_SEARCHED: Final = 400_000
"""Characters of what stands beside that are searched for a statement."""
_NAMES_IN: Final = 80_000
"""Characters of a content in which names are looked for."""
_USER_AT, _MODEL_AT, _STEEP = 3.0, 4.0, 1.5
"""Worth at which every other statement of the person, and of the model, carried what was labelled, and how fast that
changes with it: fitted so that the score is the share of labels that stands, whatever is left out.
"""
_TELLING: Final = 0.1
"""How likely a statement carries something from where on it is counted."""
_AFTER_RESULT: Final = 0.3
"""Worth of the model's first words behind a result, on top."""

_Voice = Literal["user", "model", "material"]


class Record(NamedTuple):
    """What is written, and how much of what was said it and what stands beside it cover."""

    text: str
    """`""` if there is nothing to write."""
    score: float
    """Share of the information that stands in the request, 0 to 1; 1 if there was none."""
    said: int
    """Statements that carry some."""
    kept: int
    """Of them, how many stand word for word."""


@dataclass(slots=True)
class _Said:
    """A statement in its place."""

    at: int
    order: int
    """Its number among the statements of its content."""
    voice: _Voice
    statement: Statement
    source: str
    """The text that it is a part of."""
    worth: float
    plain: str

    @property
    def text(self) -> str:
        """As it was said."""
        return self.source[self.statement.start : self.statement.end]

    @property
    def weight(self) -> float:
        """How likely it is that it carries what matters."""
        if self.voice == "material":
            return 0.0
        middle = _USER_AT if self.voice == "user" else _MODEL_AT
        return 1 / (1 + math.exp(_STEEP * (middle - self.worth)))


def write_record(
    sources: Sequence[FactSource],
    *,
    hidden_tokens: float,
    window: int,
    earlier: int = 0,
    standing: Iterable[str] = (),
    beside: Sequence[Content] = (),
    poll: Callable[[], None] = lambda: None,
) -> Record:
    """Write it.

    Args:
        sources: The hidden contents, in order.
        hidden_tokens: Tokens of them all.
        window: Tokens that the model accepts.
        earlier: How many of the first sources are snapshots of before, which are no person's words.
        standing: Texts that stand in the request: the snapshot, rules. What they say is not said again.
        beside: Contents that do: the tail.
        poll: Called often; what it raises ends the work.
    """
    said = list(_read(sources, earlier, poll))
    stands = _Standing(standing, beside, poll)
    last = {(one.voice, one.plain): place for place, one in enumerate(said)}
    again = {place for place, one in enumerate(said) if len(one.text) >= _SAME and last[one.voice, one.plain] != place}
    covered = {place for place, one in enumerate(said) if place not in again and stands.has(one.plain)}
    fresh = [place for place in range(len(said)) if place not in again and place not in covered]
    prose = sum(one.statement.tokens for one in said if one.voice == "model")
    scale = sum(map(_tokens_of, sources)) / hidden_tokens if hidden_tokens else 1.0
    """Budgets are counted as statements are."""

    def budget(share: float, of_window: float) -> float:
        return scale * min(share * hidden_tokens, of_window * window)

    chosen: set[int] = set()
    for voice, most in (
        ("user", budget(WORDS_SHARE, WORDS_WINDOW)),
        ("model", min(MODEL_PROSE_SHARE * prose, budget(MODEL_SHARE, MODEL_WINDOW))),
        ("material", budget(MATERIAL_SHARE, MATERIAL_WINDOW)),
    ):
        left = most
        for place in sorted((p for p in fresh if said[p].voice == voice), key=lambda p: -said[p].worth):
            cost = said[place].statement.tokens + 0.5
            if cost <= left:
                left -= cost
                chosen.add(place)
    lines = [*_quoted([said[place] for place in sorted(chosen)])]
    names = set(stands.names)
    for _, text in lines:
        names.update(names_in(text))
    actions = read_actions(sources)
    calls = lines_of_calls(
        actions,
        budget(CALLS_SHARE, CALLS_WINDOW),
        standing=names,
        later=_last_named(sources, beside, poll),
        end=len(sources),
        poll=poll,
    )
    lines += [(call.at, f"call: {neutralise(call.text)}") for call in calls]
    lines.sort(key=lambda line: line[0])
    kept = chosen | covered | {place for place in again if last[said[place].voice, said[place].plain] in chosen | covered}
    return Record(
        "\n".join((INTRODUCTION, *(text for _, text in lines))) if lines else "",
        *_share(said, kept),
    )


def _share(said: Sequence[_Said], kept: set[int]) -> tuple[float, int, int]:
    whole = sum(one.weight for one in said)
    stands = sum(said[place].weight for place in kept)
    telling = [place for place, one in enumerate(said) if one.weight >= _TELLING]
    return (
        round(stands / whole, 4) if whole else 1.0,
        len(telling),
        sum(1 for place in telling if place in kept),
    )


def _read(sources: Sequence[FactSource], earlier: int, poll: Callable[[], None]) -> Iterator[_Said]:
    after_result = False
    for at, source in enumerate(sources):
        poll()
        content = source.content
        if source.ide_context or has_response(content):
            after_result = not source.ide_context
            continue
        voice: _Voice = "user" if content.role == "user" and at >= earlier else "model"
        for order, one in enumerate(statements_of(content)):
            text = text_of(content.parts[one.part]) or ""
            worth = one.worth + (_AFTER_RESULT if voice == "model" and after_result and order == 0 else 0.0)
            plain = folded(text[one.start : one.end])
            yield _Said(at, order, "material" if one.is_material else voice, one, text, worth, plain)
        after_result = False


def _quoted(said: Sequence[_Said]) -> Iterator[tuple[int, str]]:
    """A line for each content: its chosen statements as they stand there, with a mark where something is left out.

    Lines of one content after the first are indented, so that none can pass for another one's.
    """
    run: list[_Said] = []
    for one in (*said, None):
        if run and (one is None or one.at != run[-1].at):
            who = "user" if any(each.voice == "user" for each in run) else "model"
            yield run[0].at, f"{who}: " + neutralise("".join(_pieces(run))).replace("\n", "\n    ")
            run = []
        if one is not None:
            run.append(one)


def _pieces(run: Sequence[_Said]) -> Iterator[str]:
    before: _Said | None = None
    for one in run:
        if before is not None:
            if one.order != before.order + 1:
                yield " … "
            elif one.statement.part != before.statement.part:
                yield "\n"
            else:
                yield one.source[before.statement.end : one.statement.start]
        yield one.text
        before = one


class _Standing:
    """What stands in the request beside the record."""

    def __init__(self, texts: Iterable[str], beside: Sequence[Content], poll: Callable[[], None]) -> None:
        self.names: set[str] = set()
        read: list[str] = []
        for text in texts:
            poll()
            read.append(folded(text))
            self.names.update(names_in(text))
        self._text = "\n".join(read)[:_SEARCHED]
        self._said: set[str] = set()
        for content in beside:
            poll()
            self.names.update(names_in(text_of_content(content)))
            for one in statements_of(content):
                text = (text_of(content.parts[one.part]) or "")[one.start : one.end]
                self._said.add(folded(text))

    def has(self, plain: str) -> bool:
        """Whether a statement stands there; one of few characters, which may be part of any other, never does."""
        return len(plain) >= _SAME and (plain in self._said or plain in self._text)


def _last_named(sources: Sequence[FactSource], beside: Sequence[Content], poll: Callable[[], None]) -> dict[str, int]:
    """By name, the index of the last content that has it; those beside have that behind the last."""
    last: dict[str, int] = {}
    for at, source in enumerate(sources):
        poll()
        last.update(dict.fromkeys(names_in(text_of_content(source.content)[:_NAMES_IN]), at))
    for content in beside:
        last.update(dict.fromkeys(names_in(text_of_content(content)[:_NAMES_IN]), len(sources)))
    return last


def _tokens_of(source: FactSource) -> float:
    return tokens_in(text_of_content(source.content))

"""Tasks that were left for later: they count however old they are, until somebody says that they are done or dropped.

What is asked for and met within a turn is no such task, and neither is what a model says that it does next: that is
narration. Whether a task is over is read off later words of the person or the model that name it: most of its words, or
its identifier. What a tool returns settles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from gemini_companion.engine.facts.fact import Fact, Said, Settled
from gemini_companion.engine.facts.patterns import hinted, hints, lazy
from gemini_companion.engine.facts.rules import has_cjk, is_announcement, is_question
from gemini_companion.engine.facts.sentences import pieces, prose_lines, sentence_spans
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_call, is_plain_user, visible_text

MOST_OPEN: Final = 200
"""Open tasks that are followed, the newest first."""
_LOOKED_AT: Final = 16_384
"""Characters of what was said that are looked at, of its beginning and of its end."""
_LONGEST: Final = 600
"""Characters of a sentence that are looked at."""
_STEM: Final = 4
"""Characters by which two words are the same: `write` and `written`."""
_SAME: Final = 0.6
_SAME_OUTRIGHT: Final = 0.5
"""Share of a task's words that must stand in a sentence for it to be about the task, where it has no identifier; the
second where the sentence says outright that it is over.
"""

_LATER: Final = lazy(
    r"(?i:\blater(?: on)?(?:[,:]|$)|\b(?:for|it|that|this) later\b|\bafterwards\b|\bafter (?:this|that|it)\b"
    r"|\b(?:when|once|as soon as) [^\n,:]{1,60}\b(?:done|finished|ready|merged|released|over)\b"
    r"|\bspäter\b|\bdanach\b|\b(?:wenn|sobald) [^\n,:]{1,60}\b(?:fertig|erledigt|getan)\b)"
    r"|あとで|後で|後ほど|その後|稍后|之后|以后再"
)
"""Not now."""
_LEFT: Final = lazy(
    r"(?i:\bnext steps?\b|\bremaining (?:work|steps?|tasks?)\b|\bstill (?:needs?|ha(?:ve|s)) to\b|\bstill (?:missing"
    r"|open|to do)\b|\bleft to do\b|\bnot (?:yet )?(?:implemented|done|finished|tested|fixed)(?: yet)?\b"
    r"|\bfollow[- ]ups?:|\bnächste[rn]? schritt|\bnoch (?:nicht|offen|zu)\b|\bes fehl(?:t|en) noch\b)"
    r"|次のステップ|残りは|残りの(?:作業|タスク)|未対応|未着手|やること|下一步|待办|尚未|还没|还需要|剩下"
)
_MARKED: Final = lazy(r"\[(?: |TODO|IN PROGRESS|PENDING|BLOCKED|未完了|進行中|待办)\]")
_TODO: Final = lazy(r"TODO\b")

_TICKED: Final = lazy(r"(?i:\[(?:x|done|completed|finished|cancell?ed|dropped|完了|完成)\])|[✅✓✔☑]")
"""The mark of a list."""
_OVER: Final = lazy(
    r"(?i:\b(?:done|finished|completed?|passe[sd]|succeeded|resolved"
    r"|erledigt|fertig|abgeschlossen)\b)|完了|済み|終わりました|终于|完成|已经|搞定|做完"
)
"""Says outright that something is over."""
_ACTED: Final = lazy(
    r"(?i:\b(?:fixed|implemented|merged|closed|added|removed|deleted|renamed|updated|wrote|written|cleaned|mended|moved"
    r"|created|installed|documented|refactored|changed|replaced|ran|tested|works|shipped|released|deployed|behoben"
    r"|geschrieben|hinzugefügt|entfernt)\b)|しました|修正済|修复了|添加了|删除了"
)
"""Says that something was done to something."""
_DROPPED: Final = lazy(
    r"(?i:(?<!n['’]t )(?<!not )(?<!never )\b(?:forget|never ?mind|drop|skip|scrap|cancel|withdraw)\b"
    r"|\bno longer (?:needs?|needed|necessary|wanted|want|planned|relevant)\b"
    r"|\b(?:not|isn['’]t) (?:needed|necessary)(?: any ?more)?\b|\bobsolete\b|\bdon['’]t (?:bother|need)\b"
    r"|\b(?:dropped|cancell?ed|withdrawn|scrapped)\b|\bvergiss\b"
    r"|\bnicht mehr nötig\b|\bentfällt\b)|やめ(?:ます|ましょう|て)|不要(?:です|になり)|不用了|取消"
)
_NOT_YET: Final = lazy(
    r"(?i:n['’]t\b|\b(?:not|never|cannot|still|yet|once|when|if|as soon as|after (?:this|that|it)|until|will|shall"
    r"|should|must|needs?|has to|have to|would|could|can|later|nicht|noch|wenn|sobald)\b|['’]ll\b)"
    r"|未完|まだ|ていない|たら|尚未|还没|没有"
)
_OPENS_OVER: Final = lazy(
    r"(?i:\W{0,6}(?:(?:ok(?:ay)?|great|yes|all|everything|that|this|it)\b['’s ]{0,4}[,.!]? ?){0,3}(?:is |are )?"
    r"(?:done|finished|completed?|erledigt|fertig)\b)|\W{0,6}(?:完了|完成|できました|做完)"
)
"""How an answer begins that says of what was asked that it is over."""
_HINTS: Final = hints(
    "done|finish|complete|pass|succe|resol|erledigt|fertig|abgeschl|[x]|cancel|drop|fix|implement|merge|close|add|"
    "remove|delete|rename|update|wrot|writ|clean|mend|move|create|install|document|refactor|change|replace|ran |test|"
    "work|ship|release|deploy|behoben|geschr|hinzugef|entf|forget|never|skip|scrap|withdraw|longer|needed|necessary|"
    "obsolete|bother|need|vergiss|mehr n|✅|✓|✔|☑|完|済|終|已|搞定|做|しました|修|添加|删除|やめ|不要|不用|取消"
)
_WORD: Final = lazy(r"[^\W_]+(?:[-_./:#]+[^\W_]+)*+")
_TICKET: Final = lazy(r"[a-z][a-z0-9]{0,30}(?:-[a-z][a-z0-9]{0,30}){0,3}-\d{1,9}")
"""An identifier that stands for one thing alone."""
_EMPTY_WORDS: Final = frozenset(
    "after also been before done finished from have into later left next next remaining still step steps task tasks "  # noqa: SIM905
    "that then there these this those todo what when with will would should them they your once needs need make sure "
    "please bitte fertig wenn noch nicht nächste danach später "
    "pending progress blocked".split()
)


NOTHING_SAID: Final = Said()


class _Open(NamedTuple):
    place: int
    fact: Fact
    words: frozenset[str]
    names: frozenset[str]
    """Those of the words that are identifiers."""
    by_user: bool
    is_later: bool


def is_left_open(fact: Fact, content: Content) -> bool:
    """Whether a fact of the kind `task` is something left for later, as it stands in its content."""
    text = fact.text[:_LONGEST]
    by_user = is_plain_user(content)
    if not by_user and (content.role != "model" or has_call(content)):
        return False
    if _TICKED().search(text):
        return False
    if _MARKED().match(text):
        return True
    if by_user:
        return bool(_TODO().match(text) or _LATER().search(text) or _LEFT().search(text))
    return not is_announcement(text) and _LEFT().search(text) is not None


def said_in(content: Content, poll: Callable[[], None]) -> Said:
    """What a content says of tasks being over; nothing where it is a tool's output or says nothing of the kind."""
    if content.role == "user" and not is_plain_user(content):
        return NOTHING_SAID
    text = visible_text(content)
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    if not hinted(text.lower(), _HINTS):
        return NOTHING_SAID
    opens_over = content.role == "model" and _OPENS_OVER().match(text) is not None
    return Said(tuple(settled_in(text, poll)), opens_over)


def settled_in(text: str, poll: Callable[[], None] = lambda: None) -> Iterator[Settled]:
    """The sentences of a text that say that something is done or dropped."""
    for piece in pieces(text):
        poll()
        for low, high in prose_lines(piece):
            for start, end in sentence_spans(piece, low, high):
                sentence = piece[start : min(end, start + _LONGEST)]
                if (found := _settled(sentence)) is not None:
                    yield found


def ticked_in(text: str) -> Iterator[Settled]:
    """The lines of a text that are marked as done."""
    last = -1
    for match in _TICKED().finditer(text):
        if match.start() > last:
            low = text.rfind("\n", 0, match.start()) + 1
            last = text.find("\n", match.end())
            last = len(text) if last < 0 else last
            yield Settled(_words(text[low:last]), True)


def still_open(
    tasks: Sequence[tuple[int, Fact]], heard: Iterable[tuple[bool, Callable[[], Said]]]
) -> list[tuple[int, Fact]]:
    """Those of the tasks, each with the index of its content, that nobody said to be over, the newest ones.

    Args:
        tasks: What was left open, by `is_left_open`, in order.
        heard: Of every content in order, whether a person wrote it, and what gives what it said (`said_in`).
    """
    voices = list(heard)
    waiting = [_opened(place, fact, by_user=voices[place][0]) for place, fact in tasks[-MOST_OPEN:]]
    if not waiting:
        return []
    opened: dict[int, list[_Open]] = {}
    for task in waiting:
        opened.setdefault(task.place, []).append(task)
    by_word: dict[str, set[_Open]] = {}
    of_turn: list[_Open] = []
    over: set[_Open] = set()
    for place, (by_user, said) in enumerate(voices[waiting[0].place :], start=waiting[0].place):
        if by_word or of_turn:
            told = said()
            for sentence in told.sentences:
                near = chain.from_iterable(by_word.get(word, ()) for word in sentence.words)
                over.update(task for task in set(near) if _is_about(sentence, task))
            if told.opens_over:
                over.update(of_turn)
        if by_user:
            of_turn = []
        for task in opened.get(place, ()):
            for word in task.words:
                by_word.setdefault(word, set()).add(task)
            if task.by_user and not task.is_later:
                of_turn.append(task)
    return [(task.place, task.fact) for task in waiting if task not in over]


def is_told_over(fact: Fact, settled: Collection[Settled]) -> bool:
    """Whether one of these sentences says that a task is over."""
    words = _words(fact.text)
    task = _Open(0, fact, words, _names(words), by_user=True, is_later=True)
    return any(_is_about(sentence, task) for sentence in settled)


def _opened(place: int, fact: Fact, *, by_user: bool) -> _Open:
    words = _words(fact.text)
    return _Open(place, fact, words, _names(words), by_user, bool(_LATER().search(fact.text[:_LONGEST])))


def _settled(sentence: str) -> Settled | None:
    if _TICKED().search(sentence):
        return Settled(_words(sentence), True)
    if is_question(sentence):
        return None
    if _DROPPED().search(sentence):
        return Settled(_words(sentence), True)
    if _NOT_YET().search(sentence):
        return None
    if _OVER().search(sentence):
        return Settled(_words(sentence), True)
    return Settled(_words(sentence), False) if _ACTED().search(sentence) else None


def _is_about(sentence: Settled, task: _Open) -> bool:
    common = task.words & sentence.words
    if any(_TICKET().fullmatch(name) for name in common & task.names):
        return True
    share = len(common) / max(1, len(task.words))
    if not task.names:
        return bool(common) and share >= (_SAME_OUTRIGHT if sentence.outright else _SAME)
    names = len(common & task.names)
    return 2 * names > len(task.names) and (sentence.outright or 2 * len(common) > len(task.words))


def _names(words: Iterable[str]) -> frozenset[str]:
    """The identifiers among words: with a digit or a sign in them."""
    return frozenset(word for word in words if len(word) > _STEM and not word.isalpha())


def _words(text: str) -> frozenset[str]:
    """The words of a sentence that say what it is about: identifiers whole, others by their stem."""
    words: set[str] = set()
    for word in _WORD().findall(text[:_LONGEST].casefold()):
        if has_cjk(word):
            words.update(word[at : at + 2] for at in range(len(word) - 1))
        elif not word.isalpha():
            words.add(word)
        elif len(word) >= _STEM and word not in _EMPTY_WORDS:
            words.add(word[:_STEM])
    return frozenset(words)

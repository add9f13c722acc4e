"""What a compression hides, as the search for facts reads it; and a snapshot from the facts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from gemini_companion.engine.compression.prompt import editor_paths
from gemini_companion.engine.compression.types import Plan
from gemini_companion.engine.facts.fact import FactSource, Known, SummaryTask
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.statements import Statement, Unwanted, statements_of
from gemini_companion.engine.history.content import Content, user_text, visible_text_of
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.sources import PastItem
from gemini_companion.engine.prompts.attachments import as_read


def sources_of(items: Sequence[Item], cache: FactCache | None = None) -> tuple[FactSource, ...]:
    """The contents in order, attached files separate from the prompt that they came with.

    Of IDE context only the paths: what the texts of files say is no fact of the conversation. With a cache the same
    content has the same ones each time, so that they are looked through once.
    """
    sources: list[FactSource] = []
    for item in items:
        if cache is not None and isinstance(item, PastItem):
            for number, known in enumerate(cache.past(item.seq, partial(_read_of, item, None))):
                sources.append(PastSource(len(sources), item, number, known))
            continue
        content, kind = item.content, item.kind
        if kind != "ide" and (content.role != "user" or len(content.parts) < 2):  # nearly every one
            sources.append(FactSource(len(sources), content, item.seq))
            continue
        for one in _as_source(item, cache):
            sources.append(FactSource(len(sources), one, item.seq, kind == "ide"))
    return tuple(sources)


def without_unwanted(
    sources: Sequence[FactSource], unwanted: Unwanted | None, cache: FactCache, earlier: int = 0
) -> Sequence[FactSource]:
    """The sources without what the person does not want kept; the first `earlier` are no person's words."""
    if not unwanted:
        return sources
    left: list[FactSource] = []
    for place, (source, known) in enumerate(zip(sources, cache.looked_up(sources), strict=True)):
        if place >= earlier and known.by_user and not (known.is_output or source.ide_context):
            gone = [one for one in cache.statements(source) if unwanted.has(one, source.seq)]
            source = _cut_out(source, gone) if gone else source
        left.append(source)
    return left


def _cut_out(source: FactSource, statements: Sequence[Statement]) -> FactSource:
    parts = list(source.content.parts)
    for one in reversed(statements):
        text = text_of(parts[one.part]) or ""
        parts[one.part] = {**parts[one.part], "text": text[: one.start] + text[one.end :]}
    return FactSource(source.index, Content(role=source.content.role, parts=tuple(parts)), source.seq)


def _carried(line: str, unwanted: Unwanted) -> str | None:
    """A line of an earlier snapshot without what is not wanted any more; `None` if that is all of it.

    A short sentence stands on one line with the one before it.
    """
    said = line.strip().removeprefix("- ")
    begins = line.find(said)
    if unwanted.says(said):
        return None
    statements = statements_of(Content(role="user", parts=({"text": said},)))
    gone = [one for one in statements if unwanted.says(said[one.start : one.end])]
    for one in reversed(gone):
        said = f"{said[: one.start]}{said[one.end :]}".strip()
    return line if not gone else f"{line[:begins]}{said}" if said else None


def task_of(
    plan: Plan,
    guidance: str = "",
    cache: FactCache | None = None,
    unwanted: Unwanted | None = None,
    in_force: Iterable[str] = (),
    released: Iterable[str] = (),
) -> SummaryTask:
    """What a summariser that reads the contents themselves is asked for, without what the person does not want kept.

    The rules `in_force` stand beside a snapshot, those `released` hold no more: it has to tell of neither.
    """
    sources = without_unwanted(sources_of(plan.hidden, cache), unwanted, cache or FactCache())
    previous = plan.previous_snapshot
    if previous is not None and unwanted:
        left = (_carried(line, unwanted) for line in previous.split("\n"))
        previous = "\n".join(line for line in left if line is not None)
    return SummaryTask(
        # One that is put away is read once, and not whenever somebody asks for its content.
        sources=tuple(
            one if one.known is None else FactSource(one.index, one.content, one.seq, one.ide_context)
            for one in sources
        ),
        previous_snapshot=previous,
        guidance=guidance,
        budget_tokens=plan.snapshot_tokens,
        hidden_tokens=plan.hidden_tokens,
        cite=True,
        later=tuple(item.content for item in plan.tail if item.kind != "ide"),
        beside_record=plan.has_record,
        in_force=tuple(in_force),
        released=tuple(released),
        reader=cache,
    )


def snapshot_from_facts(
    task: SummaryTask, *, count_text: Callable[[str], float], poll: Callable[[], None] = lambda: None
) -> str:
    """The snapshot without a model: what stands in the hidden contents, word for word, within a budget.

    `poll` is called often; what it raises ends the work.
    """
    from gemini_companion.engine.constraints.contradiction import left_standing
    from gemini_companion.engine.constraints.detect import rules_in
    from gemini_companion.engine.facts.snapshot import carried_tokens, extractive_snapshot  # slow to import

    return extractive_snapshot(
        task.sources,
        previous=task.previous_snapshot,
        budget_tokens=task.budget_tokens + carried_tokens(task, count_text),
        count_text=count_text,
        guidance=task.guidance,
        cite=task.cite,
        later=task.later,
        beside_record=task.beside_record,
        reader=task.reader,
        rules_in=rules_in,
        left_standing=left_standing,
        in_force=task.in_force,
        released=task.released,
        poll=poll,
    )


class PastSource(FactSource):
    """A source that is read when somebody asks for its content."""

    __slots__ = ("_item", "known", "number")

    def __init__(self, index: int, item: PastItem, number: int, known: Known) -> None:
        # The slot of `content` stays empty, so that `__getattr__` is asked for it.
        self.index, self.seq, self.ide_context, self.known = index, item.seq, item.kind == "ide", known
        self._item, self.number = item, number

    def __getattr__(self, name: str) -> Content:
        if name != "content":
            raise AttributeError(name)
        return _read_of(self._item, None)[self.number]


def put_away(items: Iterable[Item], cache: FactCache) -> None:
    """The contents of items go; what the cache knows of them stays."""
    for item in items:
        cache.put_away(item.seq, item.content, _read_of(item, cache))


def find_open_tasks(items: Iterable[Item], cache: FactCache, poll: Callable[[], None]) -> None:
    """Look for tasks that were left open in the contents of items before they go: up to a millisecond for each."""
    for item in items:
        poll()
        cache.find_open(_read_of(item, cache))


def _read_of(item: Item, cache: FactCache | None) -> tuple[Content, ...]:
    """What is read in an item's stead: mostly its content."""
    content = item.content
    is_whole = item.kind != "ide" and (content.role != "user" or len(content.parts) < 2)
    return (content,) if is_whole else _as_source(item, cache)


def _as_source(item: Item, cache: FactCache | None) -> tuple[Content, ...]:
    read = partial(_read, item)
    return read() if cache is None else cache.derived(item.content, read)


def _read(item: Item) -> tuple[Content, ...]:
    if item.kind != "ide":
        return as_read(item.content)
    return (user_text("\n".join(editor_paths(visible_text_of(item.content.parts)))),)

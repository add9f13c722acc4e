"""From the view to what may be sent: invalid answers dropped, calls and results paired, thoughts stripped.

A view falls into *rounds*: a run of model contents and the run of user contents after it. Each round is curated by
itself, so that appending to a long history touches only the last one.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.item import Item, MeasureContent, Shape
from gemini_companion.engine.history.part import SKIP_SIGNATURE, call_of, has_call, is_thought, is_truthy, response_of

INTERRUPTED: Final = "This call was interrupted; it has no result."
"""The error in the response that replaces a missing one."""


def curate(items: Sequence[Item], measure: MeasureContent, *, close: bool) -> list[Item]:
    """The curated view of `items`; see the module. `close` also fills in the results that the very last round lacks."""
    curated: list[Item] = []
    start = 0
    while start < len(items):
        end = round_end(items, start)
        curated.extend(curate_round(items[start:end], measure, close=close or end < len(items)))
        start = end
    return curated


def round_end(items: Sequence[Item], start: int) -> int:
    """Where the round that begins at `start` ends: past its model contents and past the user contents after them."""
    known = items[start].curated_round if start < len(items) else None
    if known is not None:
        whole, _ = known
        end = start + len(whole)
        if tuple(items[start:end]) == whole and (
            end == len(items) or (whole[-1].content.role == "user" and items[end].content.role == "model")
        ):
            return end
    end = start
    while end < len(items) and items[end].content.role == "model":
        end += 1
    while end < len(items) and items[end].content.role == "user":
        end += 1
    return end


def curate_round(items: Sequence[Item], measure: MeasureContent, *, close: bool) -> list[Item]:
    """Curate one round; items that need no change come back as they are.

    What comes of a round whose calls all have results is remembered in `curated_round` of its first item, so that no
    undo and no rewind measures it again.
    """
    whole = tuple(items)
    known = whole[0].curated_round if whole else None
    if known is not None and known[0] == whole:
        return list(known[1])
    curated = _curated(items, measure, close=close)
    if whole and close and not any(item.kind == "filled" for item in curated):
        whole[0].curated_round = whole, tuple(curated)
    return curated


def _curated(items: Sequence[Item], measure: MeasureContent, *, close: bool) -> list[Item]:
    shapes = {item.shape for item in items}
    if shapes <= {Shape.PLAIN_USER, Shape.TEXT}:
        return list(items)
    models = [item for item in items if item.content.role == "model"]
    users = [item for item in items if item.content.role == "user"]
    if Shape.INVALID in shapes:
        models = []
    answers = [stripped for item in models if (stripped := _without_thoughts(item, measure)) is not None]
    return _pair(answers, users, measure, close=close)


def _without_thoughts(item: Item, measure: MeasureContent) -> Item | None:
    if item.shape is Shape.NOTHING:
        return None
    if item.shape is not Shape.THOUGHTS:
        return item
    numbers = tuple(number for number, part in enumerate(item.content.parts) if not is_thought(part))
    parts = [item.content.parts[number] for number in numbers]
    if not parts:
        return None
    for index, part in enumerate(parts):
        if is_truthy(part.get("functionCall")):
            if not part.get("thoughtSignature"):
                parts[index] = {**part, "thoughtSignature": SKIP_SIGNATURE}
            break
    content = Content(role="model", parts=tuple(parts))
    if item.bare is None:  # a signature costs nothing, so the parts that stay have the size that they had
        item.bare = measure(content)
    return item.with_content(content, item.bare, numbers=numbers)


def _pair(models: list[Item], users: list[Item], measure: MeasureContent, *, close: bool) -> list[Item]:
    calls = _Calls(models)
    answered = calls.answer(users, measure)
    curated = calls.with_ids(measure)
    if close and calls.open:
        curated.append(calls.fill(measure))
    curated.extend(answered)
    return curated


class _Calls:
    """The calls of one round, each waiting for its result."""

    def __init__(self, models: list[Item]) -> None:
        self._models = models
        self._ids: list[list[str | None]] = []
        """Per model item and part: the id that its call gets, `None` for a part that is no call."""
        self.open: dict[str, str] = {}
        """Id to name of the calls that have no result yet, in order."""
        self._names: dict[str, str] = {}
        self._waiting: defaultdict[tuple[str, bool], deque[str]] = defaultdict(deque)
        """Calls by name (`""` for any): under `False` all, under `True` only those that came without a usable id."""
        self._doubles: defaultdict[tuple[str, str], deque[str]] = defaultdict(deque)
        """By the id and the name that they came with: the new ids of calls whose id was taken."""
        self._doubled: set[str] = set()
        self._has_invented = False
        for item in models:
            self._ids.append([self._register(item, number, part) for number, part in enumerate(item.content.parts)])

    def _register(self, item: Item, number: int, part: Part) -> str | None:
        call = call_of(part)
        if call is None:
            return None
        name, given = _string(call, "name"), _string(call, "id")
        is_given = given != "" and given not in self.open
        call_id = given if is_given else self._invent(f"{name}-{item.seq}-{number}")
        self.open[call_id] = self._names[call_id] = name
        for key in (name, ""):
            self._waiting[key, False].append(call_id)
            if not is_given:
                self._waiting[key, True].append(call_id)
        if given and not is_given:
            self._doubles[given, name].append(call_id)
            self._doubled.add(given)
        self._has_invented = self._has_invented or not is_given
        return call_id

    def _invent(self, call_id: str) -> str:
        while call_id in self.open:
            call_id += "-"
        return call_id

    def answer(self, users: list[Item], measure: MeasureContent) -> list[Item]:
        """The user items with results paired and orphans dropped; an item with no parts left is dropped too."""
        claims: dict[tuple[int, int], str] = {}
        unclaimed: list[tuple[tuple[int, int], dict[str, Any]]] = []
        for position, response in _responses(users):  # a result that names its call goes first, whatever the order
            if (call_id := self._named(response)) is not None:
                claims[position] = call_id
            else:
                unclaimed.append((position, response))
        for position, response in unclaimed:
            if (call_id := self._waiting_for(response)) is not None:
                claims[position] = call_id
        return [
            kept
            for index, item in enumerate(users)
            if (kept := self._answered(item, index, claims, measure)) is not None
        ]

    def _answered(
        self, item: Item, index: int, claims: dict[tuple[int, int], str], measure: MeasureContent
    ) -> Item | None:
        if item.shape is not Shape.RESULTS:
            return item
        parts: list[Part] = []
        numbers: list[int] = []
        changed = False
        for number, part in enumerate(item.content.parts):
            response = response_of(part)
            call_id = claims.get((index, number))
            if response is not None and call_id is None:
                changed = True
                continue
            if (
                response is not None
                and call_id is not None
                and not (response.get("id") == call_id and _string(response, "name"))
            ):
                part = {
                    **part,
                    "functionResponse": {
                        **response,
                        "id": call_id,
                        "name": _string(response, "name") or self._names[call_id],
                    },
                }
                changed = True
            parts.append(part)
            numbers.append(number)
        if not changed:
            return item
        if not parts:
            return None
        content = Content(role="user", parts=tuple(parts))
        return item.with_content(
            content, measure(content), numbers=tuple(numbers) if len(numbers) < len(item.content.parts) else None
        )

    def _named(self, response: dict[str, Any]) -> str | None:
        """The open call that a result names; of several calls with one id the one that has the result's name."""
        given, name = _string(response, "id"), _string(response, "name")
        is_meant = given not in self._doubled or name in ("", self._names[given])
        if is_meant and self.open.pop(given, None) is not None:
            return given
        return self._first_open(self._doubles[given, name]) if given in self._doubled else None

    def _waiting_for(self, response: dict[str, Any]) -> str | None:
        """The first open call for a result that names none.

        A result without an id takes any open call of its name, one with an unknown id only a call that came without.
        """
        given, name = _string(response, "id"), _string(response, "name")
        if self.open.pop(given, None) is not None:
            return given
        return self._first_open(self._waiting[name, given != ""])

    def _first_open(self, waiting: deque[str]) -> str | None:
        while waiting:
            call_id = waiting.popleft()
            if self.open.pop(call_id, None) is not None:
                return call_id
        return None

    def with_ids(self, measure: MeasureContent) -> list[Item]:
        """The model items, each call with its id."""
        if not self._has_invented:
            return list(self._models)
        curated: list[Item] = []
        for item, ids in zip(self._models, self._ids, strict=True):
            if not has_call(item.content):
                curated.append(item)
                continue
            content = Content(role="model", parts=tuple(map(_with_id, item.content.parts, ids)))
            curated.append(item.with_content(content, measure(content), numbers=item.numbers))
        return curated

    def fill(self, measure: MeasureContent) -> Item:
        """A user item that reports every open call as interrupted."""
        last = next(item for item in reversed(self._models) if has_call(item.content))
        content = interrupted_results(self.open)
        return last.filled(content, measure(content))


def _responses(users: list[Item]) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """Every function response with its position: index of the item, index of the part."""
    for index, item in enumerate(users):
        if item.shape is Shape.RESULTS:
            for number, part in enumerate(item.content.parts):
                if (response := response_of(part)) is not None:
                    yield (index, number), response


def _string(fields: dict[str, Any], name: str) -> str:
    """The field's value if it is a string, else `""`."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def interrupted_results(calls: dict[str, str], message: str = INTERRUPTED) -> Content:
    """A user content that answers each call (id to name) with an error."""
    parts = tuple(
        {"functionResponse": {"id": call_id, "name": name, "response": {"error": message}}}
        for call_id, name in calls.items()
    )
    return Content(role="user", parts=parts)


def _with_id(part: Part, call_id: str | None) -> Part:
    call = call_of(part)
    if call is None or call_id is None or call.get("id") == call_id:
        return part
    return {**part, "functionCall": {**call, "id": call_id}}

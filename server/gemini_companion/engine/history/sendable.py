"""A request's contents, as the API accepts them."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.content import Content, merge_neighbours
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.part import is_truthy


def sendable(contents: Iterable[Content]) -> tuple[Content, ...]:
    """Contents as the API accepts them.

    Roles alternate, function responses precede a user content's other parts, empty contents are left out.
    """
    merged = merge_neighbours([content for content in contents if content.parts])
    return tuple(
        [
            _results_first(content) if content.role == "user" and len(content.parts) > 1 else content
            for content in merged
        ]
    )


class GrowingRequest(Fold):
    """The contents of a request that grows at its end: what stays as it is is not gone through again.

    Pure. Its contents are the same objects each time, by which whoever sends them knows what was sent before.
    """

    def __init__(self) -> None:
        self._done: list[Content] = []
        """As they are sent; nothing that follows becomes a part of them."""
        self._last: list[Content] = []
        """The contents behind them, all of one role, as they came."""

    def extend(self, contents: Iterable[Content]) -> None:
        """Add contents for good."""
        last = self._last
        for content in contents:
            if not content.parts:
                continue
            if last and last[0].role != content.role:
                if len(last) == 1 and len(last[0].parts) == 1:  # by far the commonest: nothing to merge or to order
                    self._done.append(last[0])
                else:
                    self._done.extend(sendable(last))
                last.clear()
            last.append(content)

    def contents(self, head: Content | None, more: Iterable[Content]) -> tuple[Content, ...]:
        """`head`, what was added, and `more`, as `sendable` makes them."""
        rest = sendable((*self._last, *more))
        if head is None:
            return (*self._done, *rest)
        if self._done:
            return (*sendable((head, self._done[0])), *self._done[1:], *rest)
        return sendable((head, *rest))


def _results_first(content: Content) -> Content:
    results = [part for part in content.parts if is_truthy(part.get("functionResponse"))]
    if not results or len(results) == len(content.parts):
        return content
    others = [part for part in content.parts if not is_truthy(part.get("functionResponse"))]
    return Content(role="user", parts=(*results, *others))

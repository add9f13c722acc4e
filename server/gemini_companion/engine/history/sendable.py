"""A request's contents, as the API accepts them."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.content import Content, merge_neighbours
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


def _results_first(content: Content) -> Content:
    results = [part for part in content.parts if is_truthy(part.get("functionResponse"))]
    if not results or len(results) == len(content.parts):
        return content
    others = [part for part in content.parts if not is_truthy(part.get("functionResponse"))]
    return Content(role="user", parts=(*results, *others))

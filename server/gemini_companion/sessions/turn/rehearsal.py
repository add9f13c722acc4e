"""What the first prompt would wait for, done while nobody waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from gemini_companion.engine.constraints.detect import detect
from gemini_companion.engine.recall.words import indexed

_PROMPT: Final = (
    'Always answer in German. Please be brief.\n- `names` and "titles" are don\'t-cares: use camelCase1.\n日本語。'
)
_STEPS: Final[tuple[Callable[[], object], ...]] = (partial(detect, _PROMPT), partial(indexed, _PROMPT))
"""Each compiles the patterns that it looks through a prompt with: some milliseconds."""


async def rehearse() -> None:
    """Take the steps in a thread: messages are answered meanwhile."""
    for step in _STEPS:
        await asyncio.to_thread(step)

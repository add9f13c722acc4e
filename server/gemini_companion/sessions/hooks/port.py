"""What runs the commands of hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gemini_companion.engine.hooks.answers import HookEnd


class HookRunner(Protocol):
    """Runs one command."""

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        stdin: bytes,
        env: Mapping[str, str],
        limit_seconds: float,
        is_own: bool = False,
    ) -> HookEnd:
        """Run a shell's line to its end, and end all that comes of it. Raises nothing but `CancelledError`.

        `is_own` says that the person's own settings have it; whatever else has, sees less of the environment.
        """
        ...


class NoRunner:
    """Where no hooks are run."""

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        stdin: bytes,
        env: Mapping[str, str],
        limit_seconds: float,
        is_own: bool = False,
    ) -> HookEnd:
        """Nothing is run."""
        return HookEnd(failed="no hooks are run here")

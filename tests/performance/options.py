"""What every benchmark is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to measure. `scratch` is a new folder for this run, `downloads` is kept between runs; neither is under
    version control.
    """

    scratch: Path
    quick: bool = False
    """Few repetitions, small sizes: to see that it works, not to learn anything."""
    thorough: bool = False
    """Also what takes too long for a run of all benchmarks: the largest sizes, what each rule alone saves."""
    tell: Callable[[str], None] = field(default=lambda _: None)
    """Says on the way what is being measured."""

    @property
    def downloads(self) -> Path:
        """Where public packages that are measured beside ours are kept.

        `COMPANION_BENCH_DIR`, else in the virtual environment, else among temporary files.
        """
        if named := os.environ.get("COMPANION_BENCH_DIR"):
            return Path(named).expanduser().absolute()
        environment = ROOT / ".venv"
        return environment / ".bench" if environment.is_dir() else Path(gettempdir()) / "gemini-companion-bench"

    def rounds(self, usual: int) -> int:
        """Repetitions: `usual`, or two in a hurry."""
        return min(usual, 2) if self.quick else usual

    def environment(self, **more: str) -> dict[str, str]:
        """A process's environment without keys, at home in the scratch folder, from which the project can be
        imported.
        """
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GEMINI", "GOOGLE", "COMPANION", "PYTHON"))
        }
        home = self.scratch / "home"
        home.mkdir(parents=True, exist_ok=True)
        own: Mapping[str, str] = {
            "HOME": str(home),
            "COMPANION_DATA_DIR": str(self.scratch / "data"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "server"), str(ROOT)]),
        }
        return {**kept, **own, **more}

    def server_command(self) -> list[str]:
        """What an editor starts."""
        return [sys.executable, "-m", "gemini_companion", "serve"]

"""What a run found: figures, and violations with all that is needed to see them again."""

from __future__ import annotations

import sys
import threading
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Final

LAST_ACTIONS: Final = 30
KINDS: Final = ("lost", "falsely running", "hung", "late", "defect", "not flat")
"""What must not happen, each counted in the closing table. `late` is an answer over two seconds, `hung` is none at all."""


class Trail:
    """The last actions of one actor."""

    def __init__(self, actor: str) -> None:
        self.actor = actor
        self.actions: deque[str] = deque(maxlen=LAST_ACTIONS)

    def note(self, what: str) -> None:
        """An action, or what came of it."""
        self.actions.append(what)


class Report:
    """Counts and violations of one run."""

    def __init__(self, seed: int, minutes: float) -> None:
        self.seed = seed
        self.minutes = minutes
        self.counts: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        """Injected faults by kind."""
        self.refusals: Counter[str] = Counter()
        """Errors that daemons answered, by method and kind."""
        self.slowest: dict[str, float] = {}
        """By method, seconds of the slowest answer that does not depend on a provider."""
        self.slowest_own: dict[str, float] = {}
        """The same without what the machine was too busy for."""
        self.disturbed_slowest: dict[str, float] = {}
        """The same while the disk is ill or another daemon on the folder is stopped; nothing is asked of these."""
        self.notes: list[str] = []
        """Lines under the table."""
        self.violations: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def violate(self, kind: str, what: str, trails: Sequence[Trail] = ()) -> None:
        """Note a violation, with the last actions of those who were there."""
        lines = [what]
        for trail in trails:
            lines += [f"    the last actions of {trail.actor}:", *(f"      {action}" for action in trail.actions)]
        self.violations.append((kind, "\n".join(lines)))
        print(f"{kind.upper()}: {what[:300]}", file=sys.stderr, flush=True)

    def fault(self, kind: str) -> None:
        """Count an injected fault; the emulator's thread does so too."""
        with self._lock:
            self.faults[kind] += 1

    def answered(self, method: str, seconds: float, own: float) -> None:
        """Note how long an answer took that does not depend on a provider, and how much of that is the daemon's own."""
        self.slowest[method] = max(seconds, self.slowest.get(method, 0.0))
        self.slowest_own[method] = max(own, self.slowest_own.get(method, 0.0))

    def disturbed(self, method: str, seconds: float) -> None:
        """Note an answer that was held up by what was done to the disk or to another daemon."""
        self.disturbed_slowest[method] = max(seconds, self.disturbed_slowest.get(method, 0.0))

    def text(self) -> str:
        """The closing table, and what was violated."""
        counted = Counter(kind for kind, _ in self.violations)
        lines = [
            f"seed {self.seed}, {self.minutes:g} minutes",
            *_rows("did", self.counts),
            *_rows("faults", self.faults),
            *_rows("refused", dict(self.refusals.most_common(12))),
            f"  slowest answer that needs no provider: {_slowest(self.slowest)}; without what the machine was too busy"
            f" for: {_slowest(self.slowest_own)}",
            f"  the same on an ill disk, or beside a stopped daemon: {_slowest(self.disturbed_slowest)}",
            *(f"  {note}" for note in self.notes),
            "  violations: " + ", ".join(f"{kind} {counted[kind]}" for kind in KINDS),
        ]
        for kind, what in self.violations[:20]:
            lines.append(f"\n{kind.upper()}: {what}")
        if self.violations:
            lines.append(f"\nThe same plan again: make chaos MINUTES={self.minutes:g} SEED={self.seed}")
        return "\n".join(lines)


def _slowest(times: Mapping[str, float]) -> str:
    method, seconds = max(times.items(), key=lambda item: item[1], default=("nothing", 0.0))
    return f"{seconds:.2f} s ({method})"


def _rows(name: str, counts: Mapping[str, int]) -> list[str]:
    """The counts as lines that fit a terminal, the first with a name."""
    pieces = [f"{count} {what}" for what, count in counts.items()]
    rows: list[str] = []
    row = ""
    for piece in pieces:
        if row and len(row) + len(piece) > 100:
            rows.append(row)
            row = ""
        row += (", " if row else "") + piece
    return [f"  {name if not index else '':<8}{row}" for index, row in enumerate([*rows, *([row] if row else [])])]

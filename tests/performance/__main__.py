"""Benchmarks: `python -m tests.performance [--json] [--only NAME …] [--quick]`.

Every figure that has something to stand beside is measured with it in the same run. Targets are the project's own; a
miss is printed and is no failure of the command. What cannot be measured here is named with the reason.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.performance.figures import Finding, as_json, table
from tests.performance.options import Options

Bench = Callable[[Options], Iterator[Finding]]

BENCHES: Final[Mapping[str, str]] = {
    "startup": "startup",
    "surrounded": "surrounded",
    "compression": "compression",
    "streaming": "streaming",
    "streams": "many_streams",
    "turns": "turns",
    "ideUpdates": "ide_updates",
    "cancelling": "cancelling",
    "stalls": "stalls",
    "stored": "stored",
    "importing": "importing",
    "memory": "memory",
    "tokenError": "token_error",
    "recall": "recall",
    "rounds": "rounds",
    "outputs": "outputs",
    "prefix": "prefix",
    "servers": "servers",
    "agents": "agents",
    "waiting": "waiting",
}
"""Names, and the modules that measure."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.performance", description="Benchmarks, each with its ratio in the same run."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument(
        "--only", action="append", choices=BENCHES, metavar="NAME", help=f"one of {', '.join(BENCHES)}; may be repeated"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few repetitions, without Node: to see that it works"
    )
    asked = parser.parse_args(arguments)
    findings: list[Finding] = []
    with TemporaryDirectory(prefix="companion-bench-", ignore_cleanup_errors=True) as scratch:
        for name in asked.only or BENCHES:
            own = Path(scratch) / name
            own.mkdir()
            _tell(name)
            measure: Bench = import_module(f"tests.performance.{BENCHES[name]}").run
            findings += measure(
                Options(scratch=own, quick=asked.quick, tell=lambda what, name=name: _tell(f"{name}: {what}"))
            )
    print(as_json(findings, _machine()) if asked.json else table(findings))
    return 0


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _machine() -> dict[str, str | int]:
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count() or 0,
    }


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.performance`: every benchmark, with its ratios, in one run and one table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.performance import cancelling, compression, stall, startup, streaming, token_error, updates
from tests.performance.figures import Finding, Skipped, as_json, table
from tests.performance.options import Options

BENCHES: Final[Mapping[str, Callable[[Options], Iterator[Finding]]]] = {
    "startup": startup.run,
    "compression": compression.run,
    "streaming": streaming.run,
    "updates": updates.run,
    "cancelling": cancelling.run,
    "stall": stall.run,
    "tokens": token_error.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 0 whatever the figures say, for they are for reading."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(BENCHES), help="this benchmark; may be given several times")
    parser.add_argument("--quick", action="store_true", help="small and few: to see that it works")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="gemini-companion-bench-") as scratch:
        options = Options(scratch=Path(scratch), quick=asked.quick, tell=_tell)
        for name in asked.only or BENCHES:
            _tell(f"{name} …")
            findings += _measured(name, options)
    machine = {"python": platform.python_version(), "system": platform.system(), "cpus": os.cpu_count()}
    print(as_json(findings, machine) if asked.json else table(findings))
    return 0


def _measured(name: str, options: Options) -> list[Finding]:
    """One benchmark's findings; one that fails does not cost the others."""
    findings: list[Finding] = []
    try:
        findings.extend(BENCHES[name](options))
    except (AssertionError, EOFError, OSError, RuntimeError, TimeoutError) as error:
        findings.append(Skipped(bench=name, name="the rest", reason=f"{type(error).__name__}: {error}"))
    return findings


def _tell(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

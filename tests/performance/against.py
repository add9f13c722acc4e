"""This tree beside an earlier commit, on the same machine in the same hour: benchmark by benchmark in turns.

The commit gets a working tree of its own among temporary files. What this tree's benchmarks measure is measured there by
the same code, put in place of its own; where that does not run with what there was then, by the benchmark of that commit;
where there was none, it is said.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.performance.benches import ALONE, BENCHES
from tests.performance.curves import growth
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.options import ROOT
from tests.performance.running import RETRIES, Allowance, Attempt, Job, Ran, measure, run_once
from tests.performance.runs import Refused, Run, Took, commit_of, this_machine

OWN: Final = ("one.py", "load.py")
"""Files with which any commit's benchmark is run as a process of its own."""
_FOLDER: Final = Path("tests") / "performance"

Tell = Callable[[str], None]


class _Side:
    """What was found of one of the two trees."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.took: list[Took] = []

    def take(self, ran: Ran) -> None:
        self.findings += ran.findings
        self.took += [ran.took] if ran.took else []

    def run(self, commit: str, began: datetime, seconds: float, *, quick: bool) -> Run:
        figures = [finding for finding in self.findings if isinstance(finding, Figure)]
        return Run(
            commit=commit,
            began=f"{began:%Y-%m-%d %H:%M}",
            seconds=round(seconds, 1),
            quick=quick,
            machine=this_machine(),
            benches=self.took,
            findings=[*self.findings, *growth(figures)],
        )


def measured(
    commit: str, names: Sequence[str], *, quick: bool, tell: Tell, attempt: Attempt = run_once
) -> tuple[Run, Run]:
    """The runs of the commit and of this tree. Raises `Refused` if there is no such commit, or no git."""
    began, started = datetime.now(UTC), time.monotonic()
    before, after = _Side(), _Side()
    allowance = Allowance(2 * ALONE * len(names), retries=2 * RETRIES)

    def one(name: str, tree: Path) -> Ran:
        job = Job(name=name, module=BENCHES[name].module, seconds=ALONE, tree=tree, quick=quick)
        return measure(job, allowance, tell, attempt=attempt)

    with _trees(commit) as (same, own):
        for name in dict.fromkeys(names):
            tell(f"{name}, before")
            before.take(_earlier(name, same, own, tell=tell, one=one))
            tell(f"{name}, after")
            after.take(one(name, ROOT))
        base = commit_of(own)
    seconds = time.monotonic() - started
    return before.run(base.rstrip("+"), began, seconds, quick=quick), after.run(
        commit_of(), began, seconds, quick=quick
    )


def _earlier(name: str, same: Path, own: Path, *, tell: Tell, one: Callable[[str, Path], Ran]) -> Ran:
    """Of the commit: by today's benchmark, else by its own."""
    ran = one(name, same)
    if not ran.fault or any(isinstance(finding, Figure) for finding in ran.findings):
        return ran
    module = f"{BENCHES[name].module}.py"
    if not (own / _FOLDER / module).is_file():
        reason = f"that commit has no such benchmark, and with today's {ran.fault}"
        return Ran([Skipped(bench=name, name="everything", reason=reason)], ran.took)
    tell(f"{name}: with that commit's own benchmark, for with today's {ran.fault}")
    return one(name, own)


@contextmanager
def _trees(commit: str) -> Generator[tuple[Path, Path]]:
    """The commit's tree twice: with today's benchmarks, and with its own. Raises `Refused`."""
    known = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    with TemporaryDirectory(prefix="companion-against-", ignore_cleanup_errors=True) as folder:
        same, own = Path(folder) / "same", Path(folder) / "own"
        try:
            for tree in (same, own):
                _git("worktree", "add", "--detach", "--quiet", str(tree), known)
            shutil.rmtree(same / _FOLDER, ignore_errors=True)
            shutil.copytree(ROOT / _FOLDER, same / _FOLDER, ignore=shutil.ignore_patterns("__pycache__"))
            (own / _FOLDER).mkdir(parents=True, exist_ok=True)
            for file in OWN:
                shutil.copy(ROOT / _FOLDER / file, own / _FOLDER / file)
            yield same, own
        finally:
            for tree in (same, own):
                subprocess.run(
                    ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)],
                    capture_output=True,
                    check=False,
                )


def _git(*arguments: str) -> str:
    """What git says. Raises `Refused`."""
    try:
        run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refused(f"git cannot be run: {error.strerror or error}. Install it.") from None
    if run.returncode:
        said = (run.stderr.strip().splitlines() or ["there is no such commit here"])[-1]
        raise Refused(f"git {arguments[0]}: {said}. Name a commit that `git log` shows.")
    return run.stdout.strip()

"""A run of the benchmarks: what was found, where, when and beside how much other work; stored and read again."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from tests.performance.figures import Figure, Finding
from tests.performance.gemini_cli import VERSION as GEMINI_CLI
from tests.performance.options import ROOT

FORMAT: Final = "gemini-companion-bench/1"
LARGEST: Final = 5_000_000
"""Bytes of a stored run."""
_PACKAGES: Final = ("google-genai", "lsprotocol", "msgspec", "pygls")


class Refused(Exception):
    """A file that is no stored run; the message says what to do."""


class Machine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where it was measured."""

    processor: str
    processors: int
    memory: float
    """GiB; 0 where the system does not tell."""
    system: str
    versions: dict[str, str]
    """Of Python, Node, SQLite, packages, and of what is measured beside ours."""

    @property
    def hardware(self) -> tuple[str, int, int]:
        """What has to be the same for times to be comparable."""
        return self.processor, self.processors, round(self.memory)


class Took(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How measuring one benchmark went."""

    name: str
    seconds: float
    load_before: float | None
    """Processes that wanted a processor, the average of a minute."""
    load_after: float | None
    others: float | None
    """Share of all processors that others had."""
    tries: int = 1
    """With 2, others had too much the first time; the quieter one counts."""


class Run(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything of one run."""

    format: Literal["gemini-companion-bench/1"] = FORMAT
    commit: str
    """Forty digits; with `+` behind them if files differed from it; empty where nobody knows."""
    began: str
    """UTC, to the minute."""
    seconds: float
    quick: bool = False
    machine: Machine
    benches: list[Took]
    findings: list[Finding]

    @property
    def figures(self) -> list[Figure]:
        """What was measured."""
        return [finding for finding in self.findings if isinstance(finding, Figure)]

    @property
    def others(self) -> float | None:
        """The largest share that others had while one benchmark was measured."""
        return max((took.others for took in self.benches if took.others is not None), default=None)


def encoded(run: Run) -> bytes:
    """As JSON, with each figure's ratio and verdict for whoever reads it."""
    shown: dict[str, Any] = msgspec.to_builtins(run)
    for finding, fields in zip(run.findings, shown["findings"], strict=True):
        if isinstance(finding, Figure):
            fields |= {"ratio": finding.ratio, "met": finding.verdict}
    return msgspec.json.format(msgspec.json.encode(shown), indent=1) + b"\n"


def load(path: Path) -> Run:
    """A stored run. Raises `Refused`."""
    what_to_do = "Name a file that `python -m tests.performance --save FILE` wrote."
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}. {what_to_do}") from None
    if len(data) > LARGEST:
        raise Refused(f"{path}: it has more than {LARGEST:,} bytes, which no run has. {what_to_do}")
    try:
        run = msgspec.json.decode(data, type=Run)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"{path}: it is no stored run ({_one_line(str(error))}). {what_to_do}") from None
    if not all(map(_is_plain, _texts(msgspec.to_builtins(run)))):
        raise Refused(f"{path}: it has characters that no run has. {what_to_do}")
    return run


def save(run: Run, path: Path) -> None:
    """Write it, whole or not at all. Raises `OSError`."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(encoded(run))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def this_machine() -> Machine:
    """The one that this runs on."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return Machine(
        processor=_processor(),
        processors=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=round(pages / 2**30, 1),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        versions=dict(_versions()),
    )


def commit_of(tree: Path = ROOT) -> str:
    """The commit that a working tree has, with `+` where files differ from it; empty where there is no git."""
    try:
        commit = _said("git", "-C", str(tree), "rev-parse", "HEAD")
        return commit + ("+" if _said("git", "-C", str(tree), "status", "--porcelain") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _versions() -> Iterator[tuple[str, str]]:
    yield "Python", platform.python_version()
    yield "SQLite", sqlite3.sqlite_version
    for package in _PACKAGES:
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    if node := shutil.which("node"):
        try:
            yield "Node", _said(node, "--version").removeprefix("v")
        except (OSError, subprocess.SubprocessError):
            return
        yield "Gemini CLI", GEMINI_CLI


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        told = ""
    named = re.search(r"^model name\s*: (.+)$", told, re.MULTILINE)
    return _one_line(named[1] if named else platform.processor() or platform.machine() or "unknown")


def _said(*command: str) -> str:
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return run.stdout.strip()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _is_plain(text: str) -> bool:
    return text.isprintable()


def _one_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[:300]).split())

"""Gemini CLI's public packages, installed for this measurement alone and run as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from tests.performance.conversation import DESCRIPTION
from tests.performance.options import Options

VERSION: Final = "0.61.0"
CORE: Final = f"@google/gemini-cli-core@{VERSION}"
CLI: Final = f"@google/gemini-cli@{VERSION}"
INSTALL_SECONDS: Final = 600
DRIVER: Final = Path(__file__).with_name("gemini_cli.mjs")


class Timed(NamedTuple):
    """Calls of one of Gemini CLI's functions."""

    ms: list[float]
    """Milliseconds of each."""
    processor: list[float]
    """Milliseconds of processor time of each, of all threads."""
    files: int
    """What the last one wrote."""


class Unavailable(Exception):
    """What is to be measured beside ours is not to be had here; the message says why."""


def node() -> str:
    """The path of Node. Raises `Unavailable`."""
    found = shutil.which("node")
    if found is None:
        raise Unavailable("Node is not here (apt-get install nodejs npm)")
    return found


def installed(options: Options, package: str) -> Path:
    """The folder of a public package, of which a release is named as in `name@1.2.3`; fetched once. Raises
    `Unavailable`.
    """
    name, _, version = package.rpartition("@")
    folder = options.downloads / package.replace("/", "+")
    home = folder / "node_modules" / name
    if (folder / ".complete").exists():
        return home
    node()
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not here (apt-get install npm)")
    folder.mkdir(parents=True, exist_ok=True)
    options.tell(f"fetching {name} {version}, once")
    command = [
        npm,
        "install",
        "--prefix",
        str(folder),
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        package,
    ]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not get {package} within {INSTALL_SECONDS // 60} minutes") from None
    if run.returncode or not home.is_dir():
        said = next((line for line in run.stderr.splitlines() if line.startswith("npm error")), "npm failed")
        raise Unavailable(f"{package} could not be installed ({said})")
    (folder / ".complete").touch()
    return home


class Driven:
    """A process in which a script of ours drives Gemini CLI's published code. `more` are its further arguments."""

    def __init__(self, options: Options, driver: Path, *more: str) -> None:
        home = installed(options, CORE)
        files = options.scratch / "gemini-cli-files"
        environment = options.environment(
            GEMINI_CLI_HOME=str(options.scratch / "gemini-cli-home"),
            GEMINI_TELEMETRY_ENABLED="false",
            TMPDIR=str(options.scratch),
        )
        (options.scratch / "gemini-cli-home" / ".gemini").mkdir(parents=True, exist_ok=True)
        command = [node(), "--max-old-space-size=16000", str(driver), str(home), str(files), *more]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=options.scratch,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the script answers to a request. Raises `Unavailable`."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Unavailable(f"{CORE} could not be run (Node 20 or newer is needed)")
        told: dict[str, Any] = json.loads(line)
        if "error" in told:
            raise Unavailable(f"{CORE} failed: {told['error']}")
        return told


class GeminiCliCore(Driven):
    """A process that runs Gemini CLI's published functions and times them."""

    def __init__(self, options: Options) -> None:
        super().__init__(options, DRIVER, json.dumps(DESCRIPTION))

    def make(self, count: int, block: Sequence[str] = tuple(DESCRIPTION["block"])) -> str:
        """Have it make the conversation; returns the fingerprint."""
        return str(self.ask({"make": count, "block": list(block)})["fingerprint"])

    def time(self, name: str, calls: int = 1) -> Timed:
        """Time calls of `split`, `estimate`, `compress` or `cold`."""
        told = self.ask({"time": name, "calls": calls})
        return Timed(told["ms"], told["processor"], told["files"])

"""A real editor in a terminal, at whose keys a test sits.

Keys go through the terminal, as a person's do. What the editor knows is asked through files, which a timer in the
editor looks at: that types nothing, and moves nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from tests.editors.running import path_variable
from tests.support.editor_client import server_environment
from tests.support.patience import PATIENCE

SCRIPTS: Final = Path(__file__).parent / "terminal_scripts"
_ROWS: Final = 40
_COLUMNS: Final = 120
_LOOK_SECONDS: Final = 0.01


class Terminal:
    """An editor while the block runs. `asking` is put around an expression of the editor's language."""

    def __init__(self, command: Sequence[str], workspace: Path, environment: Mapping[str, str]) -> None:
        self._asked = workspace.parent / "asked"
        self._command = command
        self._workspace = workspace
        self._environment = environment
        self._printed = bytearray()

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        environment = {
            **server_environment(self._workspace.parent, **self._environment),
            "PATH": path_variable(),
            "TERM": "linux",
            "ASKED": str(self._asked),
        }
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *self._command],
            cwd=self._workspace,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, keys: str) -> None:
        """Press keys."""
        data = keys.encode()
        while data:
            data = data[os.write(self._master, data) :]
            self._drain(0)

    def ask(self, expression: str) -> Any:
        """What an expression is in the editor; a fault in it is the test's."""
        reply = self._asked.with_suffix(".reply")
        part = self._asked.with_suffix(".part")
        part.write_text(expression, "utf-8")
        part.rename(self._asked)
        self._until(f"an answer to {expression}", reply.exists)
        answer = json.loads(reply.read_text("utf-8"))
        reply.unlink()
        assert "problem" not in answer, f"{expression}: {answer['problem']}"
        return answer["value"]

    def until(self, expression: str, holds: Callable[[Any], bool] = bool) -> Any:
        """Wait until an expression's value is as it should be."""
        values: list[Any] = []

        def look() -> bool:
            values[:] = [self.ask(expression)]
            return holds(values[0])

        self._until(expression, look, lambda: repr(values)[:3_000])
        return values[0]

    def ends(self) -> None:
        """Wait until the editor has ended."""
        ends = time.monotonic() + PATIENCE
        while self._process.poll() is None:
            assert time.monotonic() < ends, f"the editor does not end: {self._screen()!r}"
            self._drain(_LOOK_SECONDS)

    def _screen(self) -> bytes:
        """What was printed last."""
        return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self._printed[-20_000:])[-1_000:]

    def _until(self, what: str, holds: Callable[[], bool], more: Callable[[], str] = str) -> None:
        ends = time.monotonic() + PATIENCE
        while not holds():
            assert self._process.poll() is None, f"the editor has ended, before {what}: {self._screen()!r}"
            assert time.monotonic() < ends, f"waited in vain for {what} {more()}: {self._screen()!r}"
            self._drain(_LOOK_SECONDS)

    def _drain(self, seconds: float) -> None:
        """Take what the editor prints, so that it never waits for us; return once there is some, or the time is up."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if ready:
            try:
                self._printed += os.read(self._master, 65_536)
            except OSError:  # it has ended
                return

"""The small workspace that the demo uses."""

from __future__ import annotations

from pathlib import Path
from typing import Final

RULE: Final = "Never retry a request that is not idempotent, and always keep the timeout under 30 seconds."

QUESTIONS: Final = (
    f"I am repairing the HTTP client of this project. {RULE} Where is a request retried?",
    "What does the backoff function do, and which numbers are in it?",
    "Write down as a task: add a test for retry_after in tests/test_client.py. What is left to do?",
)

_CLIENT: Final = '''"""A client that tries again where that can help."""

import time

from orbit.backoff import delay_before
from orbit.faults import Refused, Unavailable

IDEMPOTENT = {"GET", "HEAD", "PUT", "DELETE"}
TIMEOUT_SECONDS = 20


def fetch(session, method, url, *, attempts=4):
    """Send a request; idempotent ones are retried up to `attempts` times."""
    for attempt in range(1, attempts + 1):
        try:
            return session.send(method, url, timeout=TIMEOUT_SECONDS)
        except Unavailable as fault:
            if method not in IDEMPOTENT or attempt == attempts:
                raise
            time.sleep(delay_before(attempt, fault.retry_after))
    raise Refused(url)
'''

_BACKOFF: Final = '''"""How long to wait before the next try."""

import random

FIRST_DELAY = 0.5
LARGEST_DELAY = 8.0
JITTER = 0.2


def delay_before(attempt, retry_after=None):
    """Seconds to wait after try number `attempt`; what the server asks for wins."""
    if retry_after is not None:
        return float(retry_after)
    delay = min(LARGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1))
    return delay * (1 + random.uniform(-JITTER, JITTER))
'''

_FAULTS: Final = '''"""What can go wrong."""


class Unavailable(Exception):
    """The server is busy; `retry_after` is in seconds."""

    def __init__(self, retry_after=None):
        super().__init__("unavailable")
        self.retry_after = retry_after


class Refused(Exception):
    """The server said no."""
'''


def make_workspace(folder: Path) -> Path:
    """Write the workspace: three modules, a secret file, and an ignore file. Returns `folder`, which must not exist."""
    package = folder / "orbit"
    package.mkdir(parents=True)
    files = {
        package / "client.py": _CLIENT,
        package / "backoff.py": _BACKOFF,
        package / "faults.py": _FAULTS,
        folder / ".env": "ORBIT_TOKEN=not-for-any-model\n",
        folder / ".gitignore": "build/\n*.log\n",
        folder / "README.md": "# orbit\n\nA small HTTP client.\n",
    }
    for path, text in files.items():
        path.write_text(text, "utf-8")
    return folder


def _log_line(number: int) -> str:
    if number == 241:
        return "FAILED tests/test_client.py::test_post_is_not_retried - AssertionError: expected 1 call, got 4"
    method, seconds, line = "GET" if number % 2 else "PUT", number % 7 * 0.013, number % 22 + 1
    return f"tests/test_client.py::test_case_{number:03d}[{method}] PASSED in {seconds:.3f}s (orbit/client.py:{line})"


_LOG: Final = "\n".join(_log_line(number) for number in range(1, 401))
LOG_OUTPUT: Final = (
    f"Here is the log of `pytest -q tests/test_client.py`. Which test failed?\n{_LOG}\n1 failed, 399 passed\n"
)

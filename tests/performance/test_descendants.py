"""Which processes count as ours."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.performance.timing import descendants

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell"),
]


def test_a_child_that_another_thread_started_is_ours_too() -> None:
    started, may_end = threading.Event(), threading.Event()
    children: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        children.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        started.set()
        may_end.wait()

    thread = threading.Thread(target=start)
    thread.start()
    started.wait()
    try:
        assert children[0].pid in descendants(os.getpid())
    finally:
        children[0].kill()
        children[0].communicate()
        may_end.set()
        thread.join()


def test_a_process_that_has_ended_has_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
        assert descendants(child.pid) == []

"""Other processes of the same user cannot read the daemon's environment or memory; its children are as any other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PEEPED_AT = """
import ctypes, os, subprocess
from gemini_companion.adapters.processes.secrecy import close_to_others

def peeped_at(pid):
    look = f'for what in environ mem; do (: < /proc/{pid}/$what) 2> /dev/null && echo open || echo refused; done'
    return subprocess.run(["/bin/sh", "-c", look], capture_output=True, text=True).stdout.split()

if os.getuid() == 0:  # who may trace everybody is refused nothing
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # a change of the user has closed it already
print(*peeped_at(os.getpid()), close_to_others(), *peeped_at(os.getpid()))
print("child", *peeped_at("$$"))
"""


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
def test_a_process_of_the_same_user_reads_neither_environment_nor_memory_and_children_are_as_any_other() -> None:
    done = subprocess.run([sys.executable, "-c", _PEEPED_AT], capture_output=True, text=True)
    seen = done.stdout.splitlines()
    assert len(seen) == 2, done.stderr
    if seen[0].startswith("refused"):
        pytest.skip("this system refuses it anyway")
    assert seen == ["open open True refused refused", "child open open"]

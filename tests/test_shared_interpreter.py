"""Threads that work hold up the event loop of the real program as little as may be."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gemini_companion.__main__ import SWITCH_SECONDS
from tests.support.patience import PATIENCE


@pytest.mark.process
def test_the_program_has_its_threads_give_the_interpreter_away_soon() -> None:
    program = (
        "import sys\nfrom gemini_companion.__main__ import main\nsys.argv = ['gemini-companion', '--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(sys.getswitchinterval())"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert float(run.stdout.splitlines()[-1]) == SWITCH_SECONDS

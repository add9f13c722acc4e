"""What other processes of the same user may see of this one: nothing of its environment and its memory, on Linux."""

from __future__ import annotations

import logging
import sys
from typing import Final

logger = logging.getLogger(__name__)

_PR_SET_DUMPABLE: Final = 4
"""See prctl(2)."""


def close_to_others() -> bool:
    """Close `/proc/PID/environ`, memory and tracing of this process to others of its user; true if it is done.

    Keys stand in the environment and in memory, and a command without a sandbox runs as the same user. It holds until
    a program is executed: children do not inherit it. There is no core dump then, and a profiler needs root. Raises
    nothing; elsewhere than on Linux nothing happens.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        is_done = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
    except (OSError, AttributeError):  # a C library that has no prctl
        is_done = False
    if not is_done:
        logger.warning("Other processes of this user can read the daemon's environment and memory.")
    return is_done

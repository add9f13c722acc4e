"""A Gemini API on loopback for tests: the real SDK speaks to it over HTTP.

```python
with Emulator() as gemini:
    gemini.script("Hello.", faults.rate_limited(retry_after="2"))   # then by itself: an echo, or a snapshot when asked
    for one ...                                                              # GOOGLE_GEMINI_BASE_URL=gemini.base_url,
    any key assert gemini.requests[0].prompt == "Hi"
```

Tests never sleep: `wait_for_request` and `wait_for_hang_up` wait for what the client does; a `Gate` between the pieces
of an answer holds the emulator until the test opens it.
"""

from tests.support.emulator import faults
from tests.support.emulator.emulator import Emulator
from tests.support.emulator.errors import ApiError
from tests.support.emulator.recordings import recordings_folder
from tests.support.emulator.replies import (
    Drop,
    Pause,
    Reply,
    Trickle,
    answer,
    call,
    failure,
    grounded,
    parallel,
    responses,
    slow,
    thought,
    token_count,
)
from tests.support.emulator.requested import RecordedRequest
from tests.support.emulator.responders import SECTIONS, Summariser, asks_for_snapshot, echo, snapshot_of
from tests.support.emulator.waiting import Gate

__all__ = [
    "SECTIONS",
    "ApiError",
    "Drop",
    "Emulator",
    "Gate",
    "Pause",
    "RecordedRequest",
    "Reply",
    "Summariser",
    "Trickle",
    "answer",
    "asks_for_snapshot",
    "call",
    "echo",
    "failure",
    "faults",
    "grounded",
    "parallel",
    "recordings_folder",
    "responses",
    "slow",
    "snapshot_of",
    "thought",
    "token_count",
]

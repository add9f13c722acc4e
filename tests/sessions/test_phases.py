"""Every phase of a compression has a name for people."""

from __future__ import annotations

from typing import get_args

from gemini_companion.sessions.compression_events import PHASE_TEXTS, Phase


def test_every_phase_has_a_name_for_people() -> None:
    assert set(PHASE_TEXTS) == set(get_args(Phase))

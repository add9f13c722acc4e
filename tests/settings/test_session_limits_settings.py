"""How long and how many sessions are kept: our settings, and the meaning that Gemini CLI's have."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.settings.session_retention import DAY_MS, HOUR_MS, SessionRetention, milliseconds
from tests.support.settings_desk import Desk, only_problem

DEFAULT = SessionRetention(max_age=30 * DAY_MS, max_sessions=None, max_bytes=None, min_age=DAY_MS)


def found(desk: Desk, theirs: dict[str, Any], ours: dict[str, Any] | None = None) -> SessionRetention:
    desk.user({"general": {"sessionRetention": theirs}, "companion": {"sessions": ours or {}}})
    loaded = desk.load()
    assert loaded.problems == ()
    return loaded.settings.session_retention


def test_gemini_clis_settings_keep_their_meaning(desk: Desk) -> None:
    given = {"enabled": True, "maxAge": "2w", "maxCount": 50, "minRetention": "12h"}
    assert found(desk, given) == SessionRetention(max_age=14 * DAY_MS, max_sessions=50, min_age=12 * HOUR_MS)
    assert found(desk, {}) == DEFAULT


@pytest.mark.parametrize(
    "theirs", [{"enabled": False, "maxCount": 5}, {"maxAge": "1h", "maxCount": 5}, {"maxAge": "0d", "maxCount": 5}]
)
def test_switched_off_or_in_contradiction_with_themselves_they_delete_nothing(
    desk: Desk, theirs: dict[str, Any]
) -> None:
    kept = found(desk, theirs)
    assert (kept.max_age, kept.max_sessions) == (None, None)


def test_ours_go_before_theirs(desk: Desk) -> None:
    ours = {"retentionDays": 3, "maxSessions": 7, "maxBytes": 2_000_000}
    kept = found(desk, {"enabled": False, "maxAge": "2w", "maxCount": 50}, ours)
    assert kept == SessionRetention(max_age=3 * DAY_MS, max_sessions=7, max_bytes=2_000_000)
    assert found(desk, {"maxAge": "2w"}, {"retentionDays": 0}).max_age is None


@pytest.mark.parametrize(("key", "value"), [("maxAge", "30 days"), ("minRetention", "1y"), ("maxCount", 0)])
def test_a_value_that_is_none_is_told_and_no_session_goes_by_age_until_it_is_mended(
    desk: Desk, key: str, value: object
) -> None:
    desk.user({"general": {"sessionRetention": {key: value}}})
    loaded = desk.load()
    assert f"general.sessionRetention.{key}" in only_problem(loaded).message
    kept = loaded.settings.session_retention
    assert (kept.max_age, kept.max_sessions, kept.max_bytes) == (None, None, None)


@pytest.mark.parametrize(
    ("period", "length"),
    [
        ("1h", HOUR_MS),
        ("1d", DAY_MS),
        ("1w", 7 * DAY_MS),
        ("1m", 30 * DAY_MS),
        ("0d", None),
        ("d", None),
        ("1.5d", None),
    ],
)
def test_a_period_is_a_number_and_a_unit(period: str, length: int | None) -> None:
    assert milliseconds(period) == length

"""Which sessions leave for number and room, and when the others do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.sessions.retention import GRACE_MS, StoredSession, leaves_at, surplus
from gemini_companion.settings.session_retention import DAY_MS, SessionRetention

NOW = 100 * DAY_MS


def stored(
    name: str, *, days: float = 50, size: int = 10, is_kept: bool = False, is_open: bool = False
) -> StoredSession:
    """A session that was last written so many days ago."""
    return StoredSession(name, NOW - round(days * DAY_MS), size, is_kept, is_open)


def leaving(sessions: list[StoredSession], **limits: int) -> list[str]:
    return [one.session_id for one in surplus(sessions, SessionRetention(**limits), NOW)]


def test_those_that_were_used_least_lately_leave_until_there_are_no_more_than_are_kept() -> None:
    sessions = [stored("c", days=5), stored("a", days=20), stored("b", days=10)]
    assert leaving(sessions, max_sessions=1) == ["a", "b"]
    assert leaving(sessions, max_sessions=3) == []


def test_those_that_were_used_least_lately_leave_until_the_others_have_room() -> None:
    sessions = [stored("c", days=5, size=70), stored("a", days=20, size=5), stored("b", days=10, size=30)]
    assert leaving(sessions, max_bytes=100) == ["a"]
    assert leaving(sessions, max_bytes=99) == ["a", "b"]


def test_without_limits_all_stay() -> None:
    assert leaving([stored("a", size=2**50)] * 1000) == []


sessions_of_all_kinds = st.lists(
    st.builds(
        stored,
        st.uuids().map(str),
        days=st.floats(0, 90),
        size=st.integers(0, 1000),
        is_kept=st.booleans(),
        is_open=st.booleans(),
    ),
    max_size=12,
)
limits_of_all_kinds = st.builds(
    SessionRetention,
    max_sessions=st.none() | st.integers(1, 12),
    max_bytes=st.none() | st.integers(0, 5000),
    min_age=st.integers(0, 60).map(lambda days: days * DAY_MS),
)


@given(sessions_of_all_kinds, limits_of_all_kinds)
def test_what_is_open_kept_or_young_never_leaves_and_no_more_leaves_than_must(
    sessions: list[StoredSession], limits: SessionRetention
) -> None:
    gone = surplus(sessions, limits, NOW)
    assert not any(one.is_open or one.is_kept or one.updated_at > NOW - limits.min_age for one in gone)
    rest = [one for one in sessions if one not in gone]
    free = [one for one in rest if not (one.is_open or one.is_kept or one.updated_at > NOW - limits.min_age)]
    if free:
        assert limits.max_sessions is None or len(rest) <= limits.max_sessions
        assert limits.max_bytes is None or sum(one.size for one in rest) <= limits.max_bytes
        assert all(one.updated_at <= min(other.updated_at for other in free) for one in gone)
    if gone:
        before = [*rest, gone[-1]]
        assert (limits.max_sessions is not None and len(before) > limits.max_sessions) or (
            limits.max_bytes is not None and sum(one.size for one in before) > limits.max_bytes
        )


def test_a_session_leaves_at_its_age_and_a_week_later_at_once_for_room_and_never_if_it_is_kept() -> None:
    limits, none = SessionRetention(max_age=30 * DAY_MS), frozenset[str]()
    one = stored("a", days=10)
    assert leaves_at(one, limits, none, NOW) == NOW + 20 * DAY_MS + GRACE_MS
    assert leaves_at(one, limits, frozenset({"a"}), NOW) == NOW
    assert leaves_at(stored("a", is_kept=True), limits, none, NOW) is None
    assert leaves_at(one, SessionRetention(max_age=None), none, NOW) is None
    old_enough = SessionRetention(max_age=DAY_MS, min_age=40 * DAY_MS)
    assert leaves_at(one, old_enough, none, NOW) == NOW + 30 * DAY_MS + GRACE_MS

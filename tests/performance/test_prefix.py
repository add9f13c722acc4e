"""What a provider caches of a request stays as it is while the view only grows."""

from __future__ import annotations

from pathlib import Path

from tests.performance.prefix import Course, Sent, common, go


async def test_between_changes_of_the_view_a_request_begins_with_all_of_the_one_before(tmp_path: Path) -> None:
    course = await go(tmp_path, turns=9, compress_after=(4,), longest=20_000)
    kept = course.kept()
    assert course.compressions == 1
    assert len(kept) >= 20
    assert min(kept) >= 0.99


async def test_masks_leave_what_stands_ahead_of_them(tmp_path: Path) -> None:
    course = await go(tmp_path, turns=12, compress_after=())
    pairs = list(zip(course.sent, course.sent[1:], strict=False))
    masked = [(before.text, after.text) for before, after in pairs if before.epoch != after.epoch]
    assert masked
    heads = {text.split("\n")[0] for pair in masked for text in pair}
    assert len(heads) == 1
    shown = {text.split("</session_context>")[0] for pair in masked for text in pair}
    assert len(shown) == 1


def test_a_change_at_the_head_would_be_seen() -> None:
    course = Course(sent=[Sent("day 1, prompt", 1), Sent("day 2, prompt, answer", 1), Sent("anything", 2)])
    assert course.kept() == [4 / 13]
    assert common("", "a") == 0
    assert common("same", "same") == 4

"""What people saw of answers that were cut short: bounded, with the number of characters that were not kept."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.shown import MOST_SHOWN, Shown, joined, shown_of


def seen(length: int) -> Shown:
    shown = shown_of("x" * length, "x" * length)
    assert shown is not None
    return shown


def more(count: int) -> str:
    return f"\n\n[… {count:,} more characters came, which were not kept]"


@pytest.mark.parametrize(
    ("lengths", "count"),
    [
        ((MOST_SHOWN, 1), 3),
        ((MOST_SHOWN - 2, 5), 5),
        ((10, MOST_SHOWN + 1_234), 1_234 + 12),
        ((MOST_SHOWN + 7, 20), 27),
        ((MOST_SHOWN + 7, MOST_SHOWN + 20), MOST_SHOWN + 27),
        ((MOST_SHOWN + 7, 20, 300, MOST_SHOWN), MOST_SHOWN + 327),
    ],
)
def test_of_answers_that_are_joined_all_that_was_not_kept_is_counted(lengths: tuple[int, ...], count: int) -> None:
    whole = seen(lengths[0])
    for length in lengths[1:]:
        whole = joined(whole, seen(length))
    for text in (whole.text, whole.thoughts):
        assert text[:MOST_SHOWN].strip("x") in ("", "\n\n")
        assert text[MOST_SHOWN:] == more(count)


def test_what_has_room_is_joined_whole() -> None:
    assert joined(Shown(text="Half"), Shown(thoughts="Hm.")) == Shown(text="Half", thoughts="Hm.")
    assert joined(Shown(text="Half"), Shown(text="Once more")) == Shown(text="Half\n\nOnce more")
    assert joined(seen(10), seen(MOST_SHOWN - 12)).text[MOST_SHOWN:] == ""

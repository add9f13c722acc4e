"""Differences of texts: they give back the text, are small where little changed, and cost a bounded time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.ide_context.text_diff import patched, unified_diff
from tests.hostile.timing import cpu_seconds
from tests.support.examples import examples

texts = st.one_of(
    st.text(alphabet="ab\n-+ @", max_size=60),
    st.lists(st.sampled_from(("", "a", "b", "-x", "+y", "@@ -1,1 +1,1 @@", "\u2028", " z")), max_size=30).map(
        "\n".join
    ),
)


@settings(max_examples=examples(300), deadline=None)
@given(texts, texts, st.integers(1, 9), st.integers(1, 9))
def test_a_diff_gives_back_the_text(before: str, now: str, before_line: int, now_line: int):
    diff = unified_diff(before, now, before_line=before_line, now_line=now_line)
    assert patched(before, diff, before_line=before_line) == now
    assert (diff == "") == (before == now)


def test_changes_that_stand_apart_have_hunks_of_their_own():
    lines = [f"line {number}" for number in range(1, 101)]
    now = [*lines]
    now[9], now[89] = "ten", "ninety"
    diff = unified_diff("\n".join(lines), "\n".join(now))
    assert [line for line in diff.split("\n") if line[0] in "@+-"] == [
        "@@ -8,5 +8,5 @@",
        "-line 10",
        "+ten",
        "@@ -88,5 +88,5 @@",
        "-line 90",
        "+ninety",
    ]


@pytest.mark.parametrize(
    "diff", ["hello", "@@ -1,1 +1,1 @@", "@@ -1,1 +1,1 @@\n-b\n+c", "@@ -9,1 +9,1 @@\n-a\n+c", "@@"]
)
def test_a_diff_of_another_text_is_refused(diff: str):
    with pytest.raises(InvalidInput):
        patched("a", diff)


@settings(max_examples=examples(100), deadline=None)
@given(texts, texts)
def test_any_text_is_applied_or_refused(before: str, diff: str):
    try:
        assert isinstance(patched(before, diff), str)
    except InvalidInput:
        return


@pytest.mark.parametrize("pattern", ["same", "pairs", "shuffled"])
def test_the_worst_texts_cost_little(pattern: str):
    if pattern == "same":
        before, now = "a\n" * 100_000, "a\nb\n" * 100_000
    elif pattern == "pairs":
        before = "".join(f"x\nu{number}\n" for number in range(100))
        now = "".join(f"x\nv{number}\n" for number in range(100))
    else:
        before = "\n".join(map(str, range(100_000)))
        now = "\n".join(str(number * 7919 % 100_000) for number in range(100_000))
    assert cpu_seconds(lambda: unified_diff(before, now), enough=2.0) < 2.0

"""What was a secret before is found wherever it stands, and in halves, though few of all that are known are sought."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.vault.known import found_again, sought_lines
from gemini_companion.engine.ide_context.secret_patterns import RUN_CHARACTERS
from tests.support.examples import examples

SECRETS = [
    "ghp_Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1Pa5Ue0Xi",
    "correct horse battery staple",
    "hunter2!x",
    "a" * 30,
    "ab" * 15,
    "abcdefghijklmno" * 2 + "é",
    "é" * 40,
    RUN_CHARACTERS,
    "one line of a key, with words\nMIIEpAIBAAKCAQEA7x9Qm2Zt5Lk8MIIEpAIBAAKCAQEA\nend=",
]
LINES = [line for secret in SECRETS for line in sought_lines(secret)]


def one_by_one(text: str) -> list[tuple[int, int]]:
    """Each line sought in the whole text: its first half with what follows, its second with what stands before."""
    found: list[tuple[int, int]] = []
    for head, tail, *_ in LINES:
        line = head + tail
        start = text.find(head)
        while start >= 0:
            end = start + len(head)
            while end - start < len(line) and text[end : end + 1] == line[end - start]:
                end += 1
            found.append((start, end))
            start = text.find(head, end)
        end = text.find(tail) + len(tail) if tail and tail in text else -1
        while end >= 0:
            start = end - len(tail)
            while end - start < len(line) and start and text[start - 1] == line[-(end - start) - 1]:
                start -= 1
            found.append((start, end))
            following = text.find(tail, end)
            end = following + len(tail) if following >= 0 else -1
    return found


pieces = st.one_of(
    st.sampled_from(SECRETS),
    st.sampled_from(SECRETS).flatmap(
        lambda one: st.builds(lambda a, b: one[min(a, b) : max(a, b)], *[st.integers(0, len(one))] * 2)
    ),
    st.sampled_from(["a", "x" * 20, " ", "\n", "é", "…", "=", "\ud800"]),
    st.text(max_size=3),
)


@settings(max_examples=examples(1_000), deadline=None)
@given(st.lists(pieces, max_size=8).map("".join))
def test_what_is_found_is_what_each_line_finds_alone(text: str) -> None:
    assert [(one.start, one.end) for one in found_again(text, LINES)] == one_by_one(text)


def test_a_line_of_a_key_that_has_words_is_not_sought() -> None:
    assert [line.head + line.tail for line in sought_lines(SECRETS[-1])] == [SECRETS[-1].split("\n")[1]]


def test_a_short_secret_is_not_sought() -> None:
    assert sought_lines("hunter2") == []

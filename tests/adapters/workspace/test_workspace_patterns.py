"""The lines of ignore files: what they mean, and that no line costs much."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.workspace.patterns import MAX_LINES, MAX_SETS, MAX_WILD, Rules, TooLarge
from tests.hostile.timing import cpu_seconds
from tests.support.examples import examples


def decide(rules: Rules, parts: Sequence[str], *, is_folder: bool = False) -> bool | None:
    place = rules.top
    for name in parts[:-1]:
        place = rules.enter(place, name)
    return rules.verdict(place, parts[-1], is_folder=is_folder)


def verdict(text: str, path: str, *, is_folder: bool = False) -> bool | None:
    return decide(Rules(text), path.split("/"), is_folder=is_folder)


@pytest.mark.parametrize(
    ("line", "hidden", "not_hidden"),
    [
        ("foo", ["foo", "a/foo"], ["foo2", "foo/a"]),
        ("/foo", ["foo"], ["a/foo"]),
        ("a/foo", ["a/foo"], ["b/a/foo"]),
        ("*.py", ["a.py", ".py", "x/a.py"], ["a.pyc"]),
        ("a/*", ["a/b"], ["a", "a/b/c"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("**/b", ["b", "x/y/b"], ["b/x"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["b", "a/b/x"]),
        ("a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c"], ["a/c", "a/b"]),
        ("*", ["a", "a/b"], []),
        ("**", ["a", "a/b"], []),
        ("/*", ["a"], ["a/b"]),
        ("x**y", ["xy", "xaby"], ["x/y"]),
        ("a?c", ["abc"], ["ac", "abbc"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["ax"]),
        ("[[:digit:]x]", ["1", "x"], ["a"]),
        ("[[]", ["["], ["a"]),
        ("[*a*b*c*d]", ["a", "*"], ["e", "ad"]),
        ("[[:digit:]*]*x", ["1x", "*yx"], ["ax"]),
        ("[a&&b]", ["a", "&"], ["c"]),
        ("\\*", ["*"], ["a"]),
        ("\\#a", ["#a"], []),
        ("a\\ ", ["a "], ["a"]),
        ("a  ", ["a"], ["a  "]),
        ("a\r", ["a"], []),
        ("\ufeffa", ["a"], []),
    ],
)
def test_a_line_means_what_git_says(line: str, hidden: list[str], not_hidden: list[str]):
    assert [path for path in hidden if verdict(line, path) is not True] == []
    assert [path for path in not_hidden if verdict(line, path) is not None] == []


def test_a_slash_at_the_end_means_directories_only():
    assert verdict("a/", "a") is None
    assert verdict("a/", "a", is_folder=True) is True
    assert verdict("x/y/", "x/y", is_folder=True) is True
    assert verdict("x/y/", "x/y") is None


@pytest.mark.parametrize("text", ["", "\n\n", "# a", "/", "//", "!", "a//b", "[z-a]", "[open", "a\\", "!!", "  "])
def test_lines_without_a_meaning_hide_nothing(text: str):
    rules = Rules(text + "\n# a")
    assert [path for path in ("a", "b", "[z-a]", "open", "a/b") if decide(rules, path.split("/"))] == []


def test_a_bad_line_does_not_spoil_its_neighbours():
    assert verdict("*.x\n[z-a]*\n*.y\n", "a.y") is True


def test_the_last_line_that_matches_decides():
    assert verdict("*.log\n!a.log", "a.log") is False
    assert verdict("!a.log\n*.log", "a.log") is True
    assert verdict("*.log\n!*.log\na.log", "a.log") is True


def test_a_line_with_many_stars_means_what_it_says():
    assert verdict("*a*b*c*d*.log", "xaxbxcxdx.log") is True
    assert verdict("*a*b*c*d*.log", "xaxbxdxcx.log") is None
    assert verdict("*.log\n!*a*b*c*d*.log", "xaxbxcxdx.log") is False


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("*a" * 40 + "b", ["a" * 255]),
        ("*a*a*ab", ["a" * 255]),
        ("/".join(["*a*a*b"] * 20), ["a" * 200 + "b"] * 19 + ["a" * 255]),
        ("**/a/" * 30 + "b", ["a"] * 64),
        ("**/*a*a*b/" * 10 + "c", ["a" * 100] * 40),
        ("?" * 254 + "*b", ["a" * 255]),
        ("[a]*" * 60 + "b", ["a" * 255]),
    ],
)
def test_hostile_patterns_are_answered(line: str, parts: list[str]):
    """With plain backtracking each of these takes longer than the suite may."""
    assert decide(Rules(line), parts) is None


@pytest.mark.parametrize("piece", ["[", "*", "\\", "!", "/", " ", "\\ ", "[:alpha:]", "[[:", "[a", "**/", "a"])
def test_a_hostile_ignore_file_is_read_or_refused(piece: str):
    """A mebibyte, the most that is read of one; quadratic work on it would take hours."""
    size = 1 << 20
    for text in (piece * (size // len(piece)), (piece * 100 + "\n") * (size // (100 * len(piece) + 1))):
        with suppress(TooLarge):
            decide(Rules(text), ["a"])


@pytest.mark.parametrize(
    "line", ["a*a*a*b{}", "*a*a*a*a*a*a*b{}", "?*?*?*{}", "[ab]*[ac]*[!d]*{}", "**/*a*a{}/**/b", "a**a**a{}/c"]
)
def test_thousands_of_hostile_lines_cost_milliseconds_for_each_name(line: str):
    """What took minutes in one call that could not be interrupted: 3,000 lines, and a name of 255 letters."""
    rules = Rules("\n".join(line.format(number) for number in range(3_000)))
    assert cpu_seconds(lambda: decide(rules, ["a" * 255]), enough=0.25) < 0.25


def test_the_worst_file_that_is_read_costs_milliseconds_for_each_name():
    name = "".join(map(chr, range(0x4E00, 0x4E00 + 255)))
    sets = [f"[{chr(0x4E00 + n)}-{chr(0x4F00 + n)}]" for n in range(MAX_SETS - 1)]
    lines = [f"*{sets[n % len(sets)]}*?*{sets[-(n % len(sets))]}*b" for n in range(MAX_WILD // 8)]
    rules = Rules("\n".join(lines))
    assert decide(rules, [name]) is None
    assert cpu_seconds(lambda: decide(rules, [name]), enough=0.25) < 0.25


def test_a_file_with_too_many_lines_or_wildcards_is_refused():
    with pytest.raises(TooLarge, match="lines"):
        Rules("a\n" * MAX_LINES)
    with pytest.raises(TooLarge, match="wildcards"):
        Rules(("*" + "a" * 100 + "\n") * (MAX_WILD // 100))
    with pytest.raises(TooLarge, match="sets"):
        Rules("\n".join(f"[{chr(0x4E00 + n)}]" for n in range(MAX_SETS + 1)))
    assert verdict("a\n" * (MAX_LINES - 1), "a") is True


lines = st.text(alphabet="ab*?/!#[]-\\^ .\r\n", max_size=40)


@settings(max_examples=examples(100), deadline=None)
@given(lines | st.text(max_size=40), st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4), st.booleans())
def test_any_text_makes_rules_and_any_path_gets_a_verdict(text: str, parts: list[str], is_folder: bool):
    assert decide(Rules(text), parts, is_folder=is_folder) in (None, True, False)

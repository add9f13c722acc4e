"""The lines of ignore files: what they mean, and that no line costs much."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.workspace.patterns import Rules


def verdict(text: str, path: str, *, is_folder: bool = False) -> bool | None:
    return Rules(text).verdict(path.split("/"), is_folder=is_folder)


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
    assert [
        path for path in ("a", "b", "[z-a]", "open", "a/b") if rules.verdict(path.split("/"), is_folder=False)
    ] == []


def test_a_bad_line_does_not_spoil_its_neighbours():
    assert verdict("*.x\n[z-a]*\n*.y\n", "a.y") is True


def test_the_last_line_that_matches_decides():
    assert verdict("*.log\n!a.log", "a.log") is False
    assert verdict("!a.log\n*.log", "a.log") is True
    assert verdict("*.log\n!*.log\na.log", "a.log") is True


def test_a_line_with_too_many_stars_hides_at_least_what_it_says_and_never_takes_back_in():
    assert verdict("*a*b*c*d*.log", "xaxbxcxdx.log") is True
    assert verdict("*.log\n!*a*b*c*d*.log", "xaxbxcxdx.log") is True


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
    assert Rules(line).verdict(parts, is_folder=False) in (None, True)


@pytest.mark.parametrize("piece", ["[", "*", "\\", "!", "/", "[:alpha:]", "[a", "**/"])
def test_a_hostile_ignore_file_is_read(piece: str):
    """A mebibyte, the most that is read of one; quadratic work on it would take hours."""
    size = 1 << 20
    for text in (piece * (size // len(piece)), (piece * 100 + "\n") * (size // (100 * len(piece) + 1))):
        Rules(text).verdict(["a"], is_folder=False)


lines = st.text(alphabet="ab*?/!#[]-\\^ .\r\n", max_size=40)


@settings(max_examples=100, deadline=None)
@given(lines | st.text(max_size=40), st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4), st.booleans())
def test_any_text_makes_rules_and_any_path_gets_a_verdict(text: str, parts: list[str], is_folder: bool):
    assert Rules(text).verdict(parts, is_folder=is_folder) in (None, True, False)

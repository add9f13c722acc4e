"""Paths are found word for word, wherever they stand, and told from what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.paths import LONGEST, paths_in, paths_of_argument
from tests.engine.facts.fact_sources import texts


def certain(text: str) -> set[str]:
    return set(paths_in(text))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("see /etc/hosts.", "/etc/hosts"),
        ("in src/app/server.py:12:5: error", "src/app/server.py"),
        ("(./run.sh)", "./run.sh"),
        ("../lib/x.rs,", "../lib/x.rs"),
        ("open ~/.bashrc", "~/.bashrc"),
        ("`fields.py` is", "fields.py"),
        ('File "/pkg/data set.py", line 3', "/pkg/data set.py"),
        ("docs/  src/", "docs/"),
        ("--config=conf/app.yml", "conf/app.yml"),
        ("-I/usr/include", "/usr/include"),
        (r"in C:\Users\me\x.py now", r"C:\Users\me\x.py"),
        ("C:/project/a.txt", "C:/project/a.txt"),
        (r"\\srv\share\a.txt", r"\\srv\share\a.txt"),
        (r"src\app\main.py", r"src\app\main.py"),
        ("設定はsrc/app.pyにあります", "src/app.py"),
        ("edit README.md and LICENSE", "LICENSE"),
        ("the Makefile says", "Makefile"),
        ("a .gitignore file", ".gitignore"),
        ("/home/josé/naïve.py", "/home/josé/naïve.py"),
        ("--- a/src/x.py", "a/src/x.py"),
        ("src/a.py#L10", "src/a.py"),
    ],
)
def test_a_path_is_found(text: str, path: str):
    assert path in certain(text)


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "he/she",
        "1/2",
        "12/24/2023",
        "</div>",
        "<br/>",
        "a / b",
        "e.g. this",
        "me@example.com",
        "v1.2.3",
        "x.items()",
        "self.config",
        "//",
        "s/a/b/g",
        "the start/end markers",
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN">',
        "console.log(x)",
        "n/a",
    ],
)
def test_what_is_no_path_is_not_taken_for_one(text: str):
    assert certain(text) == set()


def test_an_address_is_not_looked_into():
    assert certain("see https://example.com/a/b.py?x=/etc/hosts and src/c.py") == {"src/c.py"}


def test_what_is_too_long_is_no_path():
    assert certain(f"/{'a/' * (LONGEST // 2)}b.py") == set()
    assert list(paths_of_argument("path", "a" * (LONGEST + 1))) == []


def test_an_argument_that_is_called_a_path_is_one_whatever_it_looks_like():
    assert list(paths_of_argument("file_path", "my notes")) == ["my notes"]
    assert list(paths_of_argument("query", "my notes")) == []


@given(texts)
def test_every_path_stands_in_the_text_word_for_word(text: str):
    for path in paths_in(text):
        assert path
        assert path in text
        assert len(path) <= LONGEST


@given(
    st.lists(st.sampled_from(("src", "app", "a-b", "x_1", "lib")), min_size=1, max_size=5),
    st.sampled_from(("py", "ts", "md", "json")),
)
def test_a_relative_path_is_found_between_any_punctuation(components: list[str], extension: str):
    path = f"{'/'.join(components)}.{extension}"
    for before, after in (
        ("", ""),
        ("(", ")"),
        ('"', '"'),
        ("`", "`"),
        (" ", "."),
        ("\n", "\n"),
        ("=", ","),
        ("は", "を"),
        ("[", ":12]"),
    ):
        assert path in certain(f"{before}{path}{after}")

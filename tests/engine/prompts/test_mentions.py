"""`@path` in a person's words."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gemini_companion.engine.prompts.mentions import MAX_MENTIONS, MAX_READ, mentions_in, places_in


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("@src/a.py", "src/a.py"),
        ("what does @src/a.py do?", "src/a.py"),
        ("two\n@a\tlines", "a"),
        ("(@a.py", "a.py"),
        ("「@a.py", "a.py"),
        ("[@/w/a.py]", "/w/a.py]"),
        ("@my\\ notes/to\\ do.md now", "my notes/to do.md"),
        ('@"my notes/to do.md", please', "my notes/to do.md"),
        ("@src\\a.py", "src\\a.py"),
        ("@@types/a.ts", "@types/a.ts"),
        ("@日本語/メモ.md", "日本語/メモ.md"),
        ("@./", "./"),
    ],
)
def test_a_mention_is_an_at_sign_at_the_beginning_of_a_word_and_a_path_behind_it(text: str, first: str):
    (mention,) = mentions_in(text)
    assert mention[0] == first


@pytest.mark.parametrize(
    "text", ["", "@", "@ a", "me@example.org", "a@b/c.py", "@...", "@.", "price@", '@""', "x='@a'", "`@a`"]
)
def test_what_only_looks_like_one_is_none(text: str):
    assert mentions_in(text) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("see @a.py.", ("a.py.", "a.py")),
        ("see @a.py?!", ("a.py?!", "a.py?", "a.py")),
        ("(see @a.py).", ("a.py).", "a.py)", "a.py")),
        ("@a.py。", ("a.py。", "a.py")),
        ("@a\\ b\\).", ("a b).", "a b)", "a b")),
        ('@"a.py."', ("a.py.",)),
    ],
)
def test_what_ends_a_sentence_may_belong_to_the_path_or_not(text: str, meant: tuple[str, ...]):
    assert mentions_in(text) == [meant]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("请看@src/app.py 文件", "src/app.py"),
        ("見て、@src/app.py を", "src/app.py"),
        ("fix:@src/app.py", "src/app.py"),
        ('"@src/app.py"', "src/app.py"),
        ("**@src/app.py**", "src/app.py"),
        ("请看 @src/app.py，然后修改", "src/app.py"),
        ("「@src/app.py」を見て", "src/app.py"),
        ("@src/app.pyを直して", "src/app.py"),
        ("看 @说明.md，好吗", "说明.md"),
        ("看@文档/说明.md。谢谢", "文档/说明.md"),
        ("@src/日本語.mdを直して", "src/日本語.md"),
        ("@srcを見て", "src"),
        ("여기@src/app.py를 봐", "src/app.py"),
    ],
)
def test_where_words_have_no_blanks_between_them_a_mention_begins_and_ends_all_the_same(text: str, path: str):
    (mention,) = places_in(text)
    assert path in mention.paths
    assert mention.written.startswith("@")


@pytest.mark.parametrize("text", ['{"@types/node": "1"}', "**@pytest/mark", "remote:@scope/name.js"])
def test_what_code_has_too_is_not_missed_where_there_is_no_such_file(text: str):
    assert [place.looks_like_a_path for place in places_in(text)] == [False]


def test_each_mention_is_found_once_in_order_and_only_so_many():
    assert [mention[0] for mention in mentions_in("@b @a @b @c")] == ["b", "a", "c"]
    assert len(mentions_in(" ".join(f"@{number}" for number in range(1_000)))) == MAX_MENTIONS


def test_of_a_text_that_is_mostly_pasted_the_beginning_and_the_end_are_read():
    pasted = "log " * MAX_READ
    assert [mention[0] for mention in mentions_in(f"@first {pasted} @middle {pasted} @last")] == ["first", "last"]


@example('@"."')
@given(st.text(st.sampled_from('@ab/.\\ "(\n)'), max_size=60))
def test_any_text_is_read_and_no_mention_is_empty(text: str):
    for mention in mentions_in(text):
        assert mention
        assert all(path.strip(".") for path in mention)


def test_a_hostile_text_takes_no_longer_than_any_other():
    assert len(mentions_in("@" + "\\" * 200_000)) <= 1
    assert len(mentions_in("@" * 200_000)) <= 1
    assert len(mentions_in('@"' * 100_000)) <= 1

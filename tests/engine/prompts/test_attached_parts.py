"""Attached files as parts of a prompt: bounded, fenced, and told from what a person wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.ide_context.message import read_message
from gemini_companion.engine.prompts.attachments import (
    CUT,
    MAX_LINE,
    MAX_LINES,
    Excerpt,
    as_read,
    excerpt,
    file_part,
    folder_part,
    parts_apart,
    read_attachment,
)
from tests.engine.facts.fact_sources import extract_facts

HOSTILE = st.lists(
    st.sampled_from(["```", "````", "\n", "The user attached the file", '"', "\\", "a", "日", "[masked: key]", ":"]),
    max_size=12,
).map("".join)


def whole(text: str) -> Excerpt:
    return excerpt(text, 1_000_000)


@given(path=HOSTILE, text=HOSTILE)
def test_a_file_is_read_back_as_it_was_attached_whatever_its_text_and_its_name(path: str, text: str):
    shown = whole(text)
    read = read_attachment(file_part(path, shown))
    assert read is not None
    assert (read.kind, read.path, read.text) == ("file", path, shown.text)


@given(HOSTILE, HOSTILE)
def test_a_folder_is_read_back_too(path: str, names: str):
    read = read_attachment(folder_part(path, names))
    assert read is not None
    assert (read.kind, read.path, read.text) == ("folder", path, names)


@given(HOSTILE)
def test_no_text_closes_its_fence(text: str):
    said = file_part("/w/a.md", whole(text))["text"]
    opening = said.partition("\n")[2].partition("\n")[0].removesuffix("md")
    assert not whole(text).lines or said.endswith("\n" + opening)
    assert opening not in whole(text).text or not opening


@pytest.mark.parametrize("text", ["", "{}", '{"activeFile": null}'])
def test_an_attached_json_file_is_never_taken_for_the_editors_state(text: str):
    with pytest.raises(InvalidInput):
        read_message(file_part("/w/a.json", whole(text))["text"])


@given(st.text(st.sampled_from("ab\n"), max_size=50), st.integers(0, 60))
def test_an_excerpt_is_the_first_whole_lines_that_fit(text: str, budget: int):
    shown = excerpt(text, budget)
    lines = text.removesuffix("\n").split("\n") if text else []
    taken = [sum(len(line) + 1 for line in lines[: count + 1]) for count in range(len(lines))]
    fitting = sum(room <= budget for room in taken)
    assert (shown.text, shown.lines) == ("\n".join(lines[:fitting]), fitting)
    assert shown.truncated == (fitting < len(lines))


def test_long_lines_and_many_lines_are_cut_and_that_is_said():
    wide = whole("x" * (MAX_LINE + 1))
    assert (wide.text, wide.truncated) == ("x" * MAX_LINE + CUT, True)
    long = whole("x\n" * (MAX_LINES + 1))
    assert (long.lines, long.truncated) == (MAX_LINES, True)
    assert f"lines 1 to {MAX_LINES}; it was cut and goes on" in file_part("/w/a", long)["text"]
    exact = whole("x\n" * MAX_LINES)
    assert (exact.lines, exact.truncated) == (MAX_LINES, False)


def test_an_empty_file_is_said_to_be_empty():
    assert file_part("/w/a.py", whole(""))["text"].endswith("which is empty.")


def test_a_prompts_own_parts_are_told_from_its_attachments():
    own, attached = {"text": "explain @a.py"}, file_part("/w/a.py", whole("x = 1"))
    assert parts_apart(Content(role="user", parts=(own, attached))) == ((own,), (attached,))


def test_a_rule_in_an_attached_file_is_not_taken_for_the_users():
    rule = "Never delete the production database."
    content = Content(
        role="user", parts=({"text": "Always answer in French. See @rules.md"}, file_part("/w/rules.md", whole(rule)))
    )
    facts = extract_facts([FactSource(index, part, index) for index, part in enumerate(as_read(content))])
    directives = [fact.text for fact in facts if fact.kind == "directive"]
    assert any("French" in text for text in directives)
    assert not any("production" in text for text in directives)
    assert any("/w/rules.md" in fact.text for fact in facts if fact.kind == "path")


@pytest.mark.parametrize(
    "content", [user_text("hello"), model_text("hello"), Content(role="user", parts=({"text": "a"}, {"text": "b"}))]
)
def test_a_content_without_attachments_comes_back_as_it_is(content: Content):
    assert as_read(content) == (content,)

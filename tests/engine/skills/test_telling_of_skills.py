"""What a model is told of skills, and what their files may say."""

import pytest

from gemini_companion.engine.skills.front_matter import skill_of
from gemini_companion.engine.skills.telling import MAX_BODY, MAX_LISTED, activated_skill, is_whole_in, skills_section


def test_the_section_is_bounded_and_counts_what_is_left_out():
    many = [(f"skill-{number:04d}", "d" * 1_000) for number in range(1_000)]
    section = skills_section(many)
    assert len(section) < MAX_LISTED + 1_000
    listed = section.count("\n- skill-")
    assert f"- and {1_000 - listed} more" in section
    assert section == skills_section(many)
    assert skills_section([]) == ""


def test_no_text_of_a_skill_ends_its_frame():
    text = activated_skill('a"b', "x</instructions></activated_skill>y", ["</available_resources>"], more=2)
    assert text.count("</activated_skill>") == text.count("</instructions>") == 1
    assert text.startswith('<activated_skill name="a&quot;b">')
    assert "- and 2 more" in text
    assert is_whole_in(text, 'a"b')
    assert not is_whole_in(text, "a")
    assert not is_whole_in(text[:-30], 'a"b')


def test_a_long_body_is_cut_and_says_how_to_get_the_rest():
    text = activated_skill("a", "x" * (MAX_BODY + 1), [])
    assert len(text) < MAX_BODY + 500
    assert "SKILL.md has the rest" in text


@pytest.mark.parametrize(
    ("front", "description"),
    [
        ("description: plain", "plain"),
        ("description: 'it''s'", "it's"),
        ('description: "a \\"b\\" c"', 'a "b" c'),
        ("description: use when: x", "use when: x"),
        ("description: |\n  one\n  two", "one two"),
        ("description: >-\n  one\n\n  two", "one two"),
        ("description: a # comment", "a"),
        ("license: MIT\ndescription:\n  below\nmetadata:\n  name: other", "below"),
    ],
)
def test_front_matter_is_read_as_such_files_write_it(front: str, description: str):
    skill = skill_of(f"---\nname: n\n{front}\n---\nBody\n---\nmore\n")
    assert (skill.name, skill.description, skill.body) == ("n", description, "Body\n---\nmore")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# x", "begin"),
        ("---\nname: n\ndescription: d", "no end"),
        ("---\ndescription: d\n---", "no name"),
        ("---\nname: n\n---", "no description"),
        (f"---\nname: {'n' * 65}\ndescription: d\n---", "more than 64"),
    ],
)
def test_what_is_wrong_is_said(text: str, fault: str):
    with pytest.raises(ValueError, match=fault):
        skill_of(text)

"""The system instruction is made of sections that can be left out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.prompts.system import SECTIONS, system_instruction

WHOLE = "\n\n".join(SECTIONS.values())
names = st.sampled_from(sorted(SECTIONS))


def test_every_section_stands_in_it_by_default_in_order():
    assert system_instruction({}, {}) == WHOLE


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("value", ["0", "false", " FALSE "])
def test_each_section_can_be_turned_off_from_the_environment(name: str, value: str):
    text = system_instruction({}, {f"GEMINI_PROMPT_{name.upper()}": value})
    assert SECTIONS[name] not in text
    assert all(other in text for section, other in SECTIONS.items() if section != name)


@given(st.dictionaries(names, st.booleans()), st.dictionaries(names, st.sampled_from(["0", "1", "false", "true", ""])))
def test_the_environment_goes_over_the_settings(sections: dict[str, bool], said: dict[str, str]):
    text = system_instruction(sections, {f"GEMINI_PROMPT_{name.upper()}": value for name, value in said.items()})
    for name, section in SECTIONS.items():
        wanted = {"0": False, "false": False, "1": True, "true": True}.get(said.get(name, ""), sections.get(name, True))
        assert (section in text) is wanted


def test_with_every_section_off_it_is_empty():
    assert system_instruction(dict.fromkeys(SECTIONS, False), {}) == ""


@pytest.mark.parametrize("text", ["", "Be brief.\n", WHOLE[:40]])
def test_a_replacement_stands_in_place_of_all_of_it_word_for_word(text: str):
    assert system_instruction({}, {"GEMINI_PROMPT_STYLE": "1"}, replacement=text) == text


def test_it_explains_the_snapshot_and_that_its_constraints_and_pins_bind():
    notice = SECTIONS["compression_notice"]
    assert "<state_snapshot>" in notice
    assert "<active_constraints>" in notice
    assert "pinned" in notice


def test_it_promises_no_tools():
    assert not re.search(r"\b(tool|read_file|run_shell_command|you can (open|run|edit|search))\b", WHOLE, re.IGNORECASE)


def test_it_stays_small_beside_a_conversation():
    assert len(WHOLE) < 6_000

"""A file that replaces the system prompt may have Gemini CLI's placeholders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.prompts.replacement import filled_in

TOOLS = ("read_file", "replace")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Use these:\n${AvailableTools}", "Use these:\n- read_file\n- replace"),
        ("Read with ${read_file_ToolName}.", "Read with read_file."),
        ("No ${write_file_ToolName} here.", "No ${write_file_ToolName} here."),
        ("Skills: ${AgentSkills}.", "Skills: ."),
        ("Agents: ${SubAgents}.", "Agents: ."),
        ("${HOME} ${ AvailableTools } $AvailableTools", "${HOME} ${ AvailableTools } $AvailableTools"),
    ],
)
def test_each_placeholder_means_what_it_means_there(text: str, filled: str):
    assert filled_in(text, TOOLS) == filled


def test_without_tools_the_list_says_so():
    assert "no tools" in filled_in("${AvailableTools}", ())


def test_subagents_are_listed_and_what_they_say_is_not_searched_again():
    text = filled_in("${SubAgents}", TOOLS, [("looker", "Looks ${AvailableTools} up.")])
    assert "looker" in text
    assert "${AvailableTools}" in text


@given(st.text().filter(lambda text: "${" not in text))
def test_a_text_without_placeholders_stays_letter_for_letter(text: str):
    assert filled_in(text, TOOLS) == text


def test_skills_stand_where_the_file_wants_them():
    assert filled_in("${AgentSkills}", TOOLS, skills="# Skills\n- letters") == "# Skills\n- letters"

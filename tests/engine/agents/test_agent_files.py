"""Files that define subagents: what they may say, and what is told of those that define none."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.agents.builtin import BUILT_IN
from gemini_companion.engine.agents.definition import AgentDefinition, AgentFault, parse_agent

TOOLS = [("read_file",), ("grep_search", "search_file_content"), ("write_file",)]


def parsed(text: str) -> AgentDefinition:
    return parse_agent(text, path="/home/me/.gemini/agents/x.md", source="user", tools=TOOLS)


def test_the_text_behind_the_fields_is_the_system_prompt() -> None:
    agent = parsed(
        "---\nname: reviewer\ndescription: >\n  Looks at\n  changes.\n---\n\nYou review.\n---\nStill text.\n"
    )
    assert agent.prompt == "You review.\n---\nStill text."
    assert (agent.description, agent.model, agent.max_turns, agent.timeout_minutes) == ("Looks at changes.", "", 30, 10)
    assert agent.tools is None


def test_what_gemini_cli_lets_a_file_say_is_read() -> None:
    agent = parsed(
        "\ufeff---\r\nname: a_b-1\r\ndescription: d\r\ndisplay_name: A B\r\nkind: local\r\ntools:\r\n  - read_file\r\n"
        "  - '*_search'\r\nmodel: gemini-3-pro\r\ntemperature: 0.5\r\nmax_turns: 4\r\ntimeout_mins: 2\r\n---\r\nWork.\r\n"
    )
    assert (agent.title, agent.model, agent.temperature, agent.max_turns) == ("A B", "gemini-3-pro", 0.5, 4)
    assert agent.has_tool("read_file")
    assert agent.has_tool("grep_search", ("search_file_content",))
    assert not agent.has_tool("write_file")


def test_tools_may_be_one_text_with_commas() -> None:
    assert parsed("---\nname: a\ndescription: d\ntools: read_file, grep_search\n---\nx").tools == (
        "read_file",
        "grep_search",
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("You review.", 1, "three dashes"),
        ("---\nname: a\n", 1, "second line"),
        ("---\nname: a\ndescription: d\n---\n", 5, "system prompt"),
        ("---\nname: A\ndescription: d\n---\nx", 2, "lower-case"),
        ("---\nname: a\n---\nx", 1, "description"),
        ("---\nname: a\ndescription: d\ntools: [fly]\n---\nx", 4, "fly"),
        ("---\nname: a\ndescription: d\ncolour: red\n---\nx", 4, "colour"),
        ("---\nname: a\ndescription: d\nmax_turns: 0\n---\nx", 4, "max_turns"),
        ("---\nname: a\ndescription: d\nmax_turns: many\n---\nx", 4, "int"),
        ("---\nname: a\ndescription: d\ntemperature: 3\n---\nx", 4, "temperature"),
        ("---\nname: a\ndescription: d\nkind: remote\n---\nx", 4, "Remote"),
        ("---\nname: a\ndescription: [\n---\nx", 3, "YAML"),
        ("---\nname: !!python/object/apply:os.system [id]\n---\nx", 2, "YAML"),
        ("---\n- a\n---\nx", 2, "names with values"),
        ("---\nname: a\ndescription: " + "d" * 20_000 + "\n---\nx", 1, "characters"),
    ],
)
def test_a_file_that_defines_none_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(AgentFault) as told:
        parsed(text)
    assert words in told.value.message
    assert told.value.line == line


@given(st.text(max_size=400) | st.text(max_size=200).map(lambda text: f"---\nname: a\n{text}\n---\nbody"))
def test_whatever_a_file_holds_it_is_an_agent_or_told_of(text: str) -> None:
    with contextlib.suppress(AgentFault):
        agent = parsed(text)
        assert agent.name
        assert agent.prompt


def test_those_that_are_always_there_have_no_tool_that_calls_agents() -> None:
    assert [one.name for one in BUILT_IN] == ["codebase_investigator", "generalist"]
    assert not any(one.has_tool("invoke_agent") for one in BUILT_IN if one.tools is not None)


def test_fields_that_stand_for_ever_more_data_are_not_read() -> None:
    levels = "\n".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 200))
    with pytest.raises(AgentFault, match="Anchors") as told:
        parsed(f"---\na0: &a0 {{x: 1}}\n{levels}\n---\nx")
    assert told.value.line == 2


def test_a_number_too_long_to_be_shown_is_no_field() -> None:
    with pytest.raises(AgentFault):
        parsed(f"---\n? 0x{'F' * 5000}\n: 1\n---\nx")

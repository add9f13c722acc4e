"""Names of servers' tools: valid, bounded, and of one tool alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.mcp.names import MAX_NAME, every_tool_of, server_part, tool_name

VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,62}")


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [("git", "git_status", "mcp_git_git_status"), ("time", "convert-time", "mcp_time_convert-time")],
)
def test_plain_names_are_taken_as_they_are(server: str, tool: str, name: str) -> None:
    assert tool_name(server, tool) == name


def test_a_servers_part_ends_at_the_first_underscore_so_that_no_other_server_can_have_its_names() -> None:
    assert tool_name("a", "b_c") == "mcp_a_b_c"
    assert tool_name("a_b", "c").startswith("mcp_a-b.")
    assert every_tool_of("a_b") != every_tool_of("a-b") != every_tool_of("a b")
    assert tool_name("a", "x y") != tool_name("a", "x-y")


@given(st.text(min_size=1), st.text(min_size=1))
def test_every_name_is_valid_and_bounded(server: str, tool: str) -> None:
    name = tool_name(server, tool)
    assert VALID.fullmatch(name)
    assert len(name) <= MAX_NAME
    assert "_" not in server_part(server)


@given(st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), unique=True, max_size=20))
def test_different_tools_have_different_names(tools: list[tuple[str, str]]) -> None:
    assert len({tool_name(server, tool) for server, tool in tools}) == len(tools)


def test_a_literal_name_cannot_be_that_of_a_changed_one() -> None:
    changed = server_part("a_b")
    assert server_part(changed) != changed

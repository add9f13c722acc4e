"""What a model calls a tool's arguments, and what it is told of those that a tool does not have."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.sessions.tools.background import Commands
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import ToolRefusal
from gemini_companion.wiring.tools import build_tools


@pytest.fixture
def registry() -> ToolRegistry:
    return build_tools(Commands())


@pytest.mark.parametrize(
    ("name", "args", "own"),
    [
        ("read_file", {"absolute_path": "a"}, {"file_path": "a"}),
        ("read_file", {"path": "a"}, {"file_path": "a"}),
        ("read_file", {"filePath": "a", "startLine": 2}, {"file_path": "a", "start_line": 2}),
        ("list_directory", {"path": "a"}, {"dir_path": "a"}),
        ("glob", {"pattern": "*", "path": "a"}, {"pattern": "*", "dir_path": "a"}),
        ("grep_search", {"pattern": "x", "include": "*.py"}, {"pattern": "x", "include_pattern": "*.py"}),
        ("read_many_files", {"paths": ["a"]}, {"include": ["a"]}),
        ("run_shell_command", {"command": "ls", "directory": "a"}, {"command": "ls", "dir_path": "a"}),
    ],
)
def test_names_that_other_tools_have_are_understood(
    registry: ToolRegistry, name: str, args: dict[str, Any], own: dict[str, Any]
) -> None:
    tool = registry.find(name)
    assert registry.understood(tool, args) == (own, "")
    assert registry.decode(tool, args) == registry.decode(tool, own)


def test_an_argument_that_a_tool_does_not_have_is_named_and_takes_nobodys_place(registry: ToolRegistry) -> None:
    tool = registry.find("read_file")
    args, told = registry.understood(tool, {"file_path": "a", "path": "b", "depth": 1})
    assert registry.decode(tool, args).file_path == "a"
    assert told == (
        "read_file has no argument 'path', 'depth', so that did not count. It has: end_line, file_path, start_line."
    )
    with pytest.raises(ToolRefusal, match="file_path"):
        registry.decode(tool, {"depth": 1})

"""The tools that run commands."""

from __future__ import annotations

from typing import Any

from gemini_companion.tools.shell.background import ReadBackgroundOutput, StopBackgroundProcess
from gemini_companion.tools.shell.commandbook import CommandBook
from gemini_companion.tools.shell.run_shell_command import RunShellCommand
from gemini_companion.tools.tool import Tool


def shell_tools(book: CommandBook) -> tuple[Tool[Any], ...]:
    """All of them, in the order in which the model is told of them; they keep their commands in one book."""
    return (RunShellCommand(book), ReadBackgroundOutput(book), StopBackgroundProcess(book))

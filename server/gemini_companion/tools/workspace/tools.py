"""The tools for the files of the workspace."""

from __future__ import annotations

from typing import Any

from gemini_companion.tools.tool import Tool
from gemini_companion.tools.workspace.diagnostics import Diagnostics
from gemini_companion.tools.workspace.glob import GlobFiles
from gemini_companion.tools.workspace.grep_search import GrepSearch
from gemini_companion.tools.workspace.list_directory import ListDirectory
from gemini_companion.tools.workspace.loading import Seen
from gemini_companion.tools.workspace.read_file import ReadFile
from gemini_companion.tools.workspace.read_many_files import ReadManyFiles
from gemini_companion.tools.workspace.replace import Replace
from gemini_companion.tools.workspace.write_file import WriteFile


def workspace_tools() -> tuple[Tool[Any], ...]:
    """The tools, made for one daemon: they remember what each session's model was shown of files."""
    seen = Seen()
    return (
        ReadFile(seen),
        ReadManyFiles(seen),
        ListDirectory(),
        GlobFiles(),
        GrepSearch(),
        WriteFile(seen),
        Replace(seen),
        Diagnostics(),
    )

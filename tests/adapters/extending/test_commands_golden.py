"""Gemini CLI's own answers about command files and skills, case by case, on real files (`COMPANION_GOLDEN`).

How faults are worded is not compared. Where ours differ on purpose:

1. Where a project and the person have a command of one name, the plain name is the project's, as Gemini CLI's own
  documents say; there it is gone. `user.x` and `workspace.x` are the same in both.
2. Nothing that a file or a command brings in is read again. In Gemini CLI `!{…}` in a *file's* text runs, and a brace
  there breaks the command.
3. What was typed always goes to the model, ahead of what it stands for; Gemini CLI appends it, and only where there are
  arguments and no `{{args}}`.
4. `{{args}}` counts in `@{…}` too: the person names the file. In Gemini CLI it is looked up as it is written.
5. A file stands in a fence, with its path and its lines; a folder as the names below it; what is no text is withheld,
  as it is for mentions. What is not brought in leaves a line that says so, where Gemini CLI leaves the `@{…}` or nothing.
6. A command that fails says so in the words of `run_shell_command`.
7. A file with braces that do not close is skipped, and told of with its line, before anybody types it.
"""

import asyncio
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.extending.command_files import DiskCommandFiles
from gemini_companion.adapters.extending.skill_files import DiskSkillFiles
from gemini_companion.engine.commands.arguments import Typed
from gemini_companion.engine.commands.naming import Named, resolved
from gemini_companion.sessions.commands.custom import CustomCommands
from gemini_companion.sessions.commands.files import FileWish
from tests.support.golden import golden_cases
from tests.support.patience import PATIENCE

PLAIN_NAMES = {"cmd_conflict_user_project": {"a": "workspace.a"}}
"""Difference 1: names that only ours have, and which of Gemini CLI's is the same command."""


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("case", golden_cases("peer_context", "loadCommands"))
async def test_commands_have_the_names_that_gemini_cli_gives_them(case: dict[str, Any], tmp_path: Path) -> None:
    given, home, workspace = case["input"], tmp_path / "home", tmp_path / "ws"
    write(home / ".gemini" / "commands", given.get("user", {}))
    write(workspace / ".gemini" / "commands", given.get("project", {}))
    for extension in given.get("extensions", []):
        folder = home / ".gemini" / "extensions" / extension["name"]
        write(folder / "commands", extension.get("commands", {"x.toml": 'prompt = "e"'}))
        write(folder, {"gemini-extension.json": f'{{"name": "{extension["name"]}", "version": "1"}}'})
        if extension.get("isActive") is False:
            off = f'{{"{extension["name"]}": {{"overrides": ["!/*"]}}}}'
            write(folder.parent, {"extension-enablement.json": off})
    wish = FileWish(folders=(str(workspace),), trusted=given.get("trusted", True))
    files = (await DiskCommandFiles(str(home)).read(wish)).files
    built_in = [Named(name, "builtIn") for name in given.get("builtin", []) if name != "help"]
    names = resolved([*built_in, *(Named(file.name, file.scope, file.owner) for file in files)])
    ours = {
        name: (file.scope, file.description)
        for file, own in zip(files, names[len(built_in) :], strict=True)
        for name in own
    }
    kinds = {"user-file": "user", "workspace-file": "workspace", "extension-file": "extension"}
    theirs = {
        command["name"]: (kinds[command["kind"]], command["description"])
        for command in case["expected"]["result"]["commands"]
        if command["kind"] != "built-in"
    }
    for name, same in PLAIN_NAMES.get(case["id"], {}).items():
        assert ours.pop(name) == theirs[same]
    assert ours == theirs


class FilesAndBash:
    """A `Room` whose files are those of a folder, and whose commands really run."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.ran: list[str] = []

    async def text_of_file(self, path: str) -> str:
        place = self.workspace / path
        if not place.is_relative_to(self.workspace) or not place.is_file() or place.suffix in (".png", ".log"):
            return f"[{path}]"
        return place.read_text("utf-8")

    async def run(self, commands: Sequence[str], *, asks: str) -> list[str]:
        assert asks == ""  # the person's own
        self.ran += commands
        return [await asyncio.to_thread(self._output, line) for line in commands]

    def _output(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.workspace, text=True, capture_output=True, check=False, timeout=PATIENCE
        )
        out = (done.stdout + done.stderr).rstrip("\n")
        return f"{out}\n[Shell command '{line}' exited with code {done.returncode}]" if done.returncode else out


OURS: dict[str, str] = {
    "exp_file_missing": "A [none.txt] B",
    "exp_file_absolute_outside": "A [/etc/hostname] B",
    "exp_file_args_in_path": "A F B",
    "exp_file_gitignored": "A [s.log] B",
    "exp_file_with_shell_inside": "A text !{echo from-file} {{args}} own",
    "exp_file_with_unbalanced_inside": "A oops !{ never closed own",
    "exp_file_image": "A [p.png] B",
    "exp_file_dir": "A [d] B",
}
"""Differences 2, 4 and 5."""


@pytest.mark.process
@pytest.mark.parametrize("case", golden_cases("peer_context", "expandCommand"))
async def test_a_command_stands_for_what_gemini_cli_makes_of_it(case: dict[str, Any], tmp_path: Path) -> None:
    given, expected = case["input"], case["expected"]["result"]
    home, workspace = tmp_path / "home", tmp_path / "ws"
    workspace.mkdir()
    write(home / ".gemini" / "commands", {"cmd.toml": given["toml"]})
    write(tmp_path, given.get("files", {}))
    custom = CustomCommands(DiskCommandFiles(str(home)), lambda: FileWish(folders=(str(workspace),), trusted=True))
    found = await custom.commands()
    if "threw" in expected and case["id"] not in OURS:
        assert found == []
        (problem,) = await custom.problems()
        assert "is not closed" in problem.message
        assert problem.line == 1
        return
    room, args = FilesAndBash(workspace), given.get("args", "")
    if expected.get("type") == "confirm_shell_commands":  # who is asked, and how, is the turn's concern
        assert list(dict.fromkeys(found[0].runs)) == expected["commandsToConfirm"]
        return
    (part,) = await custom.expanded(found[0], Typed("cmd", args, f"/cmd {args}".strip()), room)
    theirs = OURS.get(case["id"])
    if theirs is None:
        content = (piece if isinstance(piece, str) else piece.get("text", "") for piece in expected["content"])
        theirs = re.sub(r"\n\n/cmd [^\n]*\Z", "", "".join(content)).strip("\n")
    assert part["text"] == theirs
    if "checked" in expected:
        assert room.ran == [line for line in expected["checked"] if line != "echo from-file"]


@pytest.mark.parametrize("case", golden_cases("peer_context", "loadSkills"))
async def test_skills_are_found_and_read_as_gemini_cli_does(case: dict[str, Any], tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home / ".gemini", case["input"]["files"])
    read = await DiskSkillFiles(str(home)).read(FileWish(folders=(), trusted=False))
    ours = {(skill.name, skill.description, skill.body) for skill in read.skills}
    assert ours == {(one["name"], one["description"], one["body"]) for one in case["expected"]["result"]}
    places = {skill.name: Path(skill.path).relative_to(home / ".gemini") for skill in read.skills}
    for one in case["expected"]["result"]:
        assert str(places[one["name"]]) == one["location"].removeprefix("$ROOT/")
    assert {Path(problem.path).parent.name for problem in read.problems} == {"nodesc", "nofm"}

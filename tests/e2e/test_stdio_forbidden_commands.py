"""Forbidden commands over stdio: programs leave a mark where they run, and none of those that a rule forbids does."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.tools.shell.forbidden_spellings import REFUSED

pytestmark = pytest.mark.process

STUBS = ("npm", "pip", "cargo", "helm", "gh", "make", "npx", "uv", "yarn", "svn", "tool", "terraform", "tofu")
LINES = [
    (words, line)
    for words in ("npm publish", "npm uninstall", "make deploy", "pip uninstall", "cargo publish", "helm uninstall", "gh repo delete", "yarn publish", "svn commit", "tool push", "terraform destroy")
    for line in REFUSED[words]
    if "\\" not in line
][:60]  # fmt: skip


class Bench:
    """A daemon with stand-ins for programs, and a person who says no to everything."""

    def __init__(self, tmp_path: Path, workspace: Path, emulator: Emulator, gemini: dict[str, str]) -> None:
        self.workspace, self.emulator = workspace, emulator
        self.marks = tmp_path / "marks"
        self.marks.mkdir()
        programs = tmp_path / "programs"
        programs.mkdir()
        for name in STUBS:
            (programs / name).write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.marks}/ran"\n')
            (programs / name).chmod(0o755)
        self.environment = server_environment(tmp_path, **gemini)
        self.environment["PATH"] = f"{programs}{os.pathsep}{self.environment.get('PATH', os.environ['PATH'])}"
        self.settings = tmp_path / "home" / ".gemini" / "settings.json"
        self.asked: list[Any] = []

    def keep(self, *rules: dict[str, Any], **more: Any) -> None:
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        tools = {"rules": list(rules), "sandbox": "off"}
        self.settings.write_text(json.dumps({"companion": {"tools": tools}, **more}))

    def make_repository(self, setting: str, value: str) -> None:
        subprocess.run(["git", "init", "-q", str(self.workspace)], check=True)
        subprocess.run(["git", "-C", str(self.workspace), "config", setting, value], check=True)

    def ran(self) -> str:
        path = self.marks / "ran"
        return path.read_text() if path.exists() else ""

    async def run(self, lines: list[str], outcome: str = "reject") -> list[str]:
        """What became of each line."""
        for line in lines:
            wanted = call("run_shell_command", {"command": line}, call_id="c")
            self.emulator.script(answer(wanted), "Done.", method="streamGenerateContent")
        options = {"trusted": True, "supports": ["confirmTool"]}

        def confirm(question: Any) -> dict[str, str]:
            self.asked.append(question)
            return {"outcome": outcome}

        answers = {"gemini/confirmTool": confirm}
        async with editor(self.environment, self.workspace, options=options, answers=answers) as spoken:
            for _ in lines:
                await spoken.ask("gemini/chat", {"prompt": "Run it."})
            return [one["outcome"] for one in spoken.of("toolCallCompleted")]


@pytest.fixture
def bench(tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]) -> Bench:
    return Bench(tmp_path, workspace, emulator, gemini_environment)


def kept(words: str, decision: str) -> dict[str, Any]:
    return {"tool": "run_shell_command", "command": words.split(), "decision": decision}


async def test_no_spelling_of_a_forbidden_command_runs_or_is_asked_about(bench: Bench) -> None:
    forbidden = dict.fromkeys(words for words, _ in LINES)
    bench.keep(*(kept(name, "allow") for name in STUBS), *(kept(words, "deny") for words in forbidden))
    control, *outcomes = await bench.run(["tool list", *(line for _, line in LINES)])
    assert control == "ok"
    assert outcomes == ["declined"] * len(LINES)
    assert bench.ran() == "tool list\n"
    assert bench.asked == []


async def test_a_command_that_gemini_clis_list_excludes_is_refused_by_a_name_of_the_repositorys(bench: Bench) -> None:
    bench.make_repository("alias.Up", "push --tags")
    bench.keep(kept("git up", "allow"), tools={"exclude": ["run_shell_command(git push)"]})
    assert await bench.run(["git up", "git -C . push"]) == ["declined", "declined"]
    assert bench.asked == []


async def test_what_always_was_said_to_lets_through_no_more_words(bench: Bench) -> None:
    bench.keep()
    await bench.run(["make test"], outcome="always")
    rules = json.loads(bench.settings.read_text())["companion"]["tools"]["rules"]
    assert rules == [{"tool": "run_shell_command", "decision": "allow", "command": ["make", "test"], "exact": True}]
    assert bench.asked[0]["ruleText"] == "Allow run_shell_command: make test"
    outcomes = await bench.run(["make test", "make test PY='touch x;echo'", "make test deploy"])
    assert outcomes == ["ok", "declined", "declined"]
    assert len(bench.asked) == 3
    assert bench.ran() == "make test\nmake test\n"


async def test_a_makefile_of_this_turn_is_not_run_unasked_from_elsewhere(bench: Bench) -> None:
    bench.keep(kept("make", "allow"), {"tool": "write_file", "decision": "allow"})
    (bench.workspace / "sub").mkdir()
    writes = call("write_file", {"file_path": "sub/Makefile", "content": "all:\n"}, call_id="w")
    runs = call("run_shell_command", {"command": "make -C sub"}, call_id="r")
    bench.emulator.script(answer(writes), answer(runs), "Done.", method="streamGenerateContent")
    asked: list[str] = []

    def confirm(question: Any) -> dict[str, str]:
        asked.append(question["reason"])
        return {"outcome": "once" if len(asked) == 1 else "reject"}

    options = {"trusted": True, "supports": ["confirmTool"]}
    answers = {"gemini/confirmTool": confirm}
    async with editor(bench.environment, bench.workspace, options=options, answers=answers) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Do it."})
    assert asked[1:] == ["Makefile, which decides what `make` runs, was written in this turn"]
    assert bench.ran() == ""


async def test_a_secret_is_shown_in_no_other_form_unasked_and_never_to_the_model(bench: Bench) -> None:
    key = "AKIA" + "Q3EGR7XJ2LMN5PVT"
    (bench.workspace / "settings.py").write_text(f"name = 'x'\nkey = '{key}'\n")
    bench.keep(kept("tool", "allow"))
    shown = ["cat settings.py", "rev settings.py | wc -l", "cut -c1-4 /dev/null"]
    asked = ["rev settings.py", "cat settings.py | tr a-z A-Z", "< settings.py od -c", "grep -o . settings.py", "tool settings.py"]  # fmt: skip
    assert await bench.run([*shown, *asked]) == ["ok"] * len(shown) + ["declined"] * len(asked)
    assert len(bench.asked) == len(asked)
    assert all("settings.py holds a secret" in json.dumps(one) for one in bench.asked)
    sent = json.dumps([request.body for request in bench.emulator.requests])
    assert "masked: AWS key" in sent
    assert key not in sent
    assert key[::-1] not in sent


async def test_an_option_that_a_rule_by_hand_does_not_name_is_asked_about_by_name(bench: Bench) -> None:
    bench.keep(kept("npm run", "allow"), kept("make test", "allow"), kept("tool push", "allow"))
    fine = ["npm run test -- --watch", "make test -j4 -k", "tool push --verbose origin"]
    asked = ["npm run test -- --config=evil.js", "make test -Cevil", "tool push --force", "tool push --engine x"]
    assert await bench.run([*fine, *asked]) == ["ok"] * len(fine) + ["declined"] * len(asked)
    named = [json.dumps(one) for one in bench.asked]
    assert len(named) == len(asked)
    assert all(
        word in one for one, word in zip(named, ("--config=evil.js", "-Cevil", "--force", "--engine"), strict=True)
    )
    assert all("does not name" in one for one in named)

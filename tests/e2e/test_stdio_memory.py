"""Memory files over stdio: the real SDK, the emulated service, real files."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call

COMPRESSIBLE = "Here is what we did so far. " + "We looked at the parser and its many callers again. " * 400


class Desk:
    """Starts servers over one home with memory files."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.gemini = tmp_path, workspace, gemini
        self.own = tmp_path / "home" / ".gemini" / "GEMINI.md"
        self.extension = tmp_path / "home" / ".gemini" / "extensions" / "lint" / "gemini-extension.json"
        self.project = workspace / "GEMINI.md"
        self.below = workspace / "docs" / "api" / "GEMINI.md"
        for folder in (self.own.parent, self.extension.parent, self.below.parent):
            folder.mkdir(parents=True)
        self.own.write_text("I write tests first.\n", "utf-8")
        self.extension.write_text('{"name": "lint", "version": "1"}', "utf-8")
        (self.extension.parent / "GEMINI.md").write_text("Lint before you commit.\n", "utf-8")
        self.project.write_text("Four spaces.\n@./rules.md\n", "utf-8")
        (workspace / "rules.md").write_text("No tabs. Never.\n", "utf-8")
        self.below.write_text("Answers in the docs are short.\n", "utf-8")
        (self.below.parent / "a.md").write_text("# A\n", "utf-8")
        (self.below.parent / "b.md").write_text("# B\n", "utf-8")
        self.asked: list[Any] = []
        self.outcome = "once"

    @asynccontextmanager
    async def server(self, *, trusted: bool = True) -> AsyncGenerator[Editor]:
        options = {"trusted": trusted, "supports": ["confirmTool"]}
        environment = server_environment(self.tmp_path, **self.gemini)
        answers = {"gemini/confirmTool": self._confirm}
        async with editor(environment, self.workspace, options=options, answers=answers) as spoken:
            yield spoken

    def _confirm(self, question: Any) -> Any:
        self.asked.append(question)
        return {"outcome": self.outcome}


@pytest.fixture
def desk(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Desk:
    return Desk(tmp_path, workspace, gemini_environment)


def first_content(request: Any) -> str:
    return str(request.contents[0]["parts"][0]["text"])


def shown(request: Any) -> str:
    """All that a request says."""
    return request.system + str(request.contents)


def sent(emulator: Emulator) -> list[Any]:
    return emulator.asked("streamGenerateContent")


async def epoch(spoken: Editor) -> int:
    return int((await spoken.ask("gemini/session/history", {"view": "model"}))["epoch"])


async def test_each_tier_stands_in_its_place(desk: Desk, emulator: Emulator) -> None:
    look = [call("read_file", {"file_path": f"docs/api/{name}.md"}) for name in "ab"]
    emulator.script(answer(look[0]), answer(look[1]), "Done.")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Look at the docs."})
        context = await spoken.ask("gemini/context", {})
    first, second, third = sent(emulator)
    assert "I write tests first." in first.system
    assert "Four spaces." not in first.system
    assert "<project_memory>" in first_content(first)
    assert "Four spaces.\n<!-- Imported from: ./rules.md -->\nNo tabs. Never." in first_content(first)
    assert "Lint before you commit." in first_content(first)
    assert str(desk.below) in first_content(first)  # named, not told
    assert "Answers in the docs" not in shown(first)
    (response,) = second.responses
    assert response["response"]["memory"] == [{"file": str(desk.below), "text": "Answers in the docs are short."}]
    assert "memory" not in third.responses[0]["response"]  # each file once
    assert shown(third).count("Answers in the docs") == 1
    assert (first.system, first_content(first)) == (third.system, first_content(third))
    assert context["byPart"]["memory"] > 20
    assert emulator.malformed == []


async def test_without_trust_only_the_persons_own_file_counts(desk: Desk, emulator: Emulator) -> None:
    emulator.script(answer(call("read_file", {"file_path": "docs/api/a.md"})), "Done.")
    async with desk.server(trusted=False) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi."})
        listed = await spoken.ask("gemini/memory/list", {})
    assert "I write tests first." in sent(emulator)[0].system
    for request in sent(emulator):
        for text in ("Four spaces.", "Lint before", "Answers in the docs"):
            assert text not in shown(request)
    assert [file["scope"] for file in listed["files"]] == ["global"]


async def test_a_file_that_changes_while_a_turn_streams_counts_from_the_next_turn(
    desk: Desk, emulator: Emulator
) -> None:
    gate = Gate()
    emulator.script(answer("Wait.", gate, call("read_file", {"file_path": "docs/api/a.md"})), "Done.", "Yes.", "Yes.")
    async with desk.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Look."})
        await gate.wait_reached()
        desk.project.write_text("Two spaces.\n", "utf-8")
        assert (await spoken.wait_for("memoryChanged"))["paths"] == [str(desk.project)]
        gate.release()
        await chat
        before = await epoch(spoken)
        await spoken.ask("gemini/chat", {"prompt": "And now?"})
        await spoken.ask("gemini/chat", {"prompt": "And now again?"})
        assert await epoch(spoken) == before + 1
    first, second, third, fourth = map(first_content, sent(emulator))
    assert "Four spaces." in first
    assert second == first
    assert "Two spaces." in third
    assert "Four spaces." not in third
    assert fourth == third


async def test_after_a_compression_the_next_request_has_a_changed_file_and_is_told_of_folders_again(
    desk: Desk, emulator: Emulator
) -> None:
    look = call("read_file", {"file_path": "docs/api/a.md"})
    emulator.script(answer(look), COMPRESSIBLE, COMPRESSIBLE, COMPRESSIBLE)
    async with desk.server() as spoken:
        for prompt in ("Look.", "Go on.", "More."):
            await spoken.ask("gemini/chat", {"prompt": prompt})
        desk.own.write_text("I write no tests.\n", "utf-8")
        result = await spoken.ask("gemini/compress", {"strategy": "split"})  # little was said
        assert result["status"] == "COMPRESSED"
        emulator.script(answer(look), "Done.")
        await spoken.ask("gemini/chat", {"prompt": "Look again."})
    again, last = sent(emulator)[-2:]
    assert "I write no tests." in again.system
    assert "I write tests first." not in again.system
    assert last.responses[0]["response"]["memory"][0]["file"] == str(desk.below)


@pytest.mark.parametrize("outcome", ["once", "reject"])
async def test_a_fact_is_kept_only_if_the_person_who_sees_the_diff_says_yes(
    desk: Desk, emulator: Emulator, outcome: str
) -> None:
    desk.outcome = outcome
    emulator.script(
        answer(call("save_memory", {"fact": "Likes tea.", "scope": "global"})),
        answer(call("save_memory", {"fact": "Ports begin at 9000.", "scope": "project"})),
        "Kept.",
        "Yes.",
    )
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Remember both."})
        await spoken.ask("gemini/chat", {"prompt": "Do you?"})
    assert ["+- Likes tea." in desk.asked[0]["diff"], "+- Ports begin at 9000." in desk.asked[1]["diff"]] == [True] * 2
    is_kept = outcome == "once"
    assert ("- Likes tea." in desk.own.read_text("utf-8")) == is_kept
    assert desk.own.read_text("utf-8").startswith("I write tests first.\n")
    assert ("- Ports begin at 9000." in desk.project.read_text("utf-8")) == is_kept
    last = sent(emulator)[-1]
    assert ("Likes tea." in last.system, "- Ports begin at 9000." in first_content(last)) == (is_kept, is_kept)


async def test_a_memory_file_of_a_folder_goes_along_with_the_prompt_when_the_editor_has_a_file_of_it_open(
    desk: Desk, emulator: Emulator
) -> None:
    emulator.script("Hm.", "Hm.")
    async with desk.server() as spoken:
        spoken.open(desk.below.parent / "a.md")
        await spoken.ask("gemini/chat", {"prompt": "What is it?"})
        attached = await spoken.wait_for("filesAttached")
        await spoken.ask("gemini/chat", {"prompt": "And?"})
    assert [file["path"] for file in attached["files"]] == [str(desk.below)]
    assert "Answers in the docs are short." in sent(emulator)[0].prompt
    assert "Answers in the docs are short." not in sent(emulator)[1].prompt


async def test_clients_list_add_and_reload(desk: Desk) -> None:
    async with desk.server() as spoken:
        listed = await spoken.ask("gemini/memory/list", {})
        assert [file["scope"] for file in listed["files"]] == ["global", "extension", "project", "subdirectory"]
        project = listed["files"][2]
        assert (project["path"], project["imports"]) == (str(desk.project), [str(desk.workspace / "rules.md")])
        assert 0 < project["tokenCount"] < listed["tokenCount"]
        added = await spoken.ask("gemini/memory/add", {"fact": "Ports begin at 9000.", "scope": "project"})
        assert added["path"] == str(desk.project)
        assert "+- Ports begin at 9000." in added["diff"]
        (desk.workspace / "rules.md").unlink()
        again = await spoken.ask("gemini/memory/reload", {})
        assert "./rules.md: there is no such file" in again["files"][2]["problem"]
        fault = await spoken.fails("gemini/memory/add", {"fact": " ", "scope": "global"})
        assert fault.code == -32602 or "fact" in str(fault)

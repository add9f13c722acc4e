"""Files that are withheld, over stdio: whom a person's own words let through, and whom nothing does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, plain, server_environment
from tests.support.emulator import Emulator, answer, call


class Reader:
    """An editor whose person says yes and whose model reads one file."""

    def __init__(self, spoken: Editor, emulator: Emulator) -> None:
        self.spoken, self.emulator = spoken, emulator
        self.asked: list[str] = []

    async def reads(self, path: str, prompt: str) -> dict[str, Any]:
        """What the model gets for its call."""
        self.emulator.script(answer(call("read_file", {"file_path": path})), "Read.", method="streamGenerateContent")
        await self.spoken.ask("gemini/chat", {"prompt": prompt})
        (response,) = self.emulator.asked("streamGenerateContent")[-1].responses[-1:]
        return dict(response["response"])


@pytest.fixture
async def reader(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> AsyncIterator[Reader]:
    (workspace / ".gitignore").write_text("*.log\n", "utf-8")
    (workspace / "out.log").write_text("all well\n", "utf-8")
    options = {"trusted": True, "supports": ["confirmTool"]}
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options=options) as spoken:
        found = Reader(spoken, emulator)

        async def confirm(params: Any) -> dict[str, str]:
            found.asked.append(plain(params)["title"])
            return {"outcome": "once"}

        spoken.client.feature("gemini/confirmTool")(confirm)
        yield found


async def test_a_secret_that_the_person_names_is_read_after_a_yes_and_no_other(reader: Reader) -> None:
    refused = await reader.reads(".env", "Read config/.env and the environment.")
    assert "The user has to name it in a prompt first" in refused["error"]
    assert reader.asked == []
    assert await reader.reads(".env", "I said .env, of this folder.") == {"output": "TOKEN=hunter2\n"}
    assert reader.asked == ["Read .env"]


async def test_an_ignored_file_that_the_person_names_is_read_also_later_in_the_session(reader: Reader) -> None:
    assert "ignored by .gitignore" in (await reader.reads("out.log", "Read the log."))["error"]
    assert await reader.reads("out.log", "It is @out.log") == {"output": "all well\n"}
    assert "output" in await reader.reads("out.log", "Once more, please.")
    assert reader.asked == []


async def test_what_a_file_says_names_nothing(reader: Reader, workspace: Path) -> None:
    (workspace / "README.md").write_text("The key is in .env\n", "utf-8")
    assert "output" in await reader.reads("README.md", "Read @README.md")
    assert "error" in await reader.reads(".env", "Do what it says.")
    assert reader.asked == []


async def test_a_call_in_other_tools_words_is_understood_and_what_did_not_count_is_said(reader: Reader) -> None:
    args = {"absolute_path": "parser.py", "depth": 1}
    reader.emulator.script(
        answer(call("default_api.read_file", args, call_id="r")), "Read.", method="streamGenerateContent"
    )
    await reader.spoken.ask("gemini/chat", {"prompt": "Read the parser."})
    (response,) = reader.emulator.asked("streamGenerateContent")[-1].responses
    assert response["name"] == "read_file"
    assert response["response"]["output"].startswith("def parse")
    assert response["response"]["note"].startswith("read_file has no argument 'depth', so that did not count.")
    started = reader.spoken.of("toolCallStarted")[-1]
    assert (started["name"], started["title"]) == ("read_file", "Read parser.py")

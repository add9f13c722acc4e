"""The token number of a chat is one, over stdio: in the list, when it is opened after a restart, on the meter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator


async def numbers(spoken: Editor, session: dict[str, Any]) -> tuple[int, int]:
    """In the list, and ahead of opening it."""
    (listed,) = (await spoken.ask("gemini/session/list"))["sessions"]
    newest = await spoken.ask("gemini/session/newest", session)
    return listed["tokenCount"], newest["session"]["tokenCount"]


async def test_what_the_api_counted_is_the_number_after_a_restart_too(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace) as spoken:
        for text in ("Wo steht der Parser? ", "Und der Lexer? ", "Danke. "):
            answer = await spoken.ask("gemini/chat", {"prompt": text * 500})
        session = {"sessionId": answer["sessionId"]}
        before = await spoken.ask("gemini/compressionStatus", session)
        assert before["tokenCountSource"] == "api"
        assert await numbers(spoken, session) == (before["tokenCount"],) * 2
    for kills in (True, False):
        async with editor(environment, workspace) as spoken:
            assert await numbers(spoken, session) == (before["tokenCount"],) * 2
            await spoken.ask("gemini/session/rename", {**session, "title": "Parsing"})  # held, and not opened
            assert await numbers(spoken, session) == (before["tokenCount"],) * 2
            assert (await spoken.ask("gemini/session/open", session))["tokenCount"] == before["tokenCount"]
            assert await numbers(spoken, session) == (before["tokenCount"],) * 2
            status = await spoken.ask("gemini/compressionStatus", session)
            assert (status["tokenCount"], status["tokenCountSource"]) == (before["tokenCount"], "api")
            if kills:
                await spoken.kill()


async def test_a_chat_in_which_nothing_was_said_has_the_number_of_what_stands_ahead_of_it_everywhere(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace) as spoken:
        begun = await spoken.ask("gemini/session/new", {})
        session = {"sessionId": begun["sessionId"]}
        assert begun["tokenCount"] > 0
        assert await numbers(spoken, session) == (begun["tokenCount"],) * 2
    async with editor(environment, workspace) as spoken:
        assert await numbers(spoken, session) == (begun["tokenCount"],) * 2
        await spoken.ask("gemini/session/rename", {**session, "title": "Parsing"})  # held, and not opened
        assert await numbers(spoken, session) == (begun["tokenCount"],) * 2
    async with editor(environment, workspace) as spoken:
        assert await numbers(spoken, session) == (begun["tokenCount"],) * 2
        assert (await spoken.ask("gemini/session/open", session))["tokenCount"] == begun["tokenCount"]


async def test_a_fork_has_the_number_of_the_chat_that_it_is_a_fork_of(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace) as spoken:
        turns: list[str] = []
        for text in ("Wo steht der Parser? ", "Und der Lexer? ", "Danke. "):
            answer = await spoken.ask("gemini/chat", {"prompt": text * 500})
            turns.append(answer["turnId"])
        chat = {"sessionId": answer["sessionId"]}
        before = await spoken.ask("gemini/compressionStatus", chat)
        for at in ({}, {"atTurn": turns[-1]}, {"atTurn": 3}):
            fork = await spoken.ask("gemini/session/fork", {**chat, **at})
            status = await spoken.ask("gemini/compressionStatus", {"sessionId": fork["sessionId"]})
            assert fork["tokenCount"] == before["tokenCount"]
            assert (status["tokenCount"], status["tokenCountSource"]) == (before["tokenCount"], "api")
        earlier = await spoken.ask("gemini/session/fork", {**chat, "atTurn": turns[0]})
        status = await spoken.ask("gemini/compressionStatus", {"sessionId": earlier["sessionId"]})
        assert status["tokenCountSource"] == "estimate"
        assert status["tokenCount"] < before["tokenCount"]
    async with editor(environment, workspace) as spoken:
        assert (await spoken.ask("gemini/session/open", {"sessionId": fork["sessionId"]}))["tokenCount"] == (
            before["tokenCount"]
        )

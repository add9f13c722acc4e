"""The token number of a chat is one, over stdio: in the list, when it is opened after a restart, on the meter."""

from __future__ import annotations

import json
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
            assert (await spoken.ask("gemini/session/list"))["sessions"][0]["tokenCountSource"] == "api"
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


WINDOW = 32_768
RULES = "".join(f"- Rule {number} of the house: keep it short.\n" for number in range(600))


def settle(tmp_path: Path, memory: str = "") -> None:
    folder = tmp_path / "home/.gemini"
    folder.mkdir(parents=True)
    model = {"tokenLimit": WINDOW, "compressionThreshold": 0.9}
    compression = {"background": "off"}
    (folder / "settings.json").write_text(json.dumps({"model": model, "companion": {"compression": compression}}))
    (folder / "GEMINI.md").write_text(memory, "utf-8")


async def test_a_compression_is_counted_from_the_number_that_people_see(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    """The Developer API counts contents alone; the rest of a request is what it had by the count of its answer."""
    count, added = emulator.count, 2_000
    emulator.count = lambda body: count(body) + (added if "systemInstruction" in body else 0)  # as a proxy's own prompt
    settle(tmp_path)
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace) as spoken:
        for text in ("Wo steht der Parser? ", "Und der Lexer? ", "Danke. "):
            await spoken.ask("gemini/chat", {"prompt": text * 100})
        for _ in range(2):
            before = (await spoken.ask("gemini/compressionStatus"))["tokenCount"]
            assert before > added
            result = await spoken.ask("gemini/compress")
            assert (result["status"], result["originalTokenCount"]) == ("COMPRESSED", before)
            after = (await spoken.ask("gemini/compressionStatus"))["tokenCount"]
            assert after == result["newTokenCount"]
            await spoken.ask("gemini/compression/undo")
            assert (await spoken.ask("gemini/compressionStatus"))["tokenCount"] == before
        result = await spoken.ask("gemini/compress")
        answer = await spoken.ask("gemini/chat", {"prompt": "And now?"})
        assert abs(answer["usage"]["promptTokens"] - result["newTokenCount"]) < 20


async def test_memory_in_the_system_instruction_counts_where_the_api_counts_contents_alone(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path, RULES)
    environment = server_environment(tmp_path, **gemini_environment)
    said = [{"role": role, "parts": [{"text": "Some words. " * 400}]} for role in ("user", "model") * 4]
    (workspace / "chat.json").write_text(json.dumps(said))
    async with editor(environment, workspace) as spoken:
        await spoken.ask("gemini/session/import", {"path": str(workspace / "chat.json")})
        parts = (await spoken.ask("gemini/context"))["byPart"]
        assert parts["memory"] > 5_000
        result = await spoken.ask("gemini/compress")
        counted = emulator.asked("countTokens")
        around = parts["systemInstruction"] + parts["tools"] + parts["memory"]
        assert abs(result["originalTokenCount"] - emulator.count(counted[0].body) - around) < 50


async def test_a_prompt_that_fits_only_without_memory_is_not_sent(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path, RULES)
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace) as spoken:
        session = await spoken.ask("gemini/session/new")
        emulator.limits[session["model"]] = WINDOW
        parts = (await spoken.ask("gemini/context"))["byPart"]
        room = WINDOW - parts["systemInstruction"] - parts["tools"]  # more than there is, for memory takes of it
        prompt = "Wort " * ((room - parts["memory"] // 2) * 4 // len("Wort "))
        result = await spoken.ask("gemini/chat", {"prompt": prompt})
        assert result["stopped"] == "contextWindowWillOverflow"
        assert emulator.asked("streamGenerateContent") == []


async def test_after_an_import_there_is_one_number_which_says_that_it_is_estimated(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    history = [
        {"role": role, "parts": [{"text": f"{number}: " + "what was said of the parser. " * 200}]}
        for number in range(30)
        for role in ("user", "model")
    ]
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"history": history}))
    async with editor(server_environment(tmp_path, **gemini_environment), workspace) as spoken:
        imported = await spoken.ask("gemini/session/import", {"path": str(file)})
        session = {"sessionId": imported["sessionId"]}
        status = await spoken.ask("gemini/compressionStatus", session)
        for _ in range(2):
            (listed,) = (await spoken.ask("gemini/session/list"))["sessions"]
            opened = await spoken.ask("gemini/session/open", session)
            for one in (imported, listed, opened):
                assert (one["tokenCount"], one.get("tokenCountSource", "estimate")) == (
                    status["tokenCount"],
                    "estimate",
                )
            assert (await spoken.ask("gemini/context", session))["tokenCount"] == status["tokenCount"]
        result = await spoken.ask("gemini/compress", {**session, "force": True})
        assert result["status"] == "COMPRESSED"
        after = await spoken.ask("gemini/compressionStatus", session)
        (listed,) = (await spoken.ask("gemini/session/list"))["sessions"]
        # The API counts before it: that is another number, and no estimate any more.
        assert result["tokenCountSource"] == "api"
        assert abs(result["originalTokenCount"] - status["tokenCount"]) < status["tokenCount"] // 50
        assert result["newTokenCount"] == after["tokenCount"] == listed["tokenCount"]
        assert (after["tokenCountSource"], listed["tokenCountSource"]) == ("api", "api")

"""Settings over stdio: shown with where they come from, edited while a turn streams, and broken in every way."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer
from tests.support.examples import examples
from tests.support.patience import PATIENCE

EDITS = examples(1_000)
WHOLE = """{ // of mine
  "model": {"name": "offline", "compressionThreshold": 0.5, "tokenLimit": 50000, "maxSessionTurns": -1},
  "context": {"fileName": ["A.md", "B.md"], "importFormat": "tree"},
  "tools": {"exclude": ["web_fetch"], "shell": {"inactivityTimeout": 30}},
  "mcpServers": {"docs": {"command": "$HOME/serve", "args": ["${NONE:-x}"], "env": {"KEY": "v"}}},
  "general": {"defaultApprovalMode": "auto_edit", "maxAttempts": 3, "sessionRetention": {"maxAge": "30d"}},
  "security": {"disableYoloMode": true}, "advanced": {"excludedEnvVars": ["DEBUG"], "ignoreLocalEnv": false},
  "hooks": {"BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "true"}]}]},
  "companion": {"ide": {"maxOpenFiles": 3}, "tools": {"mode": "ask", "rules": [{"tool": "glob", "decision": "ask"}]},
    "trustedFolders": ["~/code"], "prompt": {"style": true}} /* end */
}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "home/.gemini/settings.json"
    file.parent.mkdir(parents=True)
    return file


def setting(listed: dict[str, Any], key: str) -> dict[str, Any]:
    return next(one for one in listed["settings"] if one["key"] == key)


async def test_every_setting_is_told_with_its_value_and_where_it_comes_from(
    tmp_path: Path, workspace: Path, mine: Path
) -> None:
    mine.write_text(WHOLE, "utf-8")
    theirs = workspace / ".gemini/settings.json"
    theirs.parent.mkdir()
    theirs.write_text('{"model": {"compressionThreshold": 0.7},\n "tools": {"exclude": ["glob"]}}', "utf-8")
    system = tmp_path / "etc/settings.json"
    system.parent.mkdir(mode=0o700)
    system.write_text('{"model": {"maxSessionTurns": 9}}', "utf-8")
    system.chmod(0o600)
    environment = server_environment(tmp_path, GEMINI_CLI_SYSTEM_SETTINGS_PATH=str(system), GEMINI_MODEL="offline")
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        spoken.notify(
            "workspace/didChangeConfiguration",
            {"settings": {"geminiCompanion": {"companion": {"ide": {"maxOpenFiles": 7}}}}},
        )
        listed = await spoken.ask("gemini/settings", {})
    assert listed["trusted"] is True
    places = {
        key: tuple(setting(listed, key).get(name) for name in ("value", "layer", "file", "line"))
        for key in (
            "model.name",
            "model.compressionThreshold",
            "model.maxSessionTurns",
            "model.tokenLimit",
            "tools.exclude",
            "companion.ide.maxOpenFiles",
            "companion.tools.maxRounds",
        )
    }
    assert places == {
        "model.name": ("offline", "environment", None, None),
        "model.compressionThreshold": (0.7, "workspace", str(theirs), 1),
        "model.maxSessionTurns": (9, "system", str(system), 1),
        "model.tokenLimit": (50_000, "user", str(mine), 2),
        "tools.exclude": (["web_fetch", "glob"], "workspace", str(theirs), 2),
        "companion.ide.maxOpenFiles": (7, "editor", None, None),
        "companion.tools.maxRounds": (100, "default", None, None),
    }
    assert setting(listed, "mcpServers")["value"]["docs"]["env"] == {"KEY": "••••"}
    assert setting(listed, "companion.ide.maxOpenFiles")["also"] == ["user"]


async def test_a_file_that_is_edited_while_a_turn_streams_takes_effect_on_the_next(
    tmp_path: Path, workspace: Path, mine: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    gate = Gate()
    emulator.script(answer("one ", gate, "two"), answer("three"), method="streamGenerateContent")
    environment = server_environment(tmp_path, **gemini_environment)
    mine.write_text('{"model": {"name": "gemini-2.5-pro"}}', "utf-8")
    async with editor(environment, workspace) as spoken:
        turn = spoken.start("gemini/chat", {"prompt": "go"})
        await gate.wait_reached()
        mine.write_text('{"model": {"name": "gemini-2.5-flash", "compressionThreshold": 0.25}}', "utf-8")
        event = await spoken.wait_for("settingsChanged")
        assert event["keys"] == ["model.name", "model.compressionThreshold"]
        assert not turn.done()
        gate.release()
        assert (await turn)["text"] == "one two"
        assert (await spoken.ask("gemini/chat", {"prompt": "again"}))["text"] == "three"
    first, second = (request.path for request in emulator.asked("streamGenerateContent"))
    assert "gemini-2.5-pro" in first
    assert "gemini-2.5-flash" in second


async def test_a_file_that_breaks_while_a_turn_streams_is_told_with_its_place_and_what_it_held_counts_on(
    tmp_path: Path, workspace: Path, mine: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    gate = Gate()
    emulator.script(answer("one ", gate, "two"), method="streamGenerateContent")
    mine.write_text('{"model": {"compressionThreshold": 0.25}}', "utf-8")
    async with editor(server_environment(tmp_path, **gemini_environment), workspace) as spoken:
        turn = spoken.start("gemini/chat", {"prompt": "go"})
        await gate.wait_reached()
        mine.write_text('{\n  "model": {"compressionThreshold": "half"}}', "utf-8")
        async with asyncio.timeout(PATIENCE):
            while not any(f"{mine}:2:13: model.compressionThreshold" in told for told in spoken.messages):
                await asyncio.sleep(0)
        gate.release()
        assert (await turn)["text"] == "one two"
        listed = await spoken.ask("gemini/settings", {})
        threshold = setting(listed, "model.compressionThreshold")
        assert (threshold["value"], threshold["file"], threshold["line"]) == (0.25, str(mine), 2)
        assert listed["problems"][0].startswith(f"{mine}:2:13: ")


@pytest.mark.parametrize("says", ["Go On Without It", "Wait Until It Is Mended", None])
async def test_a_file_that_nobody_ever_read_holds_the_model_until_the_person_says_go_on(
    tmp_path: Path,
    workspace: Path,
    mine: Path,
    emulator: Emulator,
    gemini_environment: dict[str, str],
    says: str | None,
) -> None:
    asked: list[str] = []

    def answered(params: Any) -> dict[str, str] | None:
        asked.append(params["message"])
        return None if says is None else {"title": says}

    mine.write_text('{"companion": ', "utf-8")
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, answers={"window/showMessageRequest": answered}) as spoken:
        async with asyncio.timeout(PATIENCE):
            while not asked:
                await asyncio.sleep(0)
        listed = await spoken.ask("gemini/settings", {})
        if says == "Go On Without It":
            async with asyncio.timeout(PATIENCE):
                while setting(listed, "companion.tools.rules")["value"]:
                    listed = await spoken.ask("gemini/settings", {})
        else:
            (rule,) = setting(listed, "companion.tools.rules")["value"]
            assert (rule["tool"], rule["decision"]) == ("*", "ask")
        emulator.script(answer("hello"), method="streamGenerateContent")
        said = await spoken.ask("gemini/chat", {"prompt": "go"})
        assert (said["text"] == "hello") == (says == "Go On Without It")
    assert str(mine) in asked[0]
    assert "the built-in model answers" in asked[0]
    assert len(asked) == 1
    assert not any(str(mine) in told for told in spoken.messages)  # the question has said it
    async with editor(environment, workspace) as again:  # the next daemon knows what was said
        listed = await again.ask("gemini/settings", {})
        assert bool(setting(listed, "companion.tools.rules")["value"]) == (says != "Go On Without It")
    assert (len(emulator.asked("streamGenerateContent")) == 1) == (says == "Go On Without It")


async def test_an_editor_that_cannot_ask_is_told_which_file_nobody_ever_read(
    tmp_path: Path, workspace: Path, mine: Path
) -> None:
    mine.write_text('{"companion": ', "utf-8")
    async with editor(server_environment(tmp_path), workspace) as spoken:  # it refuses requests that it does not know
        async with asyncio.timeout(PATIENCE):
            while not any(str(mine) in told for told in spoken.messages):
                await asyncio.sleep(0)


async def test_a_question_about_a_file_is_taken_back_once_the_file_is_mended(
    tmp_path: Path, workspace: Path, mine: Path
) -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def waits(_params: Any) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    mine.write_text('{"companion": ', "utf-8")
    async with editor(server_environment(tmp_path), workspace, answers={"window/showMessageRequest": waits}):
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
            mine.write_text("{}", "utf-8")
            await ended.wait()


def damaged(draw: random.Random) -> bytes:
    """The file with bytes changed, cut, doubled or moved, or a value of another type somewhere."""
    data = bytearray(WHOLE.encode())
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(6):
            case 0:
                data[at : at + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 4))
            case 1:
                del data[at:]
            case 2:
                data[at:at] = data[at : at + draw.randrange(80)]
            case 3:
                del data[at : at + draw.randrange(60)]
            case 4:
                data[at:at] = draw.choice(
                    [b"{", b"}", b"[", b"]", b'"', b"/*", b"//", b"\\u0000", b"1e999", b"null", b","]
                )
            case _:
                data = bytearray(swapped(data, draw))
    return bytes(data)


def swapped(data: bytearray, draw: random.Random) -> bytes:
    """A literal in place of a value of another type."""
    values = [b'"offline"', b"0.5", b"50000", b"-1", b"30", b"3", b"true", b'["web_fetch"]', b'{"maxOpenFiles": 3}']
    others = [b"null", b"[]", b"{}", b'"x"', b"1e400", b"-7", b"false", b"[[]]", b'{"": {}}', b'"\\ud800"', b"9" * 400]
    return bytes(data).replace(draw.choice(values), draw.choice(others), 1)


async def test_random_edits_a_thousand_in_the_long_form_never_stop_the_server(
    tmp_path: Path, workspace: Path, mine: Path
) -> None:
    draw = random.Random(20_261_123)
    keys: list[str] = []
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        for number in range(EDITS):
            mine.write_bytes(damaged(draw))
            (workspace / ".env").write_bytes(draw.randbytes(40) if number % 3 else b"GEMINI_MODEL='offline'\nA=\"")
            # Like every change of the editor's settings this reads all files at once, without waiting for the watch.
            section = draw.choice([None, {}, [], {"model": {"tokenLimit": number + 1}}, {"model": 3}])
            spoken.notify("workspace/didChangeConfiguration", {"settings": {"geminiCompanion": section}})
            if number % 50:
                await spoken.ask("gemini/rules", {})
                continue
            listed = await spoken.ask("gemini/settings", {})
            keys = keys or [one["key"] for one in listed["settings"]]
            assert [one["key"] for one in listed["settings"]] == keys
        mine.write_text('{"model": {"compressionThreshold": 0.25}}', "utf-8")
        (workspace / ".env").unlink()
        await settled(spoken)
        assert (await spoken.ask("gemini/chat", {"prompt": "still here?"}))["text"]
        assert (await spoken.ask("gemini/compressionStatus"))["threshold"] == 0.25
    assert not any("efect" in told for told in spoken.messages)


async def settled(spoken: Editor) -> None:
    spoken.notify("workspace/didChangeConfiguration", {"settings": {"geminiCompanion": {}}})
    listed = await spoken.ask("gemini/settings", {})
    assert not listed.get("problems")


@pytest.mark.parametrize("content", [b"private/\0\n", b"a\n" * 20_000])
async def test_an_ignore_file_that_cannot_be_gone_by_is_told_to_the_person(
    tmp_path: Path, workspace: Path, content: bytes
) -> None:
    (workspace / ".geminiignore").write_bytes(content)
    (workspace / "a.txt").write_text("x", "utf-8")
    async with editor(server_environment(tmp_path, GEMINI_MODEL="offline"), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "What is in @a.txt?"})
        async with asyncio.timeout(PATIENCE):
            while not any("Everything in its folder is ignored" in told for told in spoken.messages):
                await asyncio.sleep(0)

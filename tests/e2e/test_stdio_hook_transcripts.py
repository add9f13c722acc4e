"""The chat as a file that hooks read, over stdio."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.sessions.interchange import decode_session_file
from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.planted_secrets import leaks_in, planted

TRUSTED = {"trusted": True}
KEEPS = """import json, os, shutil, stat, sys
told = json.load(sys.stdin)
path = told["transcript_path"]
number = len(os.listdir("kept"))
shutil.copy(path, f"kept/{number:03}-{told['hook_event_name']}")
with open("modes", "a") as file:
    print(oct(stat.S_IMODE(os.stat(path).st_mode)), os.path.isdir(os.environ["GEMINI_PLANS_DIR"]), file=file)
"""


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


def keep(workspace: Path, *events: str) -> None:
    (workspace / "keeps.py").write_text(KEEPS, "utf-8")
    (workspace / "kept").mkdir()
    definition = [{"sequential": True, "hooks": [{"type": "command", "command": "python3 keeps.py"}]}]
    (workspace / ".gemini").mkdir(exist_ok=True)
    settings = {"hooks": dict.fromkeys(events, definition)}
    (workspace / ".gemini" / "settings.json").write_text(json.dumps(settings), "utf-8")


def kept(workspace: Path) -> list[tuple[str, list[Any]]]:
    """By event: the transcript as it was, read as Gemini CLI's session files are."""
    files = sorted((workspace / "kept").iterdir())
    return [
        (file.name.partition("-")[2], [one.parts for one in decode_session_file(file.read_bytes(), "s.jsonl").contents])
        for file in files
    ]


def texts(contents: list[Any]) -> str:
    return json.dumps(contents)


async def test_each_hook_reads_the_chat_as_it_is_in_a_file_of_the_persons_own(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    keep(workspace, "BeforeAgent", "AfterTool", "AfterAgent", "PostCompress")
    key = "AIza" + "SyA1234567890abcdefghijklmnopqrstuv"
    emulator.script(
        answer(call("read_file", {"file_path": "parser.py"}, call_id="r1")),
        "It parses.",
        method="streamGenerateContent",
    )
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": f"Read parser.py with {key}"})
        await spoken.ask("gemini/chat", {"prompt": "Again"})
        await spoken.ask("gemini/compress", {})
        await spoken.ask("gemini/chat", {"prompt": "And now"})
        (session,) = (await spoken.ask("gemini/session/list"))["sessions"]
        (transcript,) = Path(environment["HOME"]).parent.rglob("transcript.jsonl")
        lines = transcript.read_bytes().splitlines()
        await spoken.ask("gemini/session/delete", {"sessionId": session["sessionId"]})
        assert not transcript.exists()
    states = kept(workspace)
    assert [event for event, _ in states][:5] == ["BeforeAgent", "AfterTool", "AfterAgent", "BeforeAgent", "AfterAgent"]
    assert states[0][1] == []
    by_number = [texts(contents) for _, contents in states]
    assert ("Read parser.py" in by_number[1], "functionCall" in by_number[1]) == (True, False)
    assert ("functionResponse" in by_number[2], by_number[2].count("It parses.")) == (True, 1)
    assert by_number[3].count("It parses.") == 1
    assert "And now" in by_number[-1]
    assert key not in transcript.name + "".join(by_number) + b"".join(lines).decode()
    assert set((workspace / "modes").read_text("utf-8").splitlines()) == {"0o600 True"}
    assert sum(b"sessionId" in line for line in lines) == 1


async def test_what_the_vault_knows_is_masked_in_the_transcript(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    keep(workspace, "AfterAgent")
    password = planted("assigned password")
    emulator.script("Well.", f"So it is {password.secret} indeed.", "Yes.", method="streamGenerateContent")
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": password.text})
        await spoken.ask("gemini/chat", {"prompt": "What was it?"})
        session_id = spoken.envelopes[-1]["sessionId"]
    async with editor(environment, workspace, options=TRUSTED) as spoken:  # one that has it from the store alone
        await spoken.ask("gemini/session/open", {"sessionId": session_id})
        await spoken.ask("gemini/chat", {"prompt": f"And {password.secret[3:]}?"})
    (transcript,) = Path(environment["HOME"]).parent.rglob("transcript.jsonl")
    assert b"indeed" in transcript.read_bytes()
    written = [transcript, *(workspace / "kept").iterdir()]
    assert [leak for file in written for leak in leaks_in(file.read_bytes(), (password,))] == []


async def test_without_a_vault_betterleaks_masks_what_no_pattern_of_ours_knows_in_the_transcript(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    keep(workspace, "AfterAgent")
    settings = Path(environment["HOME"]) / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"companion": {"redaction": "off"}}', "utf-8")
    token = planted("Shopify token")
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": f"Here: {token.secret}"})
    (transcript,) = Path(environment["HOME"]).parent.rglob("transcript.jsonl")
    assert b"Here: [masked: " in transcript.read_bytes()
    assert leaks_in(transcript.read_bytes(), (token,)) == []


async def test_no_transcript_is_written_where_no_hook_runs(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    keep(workspace, "SessionEnd")
    (workspace / ".gemini" / "settings.json").unlink()
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi"})
    assert not any("transcript.jsonl" in files for _, _, files in os.walk(Path(environment["HOME"]).parent))

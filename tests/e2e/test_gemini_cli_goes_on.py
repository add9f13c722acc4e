"""The real Gemini CLI and our server take sessions over from each other, compressed ones too.

What counts is the next request: it has the history that the program before would have sent. Both are asked by the same
emulator, which refuses what the API would: our server's requests, and Gemini CLI's with a session of ours.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path

import pytest

from gemini_companion.engine.compression.answer import whole_snapshot
from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call, thought
from tests.support.gemini_cli_program import MODEL, GeminiCli, Said, require_program, said, texts, with_one_id

TRUSTED = {"trusted": True}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WORDS = " word" * 600


@pytest.fixture(autouse=True)
def program() -> Path:
    return require_program()


@pytest.fixture
def cli(tmp_path: Path, workspace: Path, emulator: Emulator) -> GeminiCli:
    return GeminiCli(tmp_path / "home", workspace, emulator)


def last(emulator: Emulator) -> Said:
    return said(emulator.asked("streamGenerateContent")[-1].contents)


async def command(environment: dict[str, str], folder: Path, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gemini_companion", *arguments),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def converse(spoken: Editor, emulator: Emulator, workspace: Path, strategy: str) -> None:
    """A conversation with everything in it, compressed twice; the second time from the fifth turn on if so named."""
    emulator.script(answer(thought("**Names** are needed."), "It maps names."), method="streamGenerateContent")
    for number in range(4):
        await spoken.ask("gemini/chat", {"prompt": f"/etc/hosts, {number}: what is it?{WORDS}", "model": MODEL})
    await spoken.ask("gemini/pin", {"text": "Tabs, not spaces."})
    plain = {} if strategy == "from here" else {"strategy": strategy}
    first = await spoken.ask("gemini/compress", plain)
    since: str | None = None
    for number in range(4):
        said_so = await spoken.ask("gemini/chat", {"prompt": f"And {number}?{WORDS}"})
        since = since or (said_so["turnId"] if number else None)
    second = await spoken.ask("gemini/compress", {"since": since} if strategy == "from here" else plain)
    assert [first["status"], second["status"]] == ["COMPRESSED", "COMPRESSED"]
    spoken.open(workspace / "parser.py")
    emulator.script(
        answer(
            thought("Look."),
            "I look.",
            call("read_file", {"file_path": "parser.py"}),
            call("list_directory", {"dir_path": "."}, signature=None),
        ),
        answer("It splits."),
        method="streamGenerateContent",
    )
    picture = {"inlineData": {"mimeType": "image/png", "data": PICTURE}}
    await spoken.ask("gemini/chat", {"prompt": [{"text": "What does it do?"}, picture]})
    await spoken.ask("gemini/chat", {"prompt": "? I mean the parser."})


@pytest.mark.parametrize("strategy", ["split", "hierarchical", "semantic", "from here"])
async def test_a_session_that_we_compressed_twice_goes_on_there_and_comes_back(
    tmp_path: Path,
    workspace: Path,
    emulator: Emulator,
    gemini_environment: dict[str, str],
    cli: GeminiCli,
    strategy: str,
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await converse(spoken, emulator, workspace, strategy)
        session_id = (await spoken.ask("gemini/session/list"))["sessions"][0]["sessionId"]
        told = await command(environment, workspace, "sessions", "export", session_id, "--to-gemini-cli")
        await spoken.ask("gemini/chat", {"prompt": "Go on."})
        ours = last(emulator)
        kinds = (await spoken.ask("gemini/session/history", {"view": "model"}))["contents"]
    resumed = told.rsplit("--resume ", 1)[1].strip()
    assert await cli.ask("Go on.", resume=resumed) == resumed
    assert last(emulator) == ours
    assert any("state_snapshot" in text for text in texts(ours, "user"))
    assert any("? I mean" in text for text in texts(ours, "user"))
    assert "inlineData" in str(ours)
    assert [str(ours).count(f"'{key}'") for key in ("functionCall", "functionResponse")] == [2, 2]
    assert any("parser.py" in text and "editor" in text for text in texts(ours, "user"))
    await cli.ask("And on.", resume=resumed)
    again = last(emulator)
    assert again[: len(ours)] == ours
    assert texts(again[len(ours) :], "user") == ["And on."]

    continued = cli.newest
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/session/import", {"path": str(continued)})
        back = (await spoken.ask("gemini/session/history", {"view": "model"}))["contents"]
        await spoken.ask("gemini/chat", {"prompt": "Here again."})
    assert last(emulator)[: len(again)] == again
    assert texts(last(emulator)[len(again) :], "user") == ["Here again."]
    assert [item["kind"] for item in back].count("snapshot") == [item["kind"] for item in kinds].count("snapshot")
    assert emulator.malformed == []


@pytest.mark.parametrize("form", ["gemini-cli", "gemini-cli-jsonl"])
async def test_either_form_of_our_export_goes_on_there_as_the_same_history(
    tmp_path: Path,
    workspace: Path,
    emulator: Emulator,
    gemini_environment: dict[str, str],
    cli: GeminiCli,
    form: str,
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await converse(spoken, emulator, workspace, "split")
        session_id = (await spoken.ask("gemini/session/list"))["sessions"][0]["sessionId"]
        await command(environment, workspace, "sessions", "export", session_id, "--to-gemini-cli")
        text = await command(environment, workspace, "sessions", "export", session_id, "--format", form)
        await spoken.ask("gemini/chat", {"prompt": "Go on."})
    ours = last(emulator)
    (file,) = cli.files
    file.unlink()
    file.with_suffix(".jsonl" if form == "gemini-cli-jsonl" else ".json").write_text(text, "utf-8")
    resumed = await cli.ask("Go on.", resume="latest")
    assert last(emulator) == ours
    await cli.ask("And on.", resume=resumed)
    assert last(emulator)[: len(ours)] == ours


def as_recorded(spoken: Said) -> Said:
    """What differs in its file on purpose: of a compressor's answer we keep the snapshot and not its scratchpad."""
    return [
        (
            role,
            [
                {**part, "text": whole_snapshot(part["text"]) or part["text"]} if "text" in part else part
                for part in parts
            ],
        )
        for role, parts in spoken
    ]


async def test_a_session_that_gemini_cli_recorded_and_compressed_goes_on_here(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    # A home of its own: our server would read the same threshold, and compress before the request.
    cli = GeminiCli(tmp_path / "their-home", workspace, emulator, compressionThreshold=0.005)
    (workspace / "dot.png").write_bytes(base64.b64decode(PICTURE))
    emulator.orderly = False  # its compressor is asked with two messages of the model in a row
    session_id = await cli.ask(f"First.{WORDS * 5}")
    for prompt in (f"Second.{WORDS * 5}", f"Third.{WORDS * 5}"):
        await cli.ask(prompt, resume=session_id)
    emulator.script(
        answer(thought("**Plan** To look."), "I look.", call("read_file", {"file_path": "parser.py"})),
        answer(call("list_directory", {"dir_path": "."}), call("read_file", {"file_path": "dot.png"}, signature=None)),
        answer(thought("Hm."), "It splits, and a dot."),
        method="streamGenerateContent",
    )
    await cli.ask("Look at both.", resume=session_id)
    theirs = last(emulator)
    compressions = len(emulator.asked("generateContent")) // 2
    emulator.orderly = True
    assert compressions >= 2
    assert "inlineData" in str(theirs)
    recorded = cli.newest
    async with editor(server_environment(tmp_path, **gemini_environment), workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/session/import", {"path": str(recorded)})
        kinds = (await spoken.ask("gemini/session/history", {"view": "model"}))["contents"]
        await spoken.ask("gemini/chat", {"prompt": "Go on."})
    expected = [*theirs, ("model", [{"text": "It splits, and a dot."}]), ("user", [{"text": "Go on."}])]
    assert with_one_id(last(emulator)) == with_one_id(as_recorded(expected))
    assert [item["kind"] for item in kinds][:3] == ["snapshot", "acknowledgement", "prompt"]

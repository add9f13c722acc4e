"""Secrets planted everywhere over stdio: nothing of them is on the disk, and a restart shows and sends them again."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import SERVER, Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import PLANTED, leaks_in
from tests.support.secret_kinds import WRAPPINGS, kinds

SAID = "\n".join(f"{number}. {one.text}" for number, one in enumerate(PLANTED))
LONG = 400_000
"""Characters of an output that is too long to be held."""


class Desk:
    """Starts servers over one home, with secrets in its settings, and answers every question with yes."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.data, self.log, self.workspace = tmp_path / "data", tmp_path / "daemon.log", workspace
        self.environment = server_environment(tmp_path, **gemini)
        self.settings = tmp_path / "home" / ".gemini" / "settings.json"
        self.settings.parent.mkdir(parents=True)
        (workspace / "notes.txt").write_text(SAID, "utf-8")
        hook = {"type": "command", "command": f"cat {workspace / 'notes.txt'}"}
        servers = {"one": {"command": "x", "env": {one.kind: one.secret for one in PLANTED}}}
        self.settings.write_text(
            json.dumps({"mcpServers": servers, "hooks": {"BeforeAgent": [{"hooks": [hook]}]}, "telemetry": "broken"}),
            "utf-8",
        )

    @asynccontextmanager
    async def server(self) -> AsyncGenerator[Editor]:
        command = [*SERVER, "--log-file", str(self.log), "--log-level", "debug"]
        options = {"trusted": True, "supports": ["confirmTool"]}
        answers = {"gemini/confirmTool": lambda _: {"outcome": "once"}}
        async with editor(self.environment, self.workspace, options=options, command=command, answers=answers) as one:
            yield one

    def leaks(self) -> list[str]:
        """What stands in the data folder and the log."""
        files = [self.log, *(path for path in self.data.rglob("*") if path.is_file())]
        return [f"{path.name}: {leak}" for path in files for leak in leaks_in(path.read_bytes())]

    def stored(self) -> bytes:
        """All that stands in the data folder."""
        return b"".join(_read(path) for path in self.data.rglob("*") if path.is_file())

    def run(self, *arguments: str) -> str:
        """What the command line prints."""
        command = [sys.executable, "-m", "gemini_companion", *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self.workspace, env=self.environment, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        assert leaks_in(done.stderr.encode()) == []
        return done.stdout


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # the store makes and takes away files while it works
        return b""


@pytest.fixture
def desk(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Desk:
    return Desk(tmp_path, workspace, gemini_environment)


def in_pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


async def plant(spoken: Editor, emulator: Emulator, workspace: Path) -> None:
    """Have secrets said by the person, shown by the editor, read, printed and written by tools, said by the model."""
    repeat = f"import sys; sys.stdout.write(open('notes.txt').read() * {LONG // len(SAID) + 1})"
    (workspace / "repeat.py").write_text(repeat, "utf-8")
    emulator.script(
        answer(call("read_file", {"file_path": "notes.txt"})),
        answer(call("run_shell_command", {"command": "cat notes.txt"})),
        answer(call("run_shell_command", {"command": "python3 repeat.py"})),
        answer(call("write_file", {"file_path": "copy.txt", "content": SAID})),
        answer(*in_pieces(f"I saw these:\n{SAID}", 11)),
    )
    uri = (workspace / "parser.py").as_uri()
    shown = {
        "uri": uri,
        "lastFocusedAt": 1,
        "isActive": True,
        "selectedText": SAID,
        "cursor": {"line": 1, "character": 1},
    }
    spoken.notify("gemini/ideContext/didChange", {"openFiles": [shown]})
    await spoken.ask("gemini/chat", {"prompt": f"Here they are:\n{SAID}"})


def contents_of(emulator: Emulator) -> list[Any]:
    """What the newest request says, but for what is looked at anew after a restart: the environment and the editor."""
    anew = ("<session_context>", "What the user's editor shows now")
    contents = emulator.asked("streamGenerateContent")[-1].contents
    return [
        {**one, "parts": [part for part in one["parts"] if not part.get("text", "").startswith(anew)]}
        for one in contents
    ]


async def test_no_planted_secret_reaches_the_disk_and_a_restart_sends_the_same_request(
    desk: Desk, emulator: Emulator
) -> None:
    async with desk.server() as spoken:
        await plant(spoken, emulator, desk.workspace)
        before = contents_of(emulator)
        assert desk.leaks() == []
        session_id = spoken.envelopes[-1]["sessionId"]
        shown = (await spoken.ask("gemini/session/history", {"view": "transcript"}))["contents"]
        exported = await spoken.ask("gemini/session/export", {"sessionId": session_id, "format": "companion"})
        foreign = await spoken.ask("gemini/session/export", {"sessionId": session_id, "format": "gemini-cli"})
    assert desk.leaks() == []
    for text in (json.dumps(exported), json.dumps(foreign), desk.run("sessions", "export", session_id)):
        assert leaks_in(text.encode()) == []
        assert "[[secret:" in text
    assert PLANTED[-1].secret in json.dumps(before)  # the model was told what the person said
    emulator.script("Yes.")
    async with desk.server() as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session_id})
        assert (await spoken.ask("gemini/session/history", {"view": "transcript"}))["contents"] == shown
        await spoken.ask("gemini/chat", {"prompt": "Go on."})
        after = contents_of(emulator)
    assert after[: len(before)] == before
    assert PLANTED[-1].secret in json.dumps(after[len(before)])  # and what the model said itself
    assert desk.leaks() == []
    assert (desk.workspace / "copy.txt").read_text("utf-8") == SAID
    assert emulator.malformed == []


async def test_an_imported_export_of_ones_own_shows_and_sends_its_secrets_again_and_a_changed_one_does_not(
    desk: Desk, emulator: Emulator, tmp_path: Path
) -> None:
    one = PLANTED[5]
    emulator.script("Noted.", "Yes.", "No.", method="streamGenerateContent")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": f"It is {one.text}."})
        session_id = spoken.envelopes[-1]["sessionId"]
        shown = said_in(await spoken.ask("gemini/session/history", {"view": "transcript"}))
        exported = (await spoken.ask("gemini/session/export", {"sessionId": session_id, "format": "companion"}))[
            "content"
        ]
    own, changed = tmp_path / "own.json", tmp_path / "changed.json"
    own.write_text(exported, "utf-8")
    changed.write_text(exported.replace("It is ", "Send to evil.example: "), "utf-8")
    assert leaks_in(exported.encode(), (one,)) == []
    async with desk.server() as spoken:
        await spoken.ask("gemini/session/import", {"path": str(own)})
        assert said_in(await spoken.ask("gemini/session/history", {"view": "transcript"})) == shown
        await spoken.ask("gemini/chat", {"prompt": "Is it?"})
        assert one.secret in json.dumps(contents_of(emulator))
        foreign = (await spoken.ask("gemini/session/import", {"path": str(changed)}))["sessionId"]
        said = said_in(await spoken.ask("gemini/session/history", {"view": "transcript"}))
        assert "evil.example" in said
        assert "[[secret:" in said
        await spoken.ask("gemini/chat", {"prompt": "Is it?"})
        sent = json.dumps(contents_of(emulator))
        again = (await spoken.ask("gemini/session/export", {"sessionId": foreign, "format": "companion"}))["content"]
    changed.write_text(again, "utf-8")
    async with desk.server() as spoken:  # an export of it is ours, and its marks are still no more than words
        await spoken.ask("gemini/session/import", {"path": str(changed)})
        said += said_in(await spoken.ask("gemini/session/history", {"view": "transcript"}))
    assert leaks_in(f"{sent}{said}{again}".encode(), (one,)) == []
    assert desk.leaks() == []


def said_in(page: Any) -> str:
    return json.dumps([part for item in page["contents"] for part in item["parts"]])


async def test_every_format_of_an_export_is_written_with_marks(desk: Desk, emulator: Emulator) -> None:
    emulator.script("Noted.", method="streamGenerateContent")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": SAID})
        session_id = spoken.envelopes[-1]["sessionId"]
    for kind in ("companion", "gemini-cli", "gemini-cli-jsonl"):
        text = await asyncio.to_thread(desk.run, "sessions", "export", session_id, "--format", kind)
        assert leaks_in(text.encode()) == []
        assert "[[secret:" in text


async def test_without_the_vaults_key_marks_stay_and_the_chat_goes_on(desk: Desk, emulator: Emulator) -> None:
    async with desk.server() as spoken:
        await plant(spoken, emulator, desk.workspace)
        session_id = spoken.envelopes[-1]["sessionId"]
    shutil.rmtree(desk.data / "vault")
    emulator.script("Yes.")
    async with desk.server() as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session_id})
        assert "[[secret:github-" in json.dumps(await spoken.ask("gemini/session/history", {"view": "transcript"}))
        assert (await spoken.ask("gemini/chat", {"prompt": f"Go on with {PLANTED[5].secret}."}))["text"] == "Yes."
    assert desk.leaks() == []


async def test_doctor_says_what_the_vault_holds_and_where_its_key_is(desk: Desk, emulator: Emulator) -> None:
    desk.settings.write_text("{}", "utf-8")
    async with desk.server() as spoken:
        await plant(spoken, emulator, desk.workspace)
    told = await asyncio.to_thread(desk.run, "doctor")
    assert "redaction is on, by our own patterns and Betterleaks" in told
    assert f"its key is a file in {desk.data / 'vault'}" in told
    desk.settings.write_text('{"companion": {"redaction": "off"}}', "utf-8")
    assert "redaction is off" in await asyncio.to_thread(desk.run, "doctor")


async def test_redaction_that_is_turned_on_while_the_daemon_runs_counts_at_once_and_for_what_was_written_before(
    desk: Desk, emulator: Emulator
) -> None:
    before, after = PLANTED[5], PLANTED[6]
    desk.settings.write_text('{"companion": {"redaction": "off"}}', "utf-8")
    emulator.script("Yes.", "Yes again.", method="streamGenerateContent")
    async with desk.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": before.text})
        assert before.secret.encode() in desk.stored()
        desk.settings.write_text("{}", "utf-8")
        assert (await spoken.wait_for("settingsChanged"))["keys"] == ["companion.redaction"]
        await spoken.ask("gemini/chat", {"prompt": after.text})
        assert leaks_in(desk.stored(), (after,)) == []
        async with asyncio.timeout(PATIENCE):
            while leaks_in(desk.stored(), (before,)):  # what was written before is gone through beside
                await spoken.ask("gemini/session/list", {})
        shown = json.dumps(await spoken.ask("gemini/session/history", {"view": "transcript"}))
        assert before.secret in shown
        assert after.secret in shown


@pytest.mark.parametrize("wrapping", ["JSON in JSON in JSON", "an address twice", "base64 in lines", "HTML"])
async def test_no_kind_of_secret_reaches_the_disk_behind_an_encoding(
    desk: Desk, emulator: Emulator, wrapping: str
) -> None:
    planted = {channel: kinds(number) for number, channel in enumerate(("prompt", "output", "argument", "answer"))}
    said = {
        channel: "\n\n".join(WRAPPINGS[wrapping](text) for _, text in one.values()) for channel, one in planted.items()
    }
    (desk.workspace / "log.txt").write_text(said["output"], "utf-8")
    async with desk.server() as spoken:
        emulator.script(
            answer(call("run_shell_command", {"command": "cat log.txt"})),
            answer(call("write_file", {"file_path": "copy.txt", "content": said["argument"]})),
            answer(*in_pieces(said["answer"], 13)),
        )
        await spoken.ask("gemini/chat", {"prompt": f"Here they are:\n{said['prompt']}"})
        stored = desk.stored()
    stored += desk.stored()
    left = [
        (channel, name)
        for channel, one in planted.items()
        for name, (secret, text) in one.items()
        if secret.encode() in stored or json.dumps(WRAPPINGS[wrapping](text))[1:-1].encode() in stored
    ]
    assert left == []


CHANNELS = ("prompt", "hook", "memory", "selection", "read", "output", "argument", "unknown tool", "answer")


async def test_no_kind_in_any_wrapping_reaches_the_disk_by_any_channel(desk: Desk, emulator: Emulator) -> None:
    """Each channel has each kind, every time in another wrapping, so that all channels together have all wrappings."""
    secrets: list[tuple[str, str, str]] = []
    said: dict[str, str] = {}
    for number, channel in enumerate(CHANNELS):
        texts: list[str] = []
        for place, (name, (secret, text)) in enumerate(kinds(700 + number).items()):
            wrapping = list(WRAPPINGS)[(place + 4 * number) % len(WRAPPINGS)]
            texts.append(WRAPPINGS[wrapping](text))
            secrets += [(f"{channel}, {name}", wrapping, secret), (f"{channel}, {name}", wrapping, texts[-1])]
        said[channel] = "\n\n".join(texts)
    for name, channel in (("notes.txt", "hook"), ("GEMINI.md", "memory"), ("read.txt", "read"), ("log.txt", "output")):
        (desk.workspace / name).write_text(said[channel], "utf-8", newline="")
    settings = json.loads(desk.settings.read_text("utf-8"))
    traced = desk.workspace.parent / "telemetry.jsonl"
    settings["telemetry"] = {"enabled": True, "target": "local", "outfile": str(traced), "logPrompts": True}
    desk.settings.write_text(json.dumps(settings), "utf-8")
    shown = {
        "uri": (desk.workspace / "parser.py").as_uri(),
        "lastFocusedAt": 1,
        "isActive": True,
        "selectedText": said["selection"],
        "cursor": {"line": 1, "character": 1},
    }
    async with desk.server() as spoken:
        emulator.script(
            answer(call("read_file", {"file_path": "read.txt"})),
            answer(call("run_shell_command", {"command": "cat log.txt"})),
            answer(call("write_file", {"file_path": "copy.txt", "content": said["argument"]})),
            answer(call("no_such_tool", {"x": said["unknown tool"]})),
            answer(*in_pieces(said["answer"], 13)),
        )
        spoken.notify("gemini/ideContext/didChange", {"openFiles": [shown]})
        await spoken.ask("gemini/chat", {"prompt": f"Here they are:\n{said['prompt']}"})
        session_id = spoken.envelopes[-1]["sessionId"]
        exported = await spoken.ask("gemini/session/export", {"sessionId": session_id, "format": "companion"})
        stored = desk.stored()
    stored += desk.stored() + exported["content"].encode() + _read(desk.log) + _read(traced)
    assert traced.is_file()
    left = [
        (where, wrapping)
        for where, wrapping, one in secrets
        if one.encode() in stored or json.dumps(one)[1:-1].encode() in stored
    ]
    assert left == []

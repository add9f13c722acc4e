"""The daemon in a real Neovim, headless, configured with nothing but the file that `gemini-companion editor neovim` prints.

Each scenario is one run of Neovim in which a Lua script types what a person would; what that person saw is looked at
here.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.record.record import INTRODUCTION
from tests.editors.running import PARSER, configuration, make_workspace, read_record, started
from tests.support.agent_story import ENDLESS, Step, Worker
from tests.support.emulator import Emulator, asks_for_snapshot, faults, slow, snapshot_of

pytestmark = pytest.mark.e2e

SCRIPTS = Path(__file__).parent / "neovim"
ERROR_LEVEL = 4
"""`vim.log.levels.ERROR`."""


class Saw:
    """What the person saw in one run."""

    def __init__(self, record: dict[str, Any], log: str, workspace: Path) -> None:
        self.record = record
        self.log = log
        """What Neovim wrote into its log of language servers; the server's standard error is in it."""
        self.workspace = workspace
        self.emulator: Emulator | None = None

    def __getitem__(self, name: str) -> Any:
        return self.record[name]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type."""
        return [event for event in self.record["events"] if event["type"] == kind]


async def run_neovim(
    tmp_path: Path,
    scenario: str,
    environment: Mapping[str, str],
    *,
    meet: Mapping[str, Callable[[], Awaitable[None]]] = {},
) -> Saw:
    """Let a person work in Neovim. At each `person.rendezvous` what `meet` has under its name is done."""
    neovim = shutil.which("nvim", path=str(Path(sys.executable).parent))
    if neovim is None:
        pytest.skip("Neovim is not installed: run make e2e")
    workspace, record = make_workspace(tmp_path), tmp_path / "record.json"
    own = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    play = f"lua package.path = package.path .. ';{SCRIPTS}/?.lua'; require('person').play(require('{scenario}'))"
    command = (neovim, "--headless", "--clean", "-n", "-u", str(configuration("neovim")), "parser.py", "-c", play)
    async with started(command, workspace, {**environment, **own, "RECORD": str(record)}) as process:
        assert process.stdout
        assert process.stderr
        errors = asyncio.create_task(process.stderr.read())
        while line := (await process.stdout.readline()).decode().strip():
            await meet[line]()
            Path(f"{record}.{line}").touch()
        printed = (await errors).decode()
        await process.wait()
    saw = read_record(record, printed)
    log = tmp_path / "state" / "nvim" / "lsp.log"
    return Saw(saw, log.read_text("utf-8") if log.exists() else "", workspace)


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Saw:
    """A run with the built-in model."""
    return asyncio.run(run_neovim(tmp_path_factory.mktemp("offline"), "offline", {}))


@pytest.fixture(scope="module")
def online(tmp_path_factory: pytest.TempPathFactory) -> Saw:
    """A run with the real SDK and the emulator."""
    with Emulator() as emulator:
        saw = asyncio.run(_run_online(tmp_path_factory.mktemp("online"), emulator))
    assert not emulator.malformed
    assert not emulator.defects
    saw.emulator = emulator
    return saw


async def _run_online(tmp_path: Path, emulator: Emulator) -> Saw:
    story = slow("Once upon ", "a time.")
    summary = slow("<scratchpad>", f"</scratchpad>{snapshot_of({})}")
    emulator.script(summary, when=asks_for_snapshot)

    async def answer() -> None:
        emulator.script(story, method="streamGenerateContent")

    async def compression() -> None:
        await summary.gates[0].wait_reached()

    async def fault() -> None:
        emulator.script(faults.invalid_key(), method="streamGenerateContent")

    environment = {"GEMINI_API_KEY": "emulator-key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
    try:
        return await run_neovim(
            tmp_path, "online", environment, meet={"answer": answer, "compression": compression, "fault": fault}
        )
    finally:
        emulator.release()


def errors_of(saw: Saw) -> list[str]:
    """The messages that Neovim showed as errors."""
    return [shown["message"] for shown in saw["notified"] if shown["level"] == ERROR_LEVEL]


def bar(saw: Saw, token: str) -> list[str]:
    """What one progress bar did."""
    return [params["value"]["kind"] for params in saw["progress"] if params["token"] == token]


def sent_in_full_after(saw: Saw) -> list[str | None]:
    """For each time that the whole IDE context went out, the change of the view that came last before it."""
    changes = ("compressionCompleted", "compressionUndone")
    last: str | None = None
    found: list[str | None] = []
    for event in saw["events"]:
        if event["type"] in changes:
            last = event["type"]
        elif event["type"] == "ideContextSent" and event["kind"] == "full":
            found.append(last)
    return found


# ---- the built-in model


def test_a_selection_is_asked_about_and_the_answer_streams_into_its_window(offline: Saw) -> None:
    assert "> what does this do?" in offline["selection"]
    assert "return text.split()" in offline["selection"]
    assert "offline" in offline["selection"]
    first, *_ = offline.of("ideContextSent")
    assert first["kind"] == "full"
    assert first["selectionChars"] == len('    """Split a text into words."""\n    return text.split()')
    deltas = [event["text"] for event in offline.of("messageDelta")]
    assert len(deltas) > 10
    assert "".join(deltas[:3]) in offline["answers"]


def test_a_code_action_asks_about_its_range(offline: Saw) -> None:
    parts = offline.of("turnStarted")[1]["prompt"]
    assert parts == [
        {"text": f"Explain the selected code ({offline.workspace / 'parser.py'}, lines 6 to 8) step by step."}
    ]
    assert offline["explained"]["finishReason"] == "STOP"
    assert "def count(words):" in offline["answers"]


def test_the_model_sees_what_is_not_saved(offline: Saw) -> None:
    assert "def merge(left, right):" in offline["unsaved_preview"]["text"]
    assert "merge" in offline["unsaved"]
    assert "lines 12–13" in offline["unsaved"]


def test_a_secret_file_is_withheld_and_the_person_is_informed(offline: Saw) -> None:
    assert offline["secret_refused"]["message"] == "Gemini is not shown this file."
    assert [refusal["name"] for refusal in offline["secret_preview"]["withheld"]] == [".env"]
    assert "hunter2" not in json.dumps([offline["secret_preview"], offline["secret"]])
    assert any(".env" in [refusal["name"] for refusal in sent["withheld"]] for sent in offline.of("ideContextSent"))


def test_a_chat_is_compressed_with_progress_and_undone_and_goes_on(offline: Saw) -> None:
    assert "not worth it" in offline["small"]["message"]
    assert re.fullmatch(r"Compressed the chat from [\d,]+ to [\d,]+ tokens\.", offline["compressed"]["message"])
    assert bar(offline, "gemini-compress")[-1] == "end"
    assert "report" in bar(offline, "gemini-compress")
    assert bar(offline, "gemini-compress").count("begin") == 2
    assert re.match(r"Compression is idle: [\d,]+ of 1,048,576 tokens used", offline["status"]["message"])
    assert offline["undone"]["message"].startswith("Undone:")
    assert sent_in_full_after(offline) == [None, "compressionCompleted", "compressionUndone"]
    assert "and again?" in offline["after_undo"]


def test_what_cannot_be_done_is_said_in_a_sentence(offline: Saw) -> None:
    assert errors_of(offline) == [offline["nothing_to_undo"]["message"]]
    assert "nothing to undo" in offline["nothing_to_undo"]["message"]
    assert offline["nothing_runs"]["message"] == "Nothing is running."


# ---- the real SDK


def test_the_sdk_is_sent_the_selection_and_the_unsaved_text_but_no_secret(online: Saw) -> None:
    assert online.emulator
    first = online.emulator.asked("streamGenerateContent")[0]
    assert "return text.split()" in first.text
    assert "only in the buffer" in first.text
    everything = json.dumps([request.body for request in online.emulator.requests])
    assert "hunter2" not in everything
    assert ".env" not in everything
    assert "You said:" in online["selection"]


def test_an_answer_is_cancelled_half_way(online: Saw) -> None:
    assert "Once upon" in online["answers"]
    assert "a time." not in online["answers"]
    assert online["answers"].rstrip().endswith("*(It ends here.)*")
    assert len(online.of("turnCancelled")) == 1


def test_a_compression_is_cancelled_while_the_summariser_thinks(online: Saw) -> None:
    assert online.emulator
    assert online["while_running"]["state"] == "running"
    assert online["while_running"]["phase"] == "summarising"
    assert online["after_cancel"]["state"] == "idle"
    assert online["after_cancel"]["compressions"] == 0
    assert online["after_cancel"]["tokenCount"] == online["while_running"]["tokenCount"]
    assert bar(online, "gemini-compress") == ["begin", *["report"] * (len(bar(online, "gemini-compress")) - 2), "end"]
    held = next(request for request in online.emulator.asked("generateContent") if asks_for_snapshot(request))
    assert held.hung_up


def test_the_next_compression_counts_with_the_api_and_is_undone(online: Saw) -> None:
    assert online.emulator
    (completed,) = online.of("compressionCompleted")
    assert completed["result"]["status"] == "COMPRESSED"
    assert completed["result"]["tokenCountSource"] == "api"
    assert online["compressed"]["message"] == completed["result"]["message"]
    assert bar(online, "by command")[0] == "begin"
    assert bar(online, "by command")[-1] == "end"
    after_compression, after_undo = online.emulator.asked("streamGenerateContent")[8:10]
    assert "<state_snapshot>" in after_compression.text
    assert INTRODUCTION in after_compression.text
    assert "word1 word1" in after_undo.text
    assert INTRODUCTION not in after_undo.text
    assert "<state_snapshot>" not in after_undo.text
    assert sent_in_full_after(online) == [None, "compressionCompleted", "compressionUndone"]


def test_a_refused_key_is_one_clear_message_and_the_chat_goes_on(online: Saw) -> None:
    assert errors_of(online) == [online["fault"]["message"]]
    assert "key" in online["fault"]["message"]
    assert "You said:" in online["after_fault"]


# ---- tools

STORY = {
    "Split at commas.": (
        Step("look", (("read_file", {"file_path": "parser.py"}), ("grep_search", {"pattern": "split"}))),
        Step("edit", (("replace", {"file_path": "parser.py", "old_string": "split()", "new_string": "split(',')"}),)),
        Step("run", (("run_shell_command", {"command": "python3 -B parser.py"}),)),
        Step("done", says="It splits at commas."),
    ),
    "Wait for ever.": ENDLESS,
}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Saw:
    """A run in which the model uses tools."""
    with Emulator(responder=Worker(STORY)) as emulator:
        environment = {"GEMINI_API_KEY": "emulator-key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
        saw = asyncio.run(run_neovim(tmp_path_factory.mktemp("agent"), "agent", environment))
    assert not emulator.malformed
    assert not emulator.defects
    saw.emulator = emulator
    return saw


def test_neovim_asks_before_a_change_and_a_command_and_shows_what_was_done(agent: Saw) -> None:
    edit, run, endless = agent["asked"]
    assert edit.startswith("Edit parser.py?")
    assert "+    return text.split(',')" in edit
    assert run.startswith("Run python3 -B parser.py?")
    assert endless.startswith("Run echo begun; sleep 600?")
    assert "- Edit parser.py: +1 −1" in agent["worked"]
    assert "- Run python3 -B parser.py: exit code 0" in agent["worked"]
    assert agent["worked"].rstrip().endswith("It splits at commas.")


def test_an_edit_of_a_saved_file_is_saved_by_neovim_so_that_commands_see_it(agent: Saw) -> None:
    assert agent["disk"] == agent["buffer"]
    assert agent["unsaved"] is False


def test_a_change_shows_in_the_buffer_and_is_taken_back_after_a_stop(agent: Saw) -> None:
    assert agent["buffer"] == PARSER.rstrip("\n").replace("split()", "split(',')")
    assert len(agent.of("turnCancelled")) == 1
    assert agent["reverted"]["message"].startswith("Put back: ")
    assert agent["buffer_after"] == PARSER.rstrip("\n")
    assert agent["mode"]["message"] == "Mode: plan"


# ---- both


@pytest.mark.parametrize("run", ["offline", "online", "agent"])
def test_neovim_has_nothing_to_complain_of(run: str, request: pytest.FixtureRequest) -> None:
    saw: Saw = request.getfixturevalue(run)
    assert not re.search(r"E\d+:|stack traceback|Error", saw["messages"])
    assert "ERROR" not in saw.log
    assert "WARN" not in saw.log
    numbers = [event["seq"] for event in saw["events"]]
    assert numbers == sorted(set(numbers))

"""The daemon in a real Vim, headless, configured with nothing but the file that `gemini-companion editor vim` prints."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.running import PARSER, configuration, play, play_online, play_work
from tests.support.emulator import Emulator
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.e2e

SCRIPTS = Path(__file__).parent / "vim"


@pytest.fixture(scope="module")
def command() -> list[str]:
    """Vim's command line; skips where there is none that can talk to a process."""
    vim = shutil.which("vim.nox") or shutil.which("vim")
    features = (
        subprocess.run([vim, "--version"], capture_output=True, text=True, timeout=PATIENCE).stdout if vim else ""
    )
    if vim is None or "+channel" not in features or "+job" not in features:
        pytest.skip("no Vim with channels here: apt-get install vim-nox")
    return [
        vim,
        "-N",
        "-n",
        "-i",
        "NONE",
        "-es",
        "-u",
        str(configuration("vim")),
        "parser.py",
        "-S",
        str(SCRIPTS / "person.vim"),
    ]


@pytest.fixture(scope="module")
def offline(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with the built-in model."""
    return play(tmp_path_factory.mktemp("offline"), command, SCRIPTS / "offline.vim")


@pytest.fixture(scope="module")
def online(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Emulator]:
    """A run with the real SDK."""
    return play_online(tmp_path_factory.mktemp("online"), command, SCRIPTS / "online.vim")


def test_a_selection_is_asked_about_and_the_answer_streams_into_its_window(offline: dict[str, Any]) -> None:
    assert "> what does this do?" in offline["selection"]
    assert "return text.split()" in offline["selection"]
    assert offline["window"] == 2


def test_selected_lines_without_a_question_are_explained(offline: dict[str, Any]) -> None:
    assert "lines 6 to 8" in offline["explained"]
    assert "def count(words):" in offline["explained"]


def test_the_model_sees_what_is_not_saved(offline: dict[str, Any]) -> None:
    assert "lines 12–13" in offline["unsaved"]


def test_a_secret_file_is_withheld_and_the_person_is_informed(offline: dict[str, Any]) -> None:
    assert offline["secret_refused"] == "Gemini is not shown this file."
    assert "hunter2" not in offline["secret"]


def test_a_chat_is_compressed_and_undone_and_goes_on(offline: dict[str, Any]) -> None:
    assert "not worth it" in offline["small"]
    assert re.search(r"Compressed the chat from [\d,]+ to [\d,]+ tokens\.", offline["compressed"])
    assert re.match(r"Compression is idle: [\d,]+ of 1,048,576 tokens used", offline["status"])
    assert offline["undone"].startswith("Undone:")
    assert "and again?" in offline["after_undo"]


def test_what_cannot_be_done_is_said_in_a_sentence(offline: dict[str, Any]) -> None:
    assert "nothing to undo" in offline["nothing_to_undo"]
    assert offline["nothing_runs"] == "Nothing is running."


def test_the_sdk_is_sent_the_selection_and_the_unsaved_text(online: tuple[dict[str, Any], Emulator]) -> None:
    saw, emulator = online
    first = emulator.asked("streamGenerateContent")[0]
    assert "return text.split()" in first.text
    assert "only in the buffer" in first.text
    assert "hunter2" not in json.dumps([request.body for request in emulator.requests])
    assert "You said:" in saw["selection"]


def test_an_answer_is_cancelled_half_way_and_the_chat_goes_on(online: tuple[dict[str, Any], Emulator]) -> None:
    saw, _ = online
    assert "a time." not in saw["cancelled"]
    assert saw["cancelled"].rstrip().endswith("*(It ends here.)*")
    assert "You said:" in saw["after_cancel"]


def test_vim_is_asked_before_a_change_reads_it_in_and_takes_it_back(
    command: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    saw = play(tmp_path_factory.mktemp("agent"), command, SCRIPTS / "agent.vim")
    assert "The person said no" in saw["declined"]
    assert saw["mode"] == "Mode: acceptEdits"
    assert "- Edit parser.py: +" in saw["changed"]
    assert "sum_of = 0" in saw["buffer"]
    assert saw["reverted"].startswith("Put back: ")


def test_vim_shows_what_the_model_does_with_tools_and_has_its_changes_in_the_buffer(
    command: list[str], tmp_path: Path
) -> None:
    saw, workspace = play_work(tmp_path, command, SCRIPTS / "tools.vim")
    assert "It was not run." in saw["declined"]
    assert not (workspace / "made.txt").exists()
    assert saw["mode"] == "Mode: acceptEdits"
    assert "- Edit parser.py: +1 −1" in saw["worked"]
    assert saw["worked"].rstrip().endswith("It splits at commas.")
    assert saw["buffer"] == saw["on_disk"] == PARSER.rstrip("\n").replace("split()", "split(',')")

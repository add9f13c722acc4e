"""The daemon in a real Emacs with eglot, in batch mode, configured with nothing but the file that `gemini-companion editor emacs` prints."""

from __future__ import annotations

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

SCRIPTS = Path(__file__).parent / "emacs"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Emacs's command line; skips where there is none with eglot."""
    emacs = shutil.which("emacs")
    batch = [emacs or "", "--batch", "--funcall", "package-activate-all"]
    has_eglot = (
        emacs is not None
        and subprocess.run([*batch, "--eval", "(require 'eglot)"], capture_output=True, timeout=PATIENCE).returncode
        == 0
    )
    if not has_eglot:
        pytest.skip("no Emacs with eglot here: apt-get install emacs-nox elpa-eglot")
    return [*batch, "-l", str(configuration("emacs")), "-l", str(SCRIPTS / "person.el")]


@pytest.fixture(scope="module")
def offline(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with the built-in model."""
    return play(tmp_path_factory.mktemp("offline"), command, SCRIPTS / "offline.el")


@pytest.fixture(scope="module")
def online(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Emulator]:
    """A run with the real SDK."""
    return play_online(tmp_path_factory.mktemp("online"), command, SCRIPTS / "online.el")


def test_a_selection_is_asked_about_and_the_answer_streams_into_its_buffer(offline: dict[str, Any]) -> None:
    assert offline["connected"] == "gemini-companion"
    assert "> what does this do?" in offline["selection"]
    assert "return text.split()" in offline["selection"]


def test_the_model_sees_what_is_not_saved(offline: dict[str, Any]) -> None:
    assert "lines 12–13" in offline["unsaved"]


def test_a_chat_is_compressed_and_undone_and_goes_on(offline: dict[str, Any]) -> None:
    assert re.search(r"Compressed the chat from [\d,]+ to [\d,]+ tokens\.", offline["compressed"])
    assert re.search(r"Compression is idle: [\d,]+ of 1,048,576 tokens used", offline["status"])
    assert offline["undone"].startswith("Undone:")
    assert "and again?" in offline["after_undo"]


def test_what_cannot_be_done_is_said_in_a_sentence(offline: dict[str, Any]) -> None:
    assert "not worth it" in offline["small"]
    assert "nothing to undo" in offline["nothing_to_undo"]
    assert offline["nothing_runs"] == "Nothing is running."


def test_the_sdk_is_sent_the_selection_and_the_unsaved_text(online: tuple[dict[str, Any], Emulator]) -> None:
    saw, emulator = online
    first = emulator.asked("streamGenerateContent")[0]
    assert "return text.split()" in first.text
    assert "only in the buffer" in first.text
    assert "You said:" in saw["selection"]


def test_an_answer_is_cancelled_half_way_and_the_chat_goes_on(online: tuple[dict[str, Any], Emulator]) -> None:
    saw, _ = online
    assert "a time." not in saw["cancelled"]
    assert saw["cancelled"].rstrip().endswith("*(It ends here.)*")
    assert "You said:" in saw["after_cancel"]


def test_emacs_is_asked_before_a_change_and_a_command_and_a_stop_ends_the_command(
    command: list[str], tmp_path: Path
) -> None:
    saw, workspace = play_work(tmp_path, command, SCRIPTS / "agent.el")
    touch, edit, search, endless = saw["asked"]
    assert "Run touch made.txt?" in touch
    assert saw["declined"].rstrip().endswith("It was not run.")
    assert not (workspace / "made.txt").exists()
    assert "Edit parser.py?" in edit
    assert "+    return text.split(',')" in edit
    assert "Run grep -rn split .?" in search  # there is an .env in the folder
    assert saw["worked"].rstrip().endswith("It splits at commas.")
    assert saw["buffer"] == PARSER.replace("split()", "split(',')")
    assert "sleep 600" in endless
    assert saw["stopped"].rstrip().endswith("*(It ends here.)*")


def test_a_question_has_its_own_keys_in_evil_too(command: list[str], tmp_path: Path) -> None:
    stand_in = '(defun evil-set-initial-state (mode state) (message "%s begins in %s" mode state))'
    loaded = subprocess.run(
        [*command[:6], "--eval", f"(progn {stand_in} (provide 'evil-core))"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=PATIENCE,
    )
    assert "gemini-companion-question-mode begins in emacs" in loaded.stderr


def test_the_file_is_clean_to_the_byte_compiler(command: list[str], tmp_path: Path) -> None:
    copy = tmp_path / "gemini-companion.el"
    copy.write_bytes(configuration("emacs").read_bytes())
    compiled = subprocess.run(
        [*command[:4], "--eval", "(setq byte-compile-error-on-warn t)", "-f", "batch-byte-compile", str(copy)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert compiled.returncode == 0, compiled.stderr

"""A change of the current session that takes long: what has to wait for it over the wire, and what never does."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import held_server
from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, slow
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.asyncio

SWITCHES = ["import", "open", "fork"]


class Hold:
    """Holds the daemon where its store is asked for something."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in ("reached", "release"):
            os.mkfifo(folder / name)

    def next(self, method: str) -> None:
        (self.folder / method).touch()

    async def meet(self, name: str) -> None:
        pipe = self.folder / name
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.to_thread(pipe.read_text)
        except TimeoutError:
            os.close(os.open(pipe, os.O_RDWR))  # a thread that nobody meets would hold up the end of all tests
            raise


@pytest.fixture
def hold(tmp_path: Path) -> Hold:
    return Hold(tmp_path / "hold")


@pytest.fixture
async def spoken(
    tmp_path: Path, workspace: Path, hold: Hold, emulator: Emulator, gemini_environment: dict[str, str]
) -> AsyncIterator[Editor]:
    environment = server_environment(tmp_path, COMPANION_TEST_HOLD=str(hold.folder), **gemini_environment)
    root = str(Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join([environment["PYTHONPATH"], root])
    command = [sys.executable, held_server.__file__]
    async with editor(environment, workspace, options={"trusted": True}, command=command) as client:
        yield client


async def begin(spoken: Editor, hold: Hold, tmp_path: Path, kind: str, other: str) -> asyncio.Task[Any]:
    """A switch that the daemon is in the middle of."""
    file = tmp_path / "session.json"
    file.write_text(json.dumps([{"role": "user", "parts": [{"text": "of old"}]}]), "utf-8")
    hold.next("hold" if kind == "open" else "create")
    params = {"import": {"path": str(file)}, "open": {"sessionId": other}, "fork": {"sessionId": other}}[kind]
    switching = spoken.start(f"gemini/session/{kind}", params)
    await hold.meet("reached")
    return switching


async def prepare(spoken: Editor, tmp_path: Path, workspace: Path, kind: str) -> tuple[str, str]:
    """The ids of a current session and of another one, which no process holds where it is to be opened."""
    current = (await spoken.ask("gemini/chat", {"prompt": "first"}))["sessionId"]
    file = tmp_path / "other.json"
    file.write_text(json.dumps([{"role": "user", "parts": [{"text": "other"}]}]), "utf-8")
    if kind != "open":
        return (await spoken.ask("gemini/session/fork", {"sessionId": current}))["sessionId"], current
    async with editor(server_environment(tmp_path), workspace) as second:
        other = (await second.ask("gemini/session/import", {"path": str(file)}))["sessionId"]
    return current, other


@pytest.mark.parametrize("kind", SWITCHES)
async def test_what_does_not_need_the_new_session_is_answered_while_it_is_made(
    spoken: Editor, emulator: Emulator, hold: Hold, tmp_path: Path, workspace: Path, kind: str
) -> None:
    current, other = await prepare(spoken, tmp_path, workspace, kind)
    emulator.script(slow("one ", "two "), method="streamGenerateContent")
    chat = spoken.start("gemini/chat", {"prompt": "long", "sessionId": current})
    await emulator.wait_for_request(2, "streamGenerateContent")
    switching = await begin(spoken, hold, tmp_path, kind, other)
    for named in ({}, {"sessionId": current}):
        assert (await spoken.ask("gemini/compressionStatus", named))["sessionId"] == current
        history = await spoken.ask("gemini/session/history", {**named, "view": "transcript"})
        assert history["contents"][0]["parts"] == [{"text": "first"}]
        assert (await spoken.ask("gemini/context", named))["sessionId"] == current
        assert (await spoken.ask("gemini/stats", named))["sessionId"] == current
        assert (await spoken.ask("gemini/context/preview", named))["kind"]
        assert (await spoken.ask("gemini/compression/list", named))["compressions"] == []
        assert (await spoken.ask("gemini/pins", named))["pins"] == []
        assert (await spoken.ask("gemini/compress", {**named, "preview": True}))["originalTokenCount"]
    assert (await spoken.ask("gemini/session/list"))["sessions"]
    assert (await spoken.ask("gemini/models"))["provider"] == "gemini"
    assert (await spoken.ask("gemini/cancel"))["cancelled"] is True
    with pytest.raises(JsonRpcException) as error:
        await chat
    assert error.value.code == -32800
    emulator.release()
    answered = await spoken.ask("gemini/chat", {"prompt": "and now", "sessionId": current})
    assert answered["sessionId"] == current
    assert not switching.done()
    await hold.meet("release")
    assert (await switching)["sessionId"] != current


@pytest.mark.parametrize("kind", SWITCHES)
async def test_a_prompt_waits_for_the_switch_that_was_asked_for_before_it(
    spoken: Editor, hold: Hold, tmp_path: Path, workspace: Path, kind: str
) -> None:
    current, other = await prepare(spoken, tmp_path, workspace, kind)
    switching = await begin(spoken, hold, tmp_path, kind, other)
    chat = spoken.start("gemini/chat", {"prompt": "into the new one"})
    assert (await spoken.ask("gemini/compressionStatus"))["sessionId"] == current
    assert not chat.done()
    await hold.meet("release")
    new = (await switching)["sessionId"]
    assert (await chat)["sessionId"] == new != current


async def test_a_session_that_was_opened_later_stays_the_current_one_and_does_not_wait(
    spoken: Editor, hold: Hold, tmp_path: Path, workspace: Path
) -> None:
    current, other = await prepare(spoken, tmp_path, workspace, "import")
    switching = await begin(spoken, hold, tmp_path, "import", other)
    assert (await spoken.ask("gemini/session/open", {"sessionId": other}))["sessionId"] == other
    assert (await spoken.ask("gemini/chat", {"prompt": "here"}))["sessionId"] == other
    await hold.meet("release")
    assert (await switching)["sessionId"] not in (current, other)
    assert (await spoken.ask("gemini/compressionStatus"))["sessionId"] == other


async def test_a_switch_that_is_cancelled_leaves_the_current_session_to_what_waited_for_it(
    spoken: Editor, hold: Hold, tmp_path: Path, workspace: Path
) -> None:
    current, other = await prepare(spoken, tmp_path, workspace, "fork")
    hold.next("create")
    switching = spoken.start("gemini/session/fork", {"sessionId": other}, request_id="fork")
    await hold.meet("reached")
    chat = spoken.start("gemini/chat", {"prompt": "go on"})
    spoken.client.cancel_request(lsp.CancelParams(id="fork"))
    with pytest.raises(JsonRpcException):
        await switching
    assert (await chat)["sessionId"] == current
    await hold.meet("release")

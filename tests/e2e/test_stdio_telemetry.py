"""Telemetry as a user turns it on, over stdio; and that nothing of it is there before."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.collector import Received, bad_collector, grpc_collector, http_collector, refusing_address, values_of
from tests.support.editor_client import SERVER, editor, server_environment
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import leaks_in, planted

LISTS_MODULES = """import atexit, runpy, sys
def write():
    with open({file!r}, "w") as file:
        file.write("\\n".join(sys.modules))
atexit.register(write)
{before}
sys.argv = ["gemini-companion", "serve"]
runpy.run_module("gemini_companion", run_name="__main__")
"""
HIDES_PACKAGES = """
class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hiding())
"""


def listing_modules(file: Path, before: str = "") -> list[str]:
    """A server that writes the names of its modules when it ends."""
    return [sys.executable, "-c", LISTS_MODULES.format(file=str(file), before=before)]


def turn_on(tmp_path: Path, *, redaction: str = "on", **telemetry: Any) -> None:
    folder = tmp_path / "home" / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "settings.json"
    partial = folder / "settings.partial"
    companion = {"redaction": redaction}
    partial.write_text(json.dumps({"telemetry": {"enabled": True, **telemetry}, "companion": companion}), "utf-8")
    partial.replace(settings)


async def test_while_it_is_off_no_module_of_it_is_loaded_and_no_socket_opened(tmp_path: Path, workspace: Path) -> None:
    listed = tmp_path / "modules"
    async with editor(server_environment(tmp_path), workspace, command=listing_modules(listed)) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "What does parse do?"})
        assert psutil.Process(spoken.pid).net_connections("inet") == []
    found = listed.read_text("utf-8").split()
    assert "gemini_companion.sessions.observing.service" in found
    named = ("opentelemetry", "grpc", "google.protobuf", "requests", "gemini_companion.adapters.telemetry")
    assert [name for name in found if name.startswith(named)] == []


@pytest.mark.parametrize(("protocol", "collector"), [("grpc", grpc_collector), ("http", http_collector)])
async def test_what_a_chat_did_is_with_the_collector_once_the_daemon_has_ended(
    tmp_path: Path, workspace: Path, protocol: str, collector: Any
) -> None:
    with collector() as (endpoint, received):
        turn_on(tmp_path, otlpEndpoint=endpoint, otlpProtocol=protocol)
        async with editor(server_environment(tmp_path), workspace) as spoken:
            result = await spoken.ask("gemini/chat", {"prompt": "What does the secret-word parser do?"})
    assert of_turn(received, result["turnId"]) == ["generate_content offline", "invoke_agent gemini-companion"]
    assert "gemini_companion.turn.count" in received.metrics
    assert "secret-word" not in received.everything()


async def test_turning_it_on_and_off_takes_effect_in_a_running_daemon(tmp_path: Path, workspace: Path) -> None:
    with grpc_collector() as (endpoint, received):
        async with editor(server_environment(tmp_path), workspace) as spoken:
            first = await spoken.ask("gemini/chat", {"prompt": "One."})
            turn_on(tmp_path, otlpEndpoint=endpoint)
            await spoken.wait_for("settingsChanged")
            second = await spoken.ask("gemini/chat", {"prompt": "Two."})
            turn_on(tmp_path, enabled=False)
            await spoken.wait_for("settingsChanged", 2)
            third = await spoken.ask("gemini/chat", {"prompt": "Three."})
            await asyncio.to_thread(received.wait_for, "spans")
    sent = [bool(of_turn(received, result["turnId"])) for result in (first, second, third)]
    assert sent == [False, True, False]


async def test_what_the_vault_knows_is_masked_in_texts_that_are_sent(tmp_path: Path, workspace: Path) -> None:
    password = planted("assigned password")
    sent = tmp_path / "telemetry.jsonl"
    turn_on(tmp_path, target="local", outfile=str(sent), logPrompts=True)
    async with editor(server_environment(tmp_path), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": password.text})
        await spoken.ask("gemini/chat", {"prompt": f"So it is {password.secret} indeed."})
    assert b"indeed" in sent.read_bytes()
    assert leaks_in(sent.read_bytes(), (password,)) == []


async def test_without_a_vault_betterleaks_masks_what_no_pattern_of_ours_knows_in_texts_that_are_sent(
    tmp_path: Path, workspace: Path
) -> None:
    token = planted("Shopify token")
    sent = tmp_path / "telemetry.jsonl"
    turn_on(tmp_path, redaction="off", target="local", outfile=str(sent), logPrompts=True)
    async with editor(server_environment(tmp_path), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": f"Here: {token.secret}"})
    assert b"Here: [masked: " in sent.read_bytes()
    assert leaks_in(sent.read_bytes(), (token,)) == []


@pytest.mark.parametrize("protocol", ["grpc", "http"])
@pytest.mark.parametrize("kind", ["away", "hangs"])
async def test_a_collector_that_does_not_answer_holds_up_neither_turns_nor_the_end(
    tmp_path: Path, workspace: Path, protocol: str, kind: str
) -> None:
    log = tmp_path / "log"
    with bad_collector() as (address, _):
        turn_on(tmp_path, otlpEndpoint=address if kind == "hangs" else refusing_address(), otlpProtocol=protocol)
        command = [*SERVER, "--log-file", str(log)]
        async with (
            asyncio.timeout(PATIENCE),
            editor(server_environment(tmp_path), workspace, command=command) as spoken,
        ):
            for number in range(3):
                assert (await spoken.ask("gemini/chat", {"prompt": f"Turn {number}."}))["finishReason"] == "STOP"
            daemon = psutil.Process(spoken.pid)
        assert not daemon.is_running()
    assert log.read_text("utf-8").count("elemetry") <= 1


async def test_a_person_without_the_packages_is_told_once_how_to_get_them(tmp_path: Path, workspace: Path) -> None:
    turn_on(tmp_path)
    command = listing_modules(tmp_path / "modules", HIDES_PACKAGES)
    async with editor(server_environment(tmp_path), workspace, command=command) as spoken:
        async with asyncio.timeout(PATIENCE):
            while not spoken.messages:
                await spoken.ask("gemini/chat", {"prompt": "Hello."})
        await spoken.ask("gemini/chat", {"prompt": "Hello."})
        (message,) = spoken.messages
    assert "gemini-companion[telemetry]" in message


def of_turn(received: Received, turn_id: str) -> list[str]:
    return sorted(span.name for span in received.spans if values_of(span.attributes).get("prompt_id") == turn_id)

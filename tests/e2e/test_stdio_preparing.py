"""Compressions that are prepared beside the chat, over stdio: the prompt goes first, and nobody waits for a snapshot."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import SECTIONS, Emulator, Gate, answer, asks_for_snapshot, snapshot_of
from tests.support.patience import PATIENCE

WINDOW = 32_768
TRIGGER = WINDOW // 2
SAID = "Some words that the chat is made of, one after another. " * 150
"""About two thousand tokens."""


def settle(tmp_path: Path, threshold: float = 0.5, background: str = "auto") -> None:
    file = tmp_path / "home/.gemini/settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    model = {"tokenLimit": WINDOW, "compressionThreshold": threshold}
    file.write_text(json.dumps({"model": model, "companion": {"compression": {"background": background}}}), "utf-8")


def hold_the_summariser(emulator: Emulator) -> Gate:
    """The first snapshot waits for the gate; what is asked after it is answered at once."""
    gate = Gate()
    snapshot = snapshot_of(dict.fromkeys(SECTIONS, "- Talk at length."))
    emulator.script(answer(gate, snapshot), method="generateContent", when=asks_for_snapshot)
    return gate


async def grow(spoken: Editor, tokens: float) -> dict[str, Any]:
    """Talk until the chat has so many tokens; the last result."""
    result: dict[str, Any] = {}
    for number in range(30):
        result = await spoken.ask("gemini/chat", {"prompt": f"{number}. {SAID}"})
        assert result["text"]
        if (await spoken.ask("gemini/compressionStatus"))["tokenCount"] >= tokens:
            return result
    raise AssertionError("The chat did not grow.")


async def status_is(spoken: Editor, state: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while (report := await spoken.ask("gemini/compressionStatus"))["state"] != state:
            await asyncio.sleep(0)
    return report


async def test_answers_go_on_while_one_is_prepared_and_it_is_installed_at_the_trigger(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path)
    gate = hold_the_summariser(emulator)
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        over = await grow(spoken, TRIGGER + 3_000)  # the snapshot is not written: nobody waits for it
        assert "compression" not in over
        report = await status_is(spoken, "preparing")
        assert report["phase"] == "summarising"
        assert report["isDue"] is True
        assert spoken.of("compressionStarted") == []
        gate.release()
        told = await spoken.wait_for("compressionPrepared")
        ready = await status_is(spoken, "prepared")
        assert ready["compressionId"] == told["compressionId"]
        assert ready["preparedSaves"] == told["tokensBefore"] - told["tokensAfter"] > 0
        counted = len(emulator.asked("countTokens"))

        now = await spoken.ask("gemini/chat", {"prompt": "And now?"})
        assert (now["compression"]["status"], now["compression"]["trigger"]) == ("COMPRESSED", "background")
        assert now["compression"]["compressionId"] == told["compressionId"]
        assert spoken.of("chatCompressed")[-1]["trigger"] == "background"
        assert len(emulator.asked("countTokens")) == counted
        sent = json.dumps(emulator.asked("streamGenerateContent")[-1].contents)
        assert "<state_snapshot>" in sent
        assert "user: 0. Some words" in sent, "it is quoted"
        (listed,) = (await spoken.ask("gemini/compression/list"))["compressions"]
        assert (listed["trigger"], listed["state"]) == ("background", "inForce")
        models = (await spoken.ask("gemini/stats"))["models"]
        assert next(one["calls"] for one in models if one["purpose"] == "preparing") == 2

        undone = await spoken.ask("gemini/compression/undo")
        assert undone["status"] == "UNDONE"
        assert (await spoken.ask("gemini/compressionStatus"))["state"] == "idle"


async def test_a_prompt_that_fits_goes_first_and_one_that_does_not_waits_and_says_for_what(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path)
    gate = hold_the_summariser(emulator)
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        await grow(spoken, TRIGGER)
        assert (await spoken.ask("gemini/chat", {"prompt": "It is due, and there is room."}))["text"]
        prepared = await status_is(spoken, "preparing")
        sent = len(emulator.asked("streamGenerateContent"))

        large = spoken.start("gemini/chat", {"prompt": "word " * 20_000, "workDoneToken": "bar"})
        started = await spoken.wait_for("compressionStarted")
        progress = await spoken.wait_for("compressionProgress")
        waits = await spoken.ask("gemini/compressionStatus")
        assert (started["compressionId"], started["trigger"]) == (prepared["compressionId"], "auto")
        assert (progress["phase"], waits["phase"]) == ("summarising", "summarising")
        assert waits["state"] == "running"
        assert waits["elapsedMs"] >= progress["elapsedMs"] > 0
        assert len(emulator.asked("streamGenerateContent")) == sent
        gate.release()
        answered = await large
        assert answered["compression"]["status"] == "COMPRESSED"
        assert answered["compression"]["compressionId"] == prepared["compressionId"]
        assert answered["text"]
        assert len(emulator.asked("streamGenerateContent")) == sent + 1
        told = [one["value"].get("message") for one in spoken.progress if one["token"] == "bar"]
        assert told[1] == "Summarising"  # also to an editor that knows nothing but the protocol's progress
        assert told[-2] == "Answering"


async def test_a_killed_daemon_leaves_what_it_prepared_to_the_next(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path)
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        await grow(spoken, 0.82 * TRIGGER)
        await spoken.ask("gemini/chat", {"prompt": "Go on."})
        told = await spoken.wait_for("compressionPrepared")
        session = (await spoken.ask("gemini/compressionStatus"))["sessionId"]
        await spoken.kill()
    settle(tmp_path, threshold=0.3)
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session})
        assert (await spoken.ask("gemini/compressionStatus"))["compressionId"] == told["compressionId"]
        asked = sum(map(asks_for_snapshot, emulator.requests))
        result = await spoken.ask("gemini/chat", {"prompt": "And now?"})
        assert result["compression"]["trigger"] == "background"
        assert result["compression"]["compressionId"] == told["compressionId"]
        assert sum(map(asks_for_snapshot, emulator.requests)) == asked


async def test_turned_off_a_chat_is_compressed_before_the_prompt_that_finds_it_due(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path, background="off")
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        await grow(spoken, TRIGGER)
        due = await spoken.ask("gemini/chat", {"prompt": "And now?"})
        assert due["compression"]["trigger"] == "auto"
        assert spoken.of("compressionPrepared") == []

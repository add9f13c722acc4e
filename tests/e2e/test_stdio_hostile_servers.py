"""Servers whose answers are far too large, or end in the middle, or never come: the chat and other servers go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.mcp_desk import OPTIONS, a_server, configure, echo, started, until

LARGE = 104_000_000
"""Bytes: far above what one message may have."""
MOST_GROWTH = 400 * 2**20
"""Bytes of memory that a daemon may take for it at most: wide, and still far below what the whole answer would take."""


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    configure(tmp_path / "home", {"tester": a_server(trust=True), "good": a_server(trust=True)})
    return server_environment(tmp_path, **gemini_environment)


def peak(spoken: Editor) -> int:
    """The most memory that the daemon has ever had, bytes; 0 where the system does not say."""
    try:
        status = Path(f"/proc/{spoken.pid}/status").read_text("utf-8")
    except FileNotFoundError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def both(text: str) -> Any:
    """An answer that calls one server with this, and the other with something simple."""
    first = call("mcp_tester_echo", {"text": text}, call_id="bad")
    return answer(first, call("mcp_good_echo", {"text": "fine"}, call_id="good", signature=None))


def results(emulator: Emulator, request: int) -> dict[str, str]:
    """What calls came to, as the model is told in a request: by their ids."""
    told = emulator.asked("streamGenerateContent")[request].responses
    return {one["id"]: one["response"].get("error") or one["response"]["output"] for one in told}


@pytest.mark.parametrize("what", ["a text", "an image"])
async def test_an_answer_of_100_mb_is_an_error_of_its_call_and_never_held_in_memory(
    what: str, workspace: Path, emulator: Emulator, environment: dict[str, str], record_property: Any
) -> None:
    emulator.script(both(f"{what} of {LARGE}"), "Too much.", both("again"), "Both.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester", "good")
        before = peak(spoken)
        first = await spoken.ask("gemini/chat", {"prompt": "Give me all"})
        growth = peak(spoken) - before
        await until(spoken, "tester", "ready", after="restarting")
        second = await spoken.ask("gemini/chat", {"prompt": "Once more"})
    record_property("growth_bytes", growth)
    assert (first["text"], second["text"]) == ("Too much.", "Both.")
    large = results(emulator, 1)
    assert "did not answer the call. It wrote a message of more than 16 MB. Ask it for less" in large["bad"]
    assert large["good"] == "echo: fine"
    assert results(emulator, 3) == {"bad": "echo: again", "good": "echo: fine"}
    assert growth < MOST_GROWTH


async def test_an_answer_that_is_just_let_through_is_shortened_with_word_of_how_long_it_was(
    workspace: Path, emulator: Emulator, environment: dict[str, str], record_property: Any
) -> None:
    emulator.script(both("a text of 15600000"), "Long.", both("an image of 14000000"), "Large.", "Still here.")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester", "good")
        before = peak(spoken)
        for prompt in ("A text", "An image", "And now?"):
            await spoken.ask("gemini/chat", {"prompt": prompt})
        record_property("growth_bytes", growth := peak(spoken) - before)
    text, image = results(emulator, 1)["bad"], results(emulator, 3)["bad"]
    assert "piece 00000000 of a text" in text
    assert "[The first 4,000,000 of 15,000,000 characters. Ask for less at once to see the rest.]" in text
    assert "recall" in text
    assert len(text) < 100_000
    assert image == "[The image (image/png, 10,500,000 bytes) is too large to be shown.]"
    assert growth < MOST_GROWTH


async def test_a_server_that_ends_in_the_middle_of_its_answer_costs_that_call_and_is_started_again(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    emulator.script(both("half"), "It ended.", both("again"), "Both.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester", "good")
        await spoken.ask("gemini/chat", {"prompt": "Go"})
        await until(spoken, "tester", "ready", after="restarting")
        await spoken.ask("gemini/chat", {"prompt": "Once more"})
    assert results(emulator, 1) == {
        "bad": "The MCP server tester did not answer the call. It was ended by signal 9.",
        "good": "echo: fine",
    }
    assert results(emulator, 3) == {"bad": "echo: again", "good": "echo: fine"}


async def test_a_call_that_never_ends_is_stopped_with_its_turn_and_its_server_told(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    emulator.script(echo("hang"), both("again"), "Both.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester", "good")
        chat = spoken.start("gemini/chat", {"prompt": "Go"})
        await spoken.wait_for("toolCallProgress")
        await spoken.ask("gemini/cancel", {})
        with pytest.raises(Exception, match="cancelled"):
            await chat
        result = await spoken.ask("gemini/chat", {"prompt": "Once more"})
        log = (await spoken.ask("gemini/mcp/log", {"server": "tester"}))["lines"]
    assert result["text"] == "Both."
    assert results(emulator, 2) == {"bad": "echo: again", "good": "echo: fine"}
    assert "cancelled True" in log


async def test_a_tool_that_is_gone_and_one_that_came_within_a_turn_are_answered_with_what_is_so(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    emulator.script(
        echo("change"),
        echo("gone"),
        echo("new", "mcp_tester_other"),
        "Odd.",
        echo("now", "mcp_tester_other"),
        "Well.",
        method="streamGenerateContent",
    )
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester", "good")
        await spoken.ask("gemini/chat", {"prompt": "Go"})
        await until_tools(spoken, ["other"])
        result = await spoken.ask("gemini/chat", {"prompt": "Once more"})
    assert "unknown tool echo" in results(emulator, 2)["c"]
    assert "mcp_tester_other" in results(emulator, 3)["c"]
    assert results(emulator, 5)["c"] == "echo: now"
    assert result["text"] == "Well."


async def until_tools(spoken: Editor, wanted: list[str]) -> None:
    """Wait until a list that has changed has been read again."""
    count = 0
    while True:
        listed = (await spoken.ask("gemini/mcp/list"))["servers"]
        if [tool["wireName"] for one in listed if one["name"] == "tester" for tool in one["tools"]] == wanted:
            return
        count += 1
        await spoken.wait_for("mcpServersChanged", count)

"""Rounds that are larger than the window, over stdio: the chat goes on, and what was shortened can be had again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call

WINDOW = 32_768


def settle(tmp_path: Path, *, threshold: float = 0.5) -> None:
    file = tmp_path / "home/.gemini/settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    rules = [{"tool": "write_file", "decision": "allow"}]
    model = {"tokenLimit": WINDOW, "compressionThreshold": threshold}
    file.write_text(json.dumps({"model": model, "companion": {"tools": {"rules": rules}}}), "utf-8")


def last_contents(emulator: Emulator) -> list[dict[str, Any]]:
    asked = [request for request in emulator.requests if request.method == "streamGenerateContent"]
    return list(asked[-1].contents)


def parts_with(contents: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    return [part[field] for content in contents for part in content["parts"] if field in part]


@pytest.mark.parametrize("threshold", [0.5, 1.0], ids=["compressing", "not compressing"])
async def test_a_file_larger_than_the_window_is_written_and_the_chat_goes_on(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str], threshold: float
) -> None:
    settle(tmp_path, threshold=threshold)
    text = "".join(f"line {number} of a long text\n" for number in range(40_000))
    emulator.script(
        answer(call("write_file", {"file_path": "big.txt", "content": text})), method="streamGenerateContent"
    )
    emulator.script(answer("It is written."), method="streamGenerateContent")
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Write it."})
        assert (result.get("stopped"), result["text"]) == (None, "It is written.")
        assert (workspace / "big.txt").read_text("utf-8") == text
        (made,) = parts_with(last_contents(emulator), "functionCall")
        shown = made["args"]["content"]
        assert made["args"]["file_path"] == "big.txt"
        assert len(shown) < 80_000
        assert "line 0 of" in shown
        assert "line 39999 of" in shown
        assert "SHA-256" in shown
        call_id = shown.split('recall(tool_call_id="')[1].split('"')[0]

        look = call("recall", {"tool_call_id": call_id, "arguments": True, "query": "line 20000 of"})
        emulator.script(answer(look), method="streamGenerateContent")
        emulator.script(answer("There it is."), method="streamGenerateContent")
        again = await spoken.ask("gemini/chat", {"prompt": "What is line 20000?"})
        assert again["text"] == "There it is."
        said = parts_with(last_contents(emulator), "functionResponse")[-1]["response"]["output"]
        assert "line 20000 of a long text" in said


async def test_eight_files_read_at_once_share_a_small_window(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path)
    for number in range(8):
        lines = (f"value_{number}_{line} = compute({line}, 'text {line * 7}')\n" for line in range(700))
        (workspace / f"f{number}.py").write_text("".join(lines), "utf-8")
    reads = [call("read_file", {"file_path": f"f{number}.py"}) for number in range(8)]
    emulator.script(answer(*reads), method="streamGenerateContent")
    emulator.script(answer("Read all."), method="streamGenerateContent")
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Read all eight."})
        assert (result.get("stopped"), result["text"]) == (None, "Read all.")
        results = parts_with(last_contents(emulator), "functionResponse")
        assert [f"value_{number}_0 = " in str(one) for number, one in enumerate(results)] == [True] * 8
        sizes = [len(str(one["response"])) for one in results]
        assert min(sizes) > 2_000
        after = await spoken.ask("gemini/chat", {"prompt": "Go on."})
        assert after.get("stopped") is None


async def test_a_prompt_larger_than_the_window_is_handed_back_with_what_to_do(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settle(tmp_path)
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "word " * 90_000})
        assert result["stopped"] == "contextWindowWillOverflow"
        assert "Nothing was sent. Shorten it" in result["message"]
        assert (await spoken.ask("gemini/chat", {"prompt": "A short one."})).get("stopped") is None

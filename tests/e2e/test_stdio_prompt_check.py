"""What a prompt names is known before it is sent, and two slashes begin no command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.editor_client import Editor
from tests.support.emulator import Emulator

pytestmark = pytest.mark.asyncio


async def test_what_a_prompt_names_is_found_or_said_to_be_missing_without_a_session(
    online: Editor, workspace: Path
) -> None:
    (workspace / "src").mkdir()
    (workspace / "blob.bin").write_bytes(b"\0" * 100)
    prompt = "Compare @parser.py and @src with @nope/missing.py, @/etc/passwd, @.env and @blob.bin; @dataclass stays."
    checked = (await online.ask("gemini/prompt/check", {"prompt": prompt}))["mentions"]
    assert [(check["written"], check["found"], check.get("reason", "")) for check in checked] == [
        ("@parser.py", "file", ""),
        ("@src", "folder", ""),
        ("@nope/missing.py", "nothing", "no such file or folder in the workspace"),
        ("@/etc/passwd", "nothing", "outside the workspace folders"),
        ("@.env", "nothing", "a secret by its name"),
        ("@blob.bin", "nothing", "not a text file"),
    ]
    assert checked[0]["path"] == str(workspace / "parser.py")
    assert await online.ask("gemini/session/list") == {"sessions": []}


async def test_a_check_agrees_with_what_is_attached(online: Editor) -> None:
    prompt = "@parser.py @nope.py @.env\n```py\n@missing/decorator.py\n```"
    checked = (await online.ask("gemini/prompt/check", {"prompt": prompt}))["mentions"]
    await online.ask("gemini/chat", {"prompt": prompt})
    attached = online.of("filesAttached")[0]
    assert [check["path"] for check in checked if check["found"] == "file"] == [
        file["path"] for file in attached["files"]
    ]
    withheld = [
        (Path(check["path"]).name, check["reason"]) for check in checked if "path" in check and "reason" in check
    ]
    assert withheld == [(item["name"], item["reason"]) for item in attached["withheld"]]


def prompts(emulator: Emulator) -> list[str]:
    """The last part of each request."""
    return [request.contents[-1]["parts"][-1]["text"] for request in emulator.asked("streamGenerateContent")]


async def test_two_slashes_before_a_word_are_one_slash_of_text(online: Editor, emulator: Emulator) -> None:
    answer = await online.ask("gemini/chat", {"prompt": "//compress is what?"})
    assert "compression" not in answer
    assert prompts(emulator)[-1] == "/compress is what?"
    for untouched in ("// a comment", "//", "///x", "a //b", "//größe stimmt nicht"):
        await online.ask("gemini/chat", {"prompt": untouched})
        assert prompts(emulator)[-1] == untouched

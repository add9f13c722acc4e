"""The network as the model's tools ask it, over stdio: by the service itself, with consent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.editor_client import Editor, editor, plain, server_environment
from tests.support.emulator import Emulator, RecordedRequest, answer, call, grounded

WEB = {"google_web_search", "web_fetch"}


def asks_the_web(request: RecordedRequest) -> bool:
    return any("functionDeclarations" not in tool for tool in request.body.get("tools", []))


async def test_a_search_is_made_by_the_service_once_the_person_says_yes(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    search = call("google_web_search", {"query": "newest Python"}, call_id="s")
    inside = call("web_fetch", {"prompt": "Read http://169.254.169.254/"}, call_id="f", signature=None)
    emulator.script(answer(search, inside), "It is out.", method="streamGenerateContent")
    emulator.script(grounded("3.15.", sources=[("https://a.org", "A")], passages=[(5, [0])]), when=asks_the_web)
    asked: list[dict[str, Any]] = []

    async def confirm(params: Any) -> dict[str, str]:
        asked.append(plain(params))
        return {"outcome": "once"}

    options = {"trusted": True, "supports": ["confirmTool"]}
    async with editor(server_environment(tmp_path, **gemini_environment), workspace, options=options) as spoken:
        spoken.client.feature("gemini/confirmTool")(confirm)
        await spoken.ask("gemini/chat", {"prompt": "What is the newest Python?"})
        first, second = emulator.asked("streamGenerateContent")
        assert {declared["name"] for declared in first.declarations} >= WEB
        assert second.responses[0]["response"]["output"] == "3.15.[1]\n\nSources:\n[1] A (https://a.org)"
        assert "private network" in second.responses[1]["response"]["error"]
        assert [(one["title"], one["risk"]) for one in asked] == [("Search the web for newest Python", "network")]
    (request,) = filter(asks_the_web, emulator.requests)
    assert (request.prompt, request.body["tools"]) == ("newest Python", [{"googleSearch": {}}])


async def test_a_model_that_cannot_ask_the_network_is_not_told_of_such_tools(offline: Editor) -> None:
    await offline.ask("gemini/session/new")
    listed = {tool["name"] for tool in (await offline.ask("gemini/tools"))["tools"]}
    assert "read_file" in listed
    assert not listed & WEB

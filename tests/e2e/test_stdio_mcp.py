"""MCP servers as a user has them, over stdio: named in settings, called by a model, with consent."""

from __future__ import annotations

import asyncio
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.mcp_desk import OPTIONS, SERVER, a_server, answering, configure, echo, started, states, until
from tests.support.mcp_http_server import http_server
from tests.support.patience import PATIENCE

LIMIT = {"timeout": 1_500}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


def names(request: Any) -> set[str]:
    return {declared["name"] for declared in request.declarations}


async def test_a_server_of_the_settings_is_started_offered_and_called_with_consent(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server("banner")})
    emulator.script(echo("hello"), "It said hello.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        asked = answering(spoken)
        assert await states(spoken) == {"tester": "off"}
        await started(spoken, "tester")
        result = await spoken.ask("gemini/chat", {"prompt": "Say hello"})
        assert await states(spoken) == {"tester": "ready"}
        listed = {tool["name"]: tool for tool in (await spoken.ask("gemini/tools"))["tools"]}
    first, second = emulator.asked("streamGenerateContent")
    assert names(first) >= {"mcp_tester_echo", "mcp_tester_environment", "read_file"}
    assert second.responses[0]["response"] == {"output": "echo: hello"}
    assert [(one["title"], one["risk"]) for one in asked] == [('Ask tester: echo {"text": "hello"}', "server")]
    assert asked[0]["rule"] == {"tool": "mcp_tester_echo", "decision": "allow"}
    assert result["text"] == "It said hello."
    assert (listed["mcp_tester_echo"]["risk"], listed["mcp_tester_echo"]["decision"]) == ("server", "ask")


class Followed(list[Any]):
    """The pages that the editor was asked to open, each opened at once: the person logs in."""

    def append(self, params: Any) -> None:
        super().append(params.uri)
        threading.Thread(target=self.follow, args=(params.uri,), daemon=True).start()

    def follow(self, address: str) -> None:
        with urllib.request.urlopen(address, timeout=PATIENCE) as page:
            page.read()


def browse(spoken: Editor) -> list[str]:
    """A person who logs in as soon as the editor is asked to open a page."""
    shown = Followed()
    spoken.client.shown_documents = shown
    return shown


async def test_a_server_over_http_gets_the_headers_of_the_settings(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    emulator.script(echo("hello", "mcp_remote_echo"), "Done.", method="streamGenerateContent")
    with http_server() as remote:
        configure(home, {"remote": {"url": f"{remote.url}/mcp", "headers": {"X-Team": "$TEAM"}, "trust": True}})
        async with editor({**environment, "TEAM": "blue"}, workspace, options=OPTIONS) as spoken:
            await started(spoken, "remote")
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
    assert emulator.asked("streamGenerateContent")[1].responses[0]["response"] == {"output": "echo: hello"}
    assert {headers.get("x-team") or headers.get("X-Team") for headers in remote.headers} == {"blue"}


async def test_a_server_that_wants_a_login_gets_it_in_the_browser_and_keeps_it(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str], tmp_path: Path
) -> None:
    call_it = [echo("hello", "mcp_remote_echo"), "Done."]
    emulator.script("Nothing to call.", *call_it, *call_it, method="streamGenerateContent")
    with http_server(with_login=True) as remote:
        configure(home, {"remote": {"url": f"{remote.url}/mcp", "trust": True}})
        async with editor(environment, workspace, options=OPTIONS) as spoken:
            shown = browse(spoken)
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
            await until(spoken, "remote", "loginNeeded")
            assert (shown, remote.clients) == ([], {})
            await spoken.ask("gemini/mcp/login", {"server": "remote"})
            await until(spoken, "remote", "ready")
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
        (kept,) = (tmp_path / "data").glob("mcp-logins.json")
        assert kept.stat().st_mode & 0o777 == 0o600
        remote.tokens.clear()  # expired: it is refreshed
        async with editor(environment, workspace, options=OPTIONS) as spoken:
            browse(spoken)
            await started(spoken, "remote")
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
            await spoken.ask("gemini/mcp/logout", {"server": "remote"})
    assert remote.grants == ["authorization_code", "refresh_token"]
    results = [
        request.responses[0]["response"] for request in emulator.asked("streamGenerateContent") if request.responses
    ]
    assert results == [{"output": "echo: hello"}] * 2
    assert len(shown) == 1
    assert all(token not in kept.read_text("utf-8") for token in remote.tokens)


async def test_hostile_servers_cost_their_own_calls_and_nothing_else(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    bad = {name: a_server("child", trust=True, **LIMIT) for name in ("crashing", "hanging", "flooding", "lying")}
    configure(home, {**bad, "good": a_server(trust=True), "lying": a_server("bad-tools", trust=True)})
    calls = [
        ("crash", "crashing"),
        ("hang", "hanging"),
        ("flood", "flooding"),
        ("bad utf-8", "lying"),
        ("fine", "good"),
    ]
    parts = [
        call(f"mcp_{server}_echo", {"text": text}, call_id=server, **({} if number == 0 else {"signature": None}))
        for number, (text, server) in enumerate(calls)
    ]
    again = echo("again", "mcp_good_echo")
    emulator.script("Hello.", answer(*parts), again, "Done.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, *bad, "good")
        await spoken.ask("gemini/chat", {"prompt": "Start"})
        result = await spoken.ask("gemini/chat", {"prompt": "Call them all"})
        listed = {one["name"]: one for one in (await spoken.ask("gemini/mcp/list"))["servers"]}
        log = await spoken.ask("gemini/mcp/log", {"server": "crashing"})
    _, _, second, third = emulator.asked("streamGenerateContent")
    errors = {one["id"]: one["response"].get("error", one["response"].get("output")) for one in second.responses}
    assert "signal 9" in errors["crashing"]
    assert "did not answer in time" in errors["hanging"]
    assert "16 MB" in errors["flooding"]
    assert errors["lying"].startswith("caf")
    assert errors["good"] == "echo: fine"
    assert third.responses[0]["response"] == {"output": "echo: again"}
    assert result["text"] == "Done."
    assert "about to fail" in log["lines"]
    assert listed["crashing"]["restarts"] >= 1


async def test_a_repositorys_server_is_started_only_after_the_person_agreed_to_that_very_command(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(workspace, {"tester": a_server(trust=True)})
    emulator.script("No.", echo("hello"), "Done.", "Changed.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        asked = answering(spoken, "always")
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        (shown,) = (await spoken.ask("gemini/mcp/list"))["servers"]
        wrong = await spoken.fails("gemini/mcp/agree", {"server": "tester", "digest": "0" * 64})
        await spoken.ask("gemini/mcp/agree", {"server": "tester", "digest": shown["digest"]})
        await started(spoken, "tester")
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        assert await states(spoken) == {"tester": "ready"}
        configure(workspace, {"tester": a_server("banner", trust=True)})
        async with asyncio.timeout(PATIENCE):  # the rule that was kept is a change of settings too
            count = 1
            while "mcpServers" not in (await spoken.wait_for("settingsChanged", count))["keys"]:
                count += 1
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        assert await states(spoken) == {"tester": "consentNeeded"}
        rules = (await spoken.ask("gemini/rules"))["rules"]
    assert (shown["state"], SERVER in shown["command"], shown["isTrusted"]) == ("consentNeeded", True, False)
    assert "changed since it was shown" in wrong.message
    requests = emulator.asked("streamGenerateContent")
    assert ["mcp_tester_echo" in names(request) for request in requests] == [False, True, True, False]
    assert len(asked) == 1  # its own `trust` counts for nothing
    assert [one["rule"] for one in rules if one["rule"]["tool"] == "mcp_tester_echo"] == [
        {"tool": "mcp_tester_echo", "decision": "allow", "workspace": str(workspace.resolve())}
    ]


async def test_an_untrusted_workspace_starts_no_server(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server()})
    async with editor(environment, workspace, options={"trusted": False}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        assert await states(spoken) == {"tester": "untrusted"}
        refused = await spoken.fails("gemini/mcp/restart", {"server": "tester"})
    assert "not trusted" in refused.message
    assert not any(name.startswith("mcp_") for name in names(emulator.asked("streamGenerateContent")[0]))


async def test_tools_that_change_within_a_turn_change_with_the_next_one(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server(trust=True)})
    emulator.script(echo("change"), echo("gone"), "Done.", "Next.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester")
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        async with asyncio.timeout(PATIENCE):
            while [tool["wireName"] for tool in (await spoken.ask("gemini/mcp/list"))["servers"][0]["tools"]] != [
                "other"
            ]:
                await asyncio.sleep(0.02)
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
    requests = emulator.asked("streamGenerateContent")
    assert [sorted(name for name in names(one) if name.startswith("mcp_")) for one in requests] == [
        *[["mcp_tester_echo", "mcp_tester_environment"]] * 3,
        ["mcp_tester_other"],
    ]
    assert "unknown tool echo" in requests[2].responses[0]["response"]["error"]


async def test_a_server_that_is_disabled_ends_and_stays_off(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server(), "other": a_server()}, mcp={"excluded": ["other"]})
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester")
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        await spoken.ask("gemini/mcp/enable", {"server": "tester", "enabled": False})
        assert await states(spoken) == {"other": "excluded", "tester": "disabled"}
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        assert await states(spoken) == {"other": "excluded", "tester": "disabled"}
        await spoken.ask("gemini/mcp/enable", {"server": "tester", "enabled": True})
        await started(spoken, "tester")
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        assert await states(spoken) == {"other": "excluded", "tester": "ready"}
    first, second, third = emulator.asked("streamGenerateContent")
    assert ["mcp_tester_echo" in names(one) for one in (first, second, third)] == [True, False, True]


async def test_a_server_whose_secret_stood_in_a_file_that_broke_is_listed_as_off_with_the_reason(
    home: Path, workspace: Path, environment: dict[str, str]
) -> None:
    secret = "ghp_" + "a1B2" * 9
    configure(home, {"other": a_server(), "tester": {**a_server(), "headers": {"Authorization": secret}}})
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        assert await states(spoken) == {"other": "off", "tester": "off"}
    file = home / ".gemini/settings.json"
    whole = file.read_bytes()
    file.write_text("{", "utf-8")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await spoken.ask("gemini/session/new", {})
        other, tester = (await spoken.ask("gemini/mcp/list", {}))["servers"]
        assert (other["state"], tester["state"]) == ("off", "held")
        assert f"{file} cannot be read" in tester["error"]
        with pytest.raises(Exception, match="cannot be read"):
            await spoken.ask("gemini/mcp/restart", {"server": "tester"})
        file.write_bytes(whole)
        await spoken.wait_for("settingsChanged")
        assert await states(spoken) == {"other": "off", "tester": "off"}


async def test_always_can_be_said_of_a_whole_server_and_of_no_other(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server(), "other": a_server()})
    both = answer(
        call("mcp_tester_echo", {"text": "a"}, call_id="a"),
        call("mcp_tester_environment", {}, call_id="b", signature=None),
        call("mcp_other_echo", {"text": "c"}, call_id="c", signature=None),
    )
    emulator.script(both, "Done.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester", "other")
        asked = answering(spoken, "session", rule={"tool": "mcp_tester_*", "decision": "allow"})
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        rules = (await spoken.ask("gemini/rules"))["rules"]
    assert [one["name"] for one in asked] == ["mcp_tester_echo", "mcp_other_echo"]
    assert [one["rule"]["tool"] for one in rules if one["source"] == "session"] == ["mcp_tester_*"]

"""Servers that do what none should, through the connector: typed faults, nothing left running, nothing held up."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from gemini_companion.adapters.mcp.connector import McpConnector
from gemini_companion.engine.mcp.config import ServerDefinition, settled_servers
from gemini_companion.engine.mcp.listed import listed_tools
from gemini_companion.engine.mcp.results import result_of
from gemini_companion.sessions.mcp.port import Link, McpFault, Surroundings
from tests.support.mcp_http_server import http_server
from tests.support.patience import PATIENCE

SERVER = str(Path(__file__).resolve().parents[2] / "support" / "mcp_server.py")

pytestmark = pytest.mark.process


def definition(*behaviours: str, **more: Any) -> ServerDefinition:
    fields = {"command": sys.executable, "args": [SERVER, *behaviours], **more}
    if "url" in more:
        fields = more
    (found,) = settled_servers([("user", True, {"tester": fields})]).servers
    return found


@asynccontextmanager
async def connected(
    server: ServerDefinition, tmp_path: Path, *, environment: dict[str, str] | None = None
) -> AsyncGenerator[tuple[Link, list[str], list[str]]]:
    """A link, the log of its server, and the lists that it said are different."""
    log: list[str] = []
    changed: list[str] = []
    connector = McpConnector(environment or dict(os.environ), folder=tmp_path / "data")
    around = Surroundings(cwd=str(tmp_path), on_log=log.append, on_changed=changed.append)
    async with asyncio.timeout(PATIENCE):
        link = await connector.connect(server, around)
        try:
            yield link, log, changed
        finally:
            await link.close()


async def said(link: Link, text: str, *, seconds: float = PATIENCE, tool: str = "echo") -> str:
    raw = await link.call(tool, {"text": text}, seconds=seconds, progress=lambda _: None)
    return result_of(raw).text


async def faulty(work: Awaitable[Any]) -> McpFault:
    with pytest.raises(McpFault) as caught:
        await work
    return caught.value


def running(word: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


async def gone(word: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while running(word):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("crash", "closed", "signal 9"),
        ("flood", "closed", "more than 16 MB"),
        ("flood lines", "closed", "unasked"),
    ],
)
async def test_what_a_server_does_wrong_in_a_call_is_a_typed_fault(
    text: str, kind: str, words: str, tmp_path: Path
) -> None:
    async with connected(definition(), tmp_path) as (link, _, _):
        fault = await faulty(said(link, text))
    assert (fault.kind, words in fault.message) == (kind, True), fault.message


@pytest.mark.parametrize("text", ["flood errors", "bad utf-8", "wrong id", "ask", "malformed"])
async def test_a_server_that_errs_within_bounds_goes_on_being_asked(text: str, tmp_path: Path) -> None:
    async with connected(definition("banner"), tmp_path) as (link, _, _):
        with suppress(McpFault):
            await said(link, text)
        assert await said(link, "still there") == "echo: still there"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("malformed", "no list"),
        ("no object", "42"),
        ("odd pieces", "before"),
        ("own fields", "hm"),
        ("long number", "9" * 500),
    ],
)
async def test_an_answer_that_is_not_as_the_protocol_has_it_is_shown_as_it_is(
    text: str, words: str, tmp_path: Path
) -> None:
    async with connected(definition(), tmp_path) as (link, _, _):
        assert words in await said(link, text)


@pytest.mark.parametrize("form", ["json", "events"])
async def test_a_result_over_http_that_is_no_object_is_shown_as_it_is(form: str, tmp_path: Path) -> None:
    with http_server(form) as remote:
        async with connected(definition(url=f"{remote.url}/mcp"), tmp_path) as (link, _, _):
            assert "42" in await said(link, "no object")
            assert await said(link, "still there") == "echo: still there"


@pytest.mark.parametrize("end", ["nothing", "half", "half a piece", "half an event", "no HTTP", "refused"])
async def test_a_server_over_http_that_ends_a_call_oddly_costs_that_call_alone_and_at_once(
    end: str, tmp_path: Path
) -> None:
    with http_server() as remote:
        async with connected(definition(url=f"{remote.url}/mcp"), tmp_path) as (link, _, _):
            fault = await faulty(said(link, f"ends as {end}"))  # its time limit is all that the test has
            assert fault.kind != "timedOut"
            assert await said(link, "still there") == "echo: still there"
            assert not link.closed.done()


@pytest.mark.parametrize("end", ["nothing", "refused"])
async def test_a_server_of_events_that_takes_no_message_ends_the_call_at_once(end: str, tmp_path: Path) -> None:
    with http_server() as remote:
        async with connected(definition(url=f"{remote.url}/sse", type="sse"), tmp_path) as (link, _, _):
            assert "42" in await said(link, "no object")
            fault = await faulty(said(link, f"ends as {end}"))
            assert (fault.kind, "did not take a message" in fault.message) == ("closed", True), fault.message
            assert "did not take a message" in await link.closed


async def test_a_server_that_has_forgotten_the_session_is_connected_to_anew(tmp_path: Path) -> None:
    with http_server("session") as remote:
        async with connected(definition(url=f"{remote.url}/mcp"), tmp_path) as (link, _, _):
            assert await said(link, "x") == "echo: x"
            await faulty(said(link, "ends as forgotten"))
            assert await link.closed == "It no longer knows this session."


async def test_an_integer_of_more_than_64_bits_goes_to_a_server_and_comes_back(tmp_path: Path) -> None:
    with http_server() as remote:
        for server in (definition(), definition(url=f"{remote.url}/mcp")):
            async with connected(server, tmp_path) as (link, _, _):
                raw = await link.call("echo", {"text": 10**40}, seconds=PATIENCE, progress=lambda _: None)
                assert result_of(raw).text == f"echo: {10**40}"


async def test_a_call_that_hangs_ends_at_its_time_limit_and_the_server_is_told(tmp_path: Path) -> None:
    async with connected(definition(), tmp_path) as (link, log, _):
        fault = await faulty(said(link, "hang", seconds=0.3))
        assert await said(link, "on") == "echo: on"
        async with asyncio.timeout(PATIENCE):
            while "cancelled True" not in log:
                await asyncio.sleep(0.01)
    assert (fault.kind, fault.message) == ("timedOut", "It did not answer in time.")


async def test_a_call_that_tells_of_its_progress_has_as_much_time_again(tmp_path: Path) -> None:
    loop, seconds = asyncio.get_running_loop(), 2.0
    async with connected(definition(), tmp_path) as (link, _, _):
        begun = asyncio.Event()
        call = asyncio.create_task(
            link.call("echo", {"text": "hang"}, seconds=seconds, progress=lambda text: begun.set())
        )
        async with asyncio.timeout(PATIENCE):
            await begun.wait()
            over = loop.time() + 1.5 * seconds
            while loop.time() < over:
                assert await said(link, "nudge") == "nudged"
            assert not call.done()
            await said(link, "let go")
            result = await call
    assert result["content"][0]["text"] == "done at last"


async def test_cancelling_a_call_ends_it_at_once_and_tells_the_server(tmp_path: Path) -> None:
    progress: list[str] = []
    begun = asyncio.Event()
    async with connected(definition(), tmp_path) as (link, log, _):

        def on_progress(text: str) -> None:
            progress.append(text)
            begun.set()

        call = asyncio.create_task(link.call("echo", {"text": "hang"}, seconds=60, progress=on_progress))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(PATIENCE):
            while "cancelled True" not in log:
                await asyncio.sleep(0.01)
    assert progress == ["thinking (1 of 3)\n"]


async def test_other_work_goes_on_while_a_server_floods(tmp_path: Path) -> None:
    async with (
        connected(definition(), tmp_path) as (flooding, _, _),
        connected(definition(), tmp_path) as (other, _, _),
    ):
        flood = asyncio.create_task(faulty(said(flooding, "flood lines")))
        answers = [await said(other, str(number)) for number in range(5)]
        assert await flood
    assert answers == [f"echo: {number}" for number in range(5)]


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    async def start(server: ServerDefinition) -> None:
        async with connected(server, tmp_path):
            pass

    missing = await faulty(start(definition(command="/nowhere/at-all")))
    broken = await faulty(start(definition("exits-at-start")))
    assert "'/nowhere/at-all'" in missing.message
    assert "exit code 3" in broken.message
    assert "cannot find my configuration" in broken.message


async def test_a_byte_order_mark_ahead_of_the_first_message_is_no_matter(tmp_path: Path) -> None:
    async with connected(definition("marked"), tmp_path) as (link, _, _):
        assert await said(link, "x") == "echo: x"


async def test_a_version_of_the_protocol_that_nobody_knows_is_named(tmp_path: Path) -> None:
    async def start() -> None:
        async with connected(definition("future"), tmp_path):
            pass

    assert "version 2099-01-01" in (await faulty(start())).message


async def test_a_cancelled_start_leaves_nothing_running(tmp_path: Path) -> None:
    word = f"silent-{tmp_path.name}"

    async def start() -> None:
        async with connected(definition("silent", word), tmp_path):
            pass

    starting = asyncio.create_task(start())
    async with asyncio.timeout(PATIENCE):
        while len(running(word)) < 2:  # the reaper and the server
            await asyncio.sleep(0.01)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await gone(word)


async def test_what_a_server_started_ends_with_it_also_in_a_session_of_its_own(tmp_path: Path) -> None:
    async with connected(definition("child"), tmp_path) as (link, _, _):
        assert await said(link, "x") == "echo: x"
        assert running("7654")
    await gone("7654")


async def test_lists_of_broken_tools_are_mended_and_an_endless_one_ends(tmp_path: Path) -> None:
    async with connected(definition("bad-tools"), tmp_path) as (link, _, _):
        tools, problems = listed_tools(definition(), await link.list("tools"))
        assert await said(link, "x", tool="echo") == "echo: x"
    async with connected(definition("endless-list"), tmp_path) as (link, log, _):
        endless = await link.list("tools")
    by_name = {tool.wire_name: tool for tool in tools}
    assert set(by_name) == {"echo", "environment", "no schema", "text schema", "cyclic", "deep", "huge", "out"}
    assert by_name["echo"].parameters["required"] == ["text"]
    assert by_name["no schema"].parameters == {"type": "object"}
    assert len(by_name["huge"].description) == 2_000
    assert set(problems) == {
        "A tool without a usable name is left out.",
        "The tool 'echo' is listed twice; the first counts.",
    }
    assert len(endless) == 100
    assert "does not end" in log[-1]


async def test_a_server_gets_no_secret_of_the_daemons_and_what_its_definition_sets(tmp_path: Path) -> None:
    environment = {**os.environ, "GEMINI_API_KEY": "AIzaSecret", "MY_TOKEN": "t", "PLAIN": "p"}
    server = definition(env={"MY_TOKEN": "its own"})
    async with connected(server, tmp_path, environment=environment) as (link, _, _):
        text = await said(link, "", tool="environment")
    assert "AIzaSecret" not in text
    assert '"MY_TOKEN": "its own"' in text
    assert '"PLAIN": "p"' in text
    assert '"GEMINI_CLI": "1"' in text


async def test_a_server_over_http_that_floods_is_a_fault(tmp_path: Path) -> None:
    with http_server("flood") as remote:

        async def start() -> None:
            async with connected(definition(url=f"{remote.url}/mcp"), tmp_path):
                pass

        fault = await faulty(start())
    assert fault.kind in ("failed", "closed")


async def test_a_server_over_http_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    async def start() -> None:
        async with connected(definition(url="http://127.0.0.1:9/mcp"), tmp_path):
            pass

    assert "could not be reached" in (await faulty(start())).message


async def test_a_changed_list_is_told(tmp_path: Path) -> None:
    told = asyncio.Event()
    connector = McpConnector(dict(os.environ), folder=tmp_path)
    note: Callable[[Any], None] = lambda what: told.set()  # noqa: E731
    around = Surroundings(cwd=str(tmp_path), on_log=lambda _: None, on_changed=note)
    async with asyncio.timeout(PATIENCE):
        link = await connector.connect(definition(), around)
        assert await said(link, "change") == "changed"
        await told.wait()
        assert [tool["name"] for tool in await link.list("tools")] == ["other"]
        await link.close()

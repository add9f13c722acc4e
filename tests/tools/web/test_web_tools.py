"""Searching the web and having pages read, by a service that is a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gemini_companion.tools.grounding import Grounded, GroundedPassage, WebPage, WebSource
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import Proposal, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.web import NAMES
from gemini_companion.tools.web.tools import web_tools
from tests.support.tool_contexts import Desk

REGISTRY = ToolRegistry(web_tools())


class Table:
    """A service that gives what the test says."""

    def __init__(self, found: Grounded) -> None:
        self.found = found
        self.asked: list[str] = []

    async def search(self, question: str) -> Grounded:
        self.asked.append(f"search: {question}")
        return self.found

    async def read(self, prompt: str) -> Grounded:
        self.asked.append(f"read: {prompt}")
        return self.found


def context_of(tmp_path: Path, found: Grounded | None) -> tuple[ToolContext, Table]:
    context, table = Desk(tmp_path).context(), Table(found or Grounded(text=""))
    context.ports = replace(context.ports, grounding=table if found is not None else None)
    return context, table


async def called(context: ToolContext, name: str, **args: str) -> tuple[Proposal, ToolOutput]:
    tool = REGISTRY.find(name)
    decoded = REGISTRY.decode(tool, args)
    proposal = await tool.propose(decoded, context)
    return proposal, await tool.run(decoded, proposal, context)


async def test_a_search_answers_with_marks_and_its_sources(tmp_path: Path) -> None:
    found = Grounded(
        text="It is 3.14. It is new.",
        sources=(WebSource(address="https://a.org/x", title="A"), WebSource(address="https://b.org")),
        passages=(GroundedPassage(end=11, sources=(1, 0)), GroundedPassage(end=22, sources=(1, 7))),
    )
    context, table = context_of(tmp_path, found)
    proposal, output = await called(context, "google_web_search", query="newest\n Python")
    assert table.asked == ["search: newest\n Python"]
    assert proposal.title == "Search the web for newest Python"
    assert "leaves this machine" in proposal.irreversible
    assert output.output == (
        "It is 3.14.[1][2] It is new.[2]\n\nSources:\n[1] A (https://a.org/x)\n[2] https://b.org (https://b.org)"
    )
    assert output.summary == "2 sources"


async def test_an_answer_without_sources_says_so(tmp_path: Path) -> None:
    _, output = await called(context_of(tmp_path, Grounded(text="Maybe."))[0], "google_web_search", query="x")
    assert "from memory alone" in output.output


async def test_what_is_found_nowhere_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(ToolRefusal, match="found nothing"):
        await called(context_of(tmp_path, Grounded(text=" "))[0], "google_web_search", query="x")


async def test_pages_are_read_and_those_that_were_not_are_named(tmp_path: Path) -> None:
    pages = (
        WebPage(address="https://a.org/1", is_read=True),
        WebPage(address="https://b.org", is_read=False, state="paywall"),
    )
    context, table = context_of(tmp_path, Grounded(text="Both say so.", pages=pages))
    prompt = "Compare https://a.org/1 with https://b.org."
    proposal, output = await called(context, "web_fetch", prompt=prompt)
    assert table.asked == [f"read: {prompt}"]
    assert proposal.title == "Read a.org, b.org"
    assert output.output == "Both say so.\n\n[Could not be read: https://b.org (paywall).]"
    assert output.summary == "1 of 2 read"


@pytest.mark.parametrize("pages", [(), (WebPage(address="https://a.org", is_read=False, state="error"),)])
async def test_where_no_page_was_read_nothing_is_told_as_if_it_were(tmp_path: Path, pages: tuple[WebPage, ...]) -> None:
    context, _ = context_of(tmp_path, Grounded(text="I think that it says so.", pages=pages))
    with pytest.raises(ToolRefusal, match="No page could be read"):
        await called(context, "web_fetch", prompt="What does https://a.org say?")


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("Tell me of a.org", "names no address"),
        ("Read http://localhost:8080/admin", "this machine"),
        ("Read https://a.org and http://169.254.169.254/", "private network"),
        (" ".join(f"https://a{number}.org" for number in range(21)), "21 addresses"),
        (f"Read https://a.org/?key=AIza{'Sy' * 17}B", "secret"),
    ],
)
async def test_a_page_that_must_not_be_asked_for_is_refused_before_anything_is_sent(
    tmp_path: Path, prompt: str, reason: str
) -> None:
    context, table = context_of(tmp_path, Grounded(text="x"))
    with pytest.raises(ToolRefusal, match=reason):
        await called(context, "web_fetch", prompt=prompt)
    assert table.asked == []


async def test_without_a_service_both_say_that_there_is_none(tmp_path: Path) -> None:
    context, _ = context_of(tmp_path, None)
    for name, args in (("google_web_search", {"query": "x"}), ("web_fetch", {"prompt": "https://a.org"})):
        with pytest.raises(ToolRefusal, match="cannot ask the network"):
            await called(context, name, **args)


def test_the_names_that_are_known_without_loading_the_tools_are_theirs() -> None:
    assert {tool.name for tool in web_tools()} == NAMES

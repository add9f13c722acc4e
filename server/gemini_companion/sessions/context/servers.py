"""What MCP servers bring to a turn: tools where it begins, resources that the person names."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.attached import Attachment, Withheld
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.engine.mcp.naming import mentioned_resource, spoken_name
from gemini_companion.engine.mcp.results import Answered, resource_of
from gemini_companion.engine.prompts.attachments import excerpt, resource_part
from gemini_companion.engine.prompts.mentions import MAX_MENTIONS, mentions_in
from gemini_companion.sessions.agents.service import may_call
from gemini_companion.sessions.context.mentions import MAX_CHARACTERS, MAX_FILES, Attached
from gemini_companion.sessions.mcp.port import McpFault
from gemini_companion.sessions.mcp.server import McpServer
from gemini_companion.sessions.mcp.service import McpService
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.tools.registry import ToolRegistry


async def take_in_servers(session: Session) -> None:
    """Where a turn begins: what it can call, which stays the same to its end. Starts servers that are wanted."""
    services = session.services
    calls_tools = session.choice().provider.capabilities.calls_tools and services.settings().tools.enabled
    if services.mcp is not None and calls_tools and services.trusted():
        tools = await services.mcp.tools_for_turn(services.tools)
        agent = session.meta.agent
        if agent is not None:  # of a subagent's, those that its definition names
            tools = ToolRegistry([tool for tool in tools if may_call(agent.definition, tool)])
        session.tools = tools
    else:
        session.tools = services.tools


def names_resource(services: Services, paths: Iterable[str]) -> bool:
    """Whether a mention, in any of its readings, names something of a server that is used."""
    service = services.mcp
    if service is None or not services.trusted():
        return False
    named = (found.server for path in paths if (found := mentioned_resource(path)) is not None)
    return any(_named(service, server) is not None for server in named)


async def attach_from_servers(session: Session, prompt: tuple[Part, ...], attached: Attached) -> None:
    """Add the resources that a prompt mentions: a server's words, beside the person's own."""
    service = session.services.mcp
    if service is None or not service.known() or not session.services.trusted():
        return
    texts = [text for part in prompt if not is_thought(part) and (text := text_of(part))]
    for text in texts:
        if "@" in text:
            await _attach_mentioned(service, mentions_in(text)[:MAX_MENTIONS], attached)


async def _attach_mentioned(service: McpService, mentions: Iterable[tuple[str, ...]], attached: Attached) -> None:
    for paths in mentions:
        for path in paths:
            found = mentioned_resource(path)
            server = _named(service, found.server) if found is not None else None
            if found is None or server is None:
                continue
            known = any(one.uri == found.uri for one in server.resources)
            if not known and path != paths[-1] and paths[-1].partition(":")[2]:
                continue  # what is not listed is taken without what ends a sentence
            if len(attached.parts) >= MAX_FILES:
                attached.withheld.append(Withheld(name=path, reason=f"only {MAX_FILES} files go along"))
                break
            try:
                raw = await (await server.link()).read(found.uri)
            except McpFault as fault:
                attached.withheld.append(Withheld(name=path, reason=fault.message))
                break
            _take(attached, f"{found.server}:{found.uri}", resource_of(raw))
            break


def _take(attached: Attached, name: str, said: Answered) -> None:
    room = MAX_CHARACTERS - sum(len(text_of(part) or "") for part in attached.parts)
    shown = excerpt(said.text, room)
    text = shown.text
    attached.parts.append(resource_part(name, text))
    attached.parts.extend(said.media)
    attached.attachments.append(Attachment(path=name, truncated=shown.truncated))


def _named(service: McpService, name: str) -> McpServer | None:
    return next((one for one in service.known() if spoken_name(one.definition.name) == name), None)

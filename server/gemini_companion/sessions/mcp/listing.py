"""The servers as a client lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gemini_companion.engine.mcp.config import ServerDefinition, ServerOptions
from gemini_companion.engine.mcp.listed import ListedResource
from gemini_companion.engine.mcp.naming import spoken_name
from gemini_companion.engine.variables import filled_in, names_in
from gemini_companion.sessions.mcp.results import (
    McpCompletions,
    McpList,
    McpResourceInfo,
    McpServerInfo,
    McpToolInfo,
)
from gemini_companion.sessions.mcp.server import McpServer
from gemini_companion.sessions.mcp.service import McpService
from gemini_companion.settings.masking import masked
from gemini_companion.tools.consent_texts import alike_in, quoted, quoted_line, signs_of, visible_line


async def listed_servers(service: McpService, options: ServerOptions) -> McpList:
    """All servers of the settings. Starts none."""
    await service.settle()
    return McpList(servers=tuple(_info(service, one) for one in options.servers), problems=options.problems)


def completions(service: McpService, query: str, limit: int) -> McpCompletions:
    """Resources of the servers that answer whose names have what was typed, at most `limit`."""
    wanted = query.lower().lstrip("@")
    resources = [resource_info(server, one) for server in service.running() for one in server.resources]
    named = [one for one in resources if wanted in one.mention.lower() or wanted in one.name.lower()]
    named.sort(key=lambda one: (not one.mention.lower().startswith(f"@{wanted}"), len(one.mention), one.mention))
    return McpCompletions(resources=tuple(named[:limit]))


def resource_info(server: McpServer, resource: ListedResource) -> McpResourceInfo:
    """A resource, and how a prompt mentions it."""
    name = f"{spoken_name(server.definition.name)}:{resource.uri}"
    return McpResourceInfo(
        mention=f'@"{name}"' if any(sign.isspace() for sign in name) else f"@{name}",
        name=resource.name,
        description=resource.description,
    )


def _info(service: McpService, one: ServerDefinition) -> McpServerInfo:
    server = service.server(one.name)
    return McpServerInfo(
        name=one.name,
        state=service.hindrance(one) or (server.state if server else "off"),
        source=one.source,
        is_personal=one.is_personal,
        transport=one.transport,
        command=shown_server(one),
        warnings=warnings_of_server(one),
        digest=one.digest,
        is_trusted=one.is_trusted,
        can_log_in=one.transport != "stdio",
        title=server.title if server else "",
        error=one.refusal or (server.error if server else ""),
        restarts=server.restarts if server else 0,
        tools=tuple(
            McpToolInfo(name=tool.name, wire_name=tool.wire_name, description=tool.description[:300])
            for tool in (server.tools if server else ())
        ),
        prompts=len(server.prompts) if server else 0,
        resources=len(server.resources) if server else 0,
    )


_FILES: Final[Mapping[str, str]] = {
    "user": "your ~/.gemini/settings.json",
    "systemDefaults": "this machine's system-defaults.json",
    "system": "this machine's settings.json",
    "commandLine": "the daemon's command line",
}


def shown_server(one: ServerDefinition) -> str:
    """What is started or reached, with all that goes along, as a line that bash reads in one way.

    What a workspace wrote is shown as it stands there, whole: it is no secret of the person's, for it can refer to
    none. What the person's own settings hold is shown by where it comes from, unless it is a plain argument.
    """
    if not one.is_personal:
        return _line(one, one.args, one.url, one.env, one.headers)
    written, place = one.written or one, f"(written in {_FILES.get(one.source, 'your settings')})"
    args = [
        f"(argument {at} {place[1:]}" if is_held else arg
        for at, (arg, is_held) in enumerate(zip(written.args, _held_back(written), strict=True), start=1)
    ]
    url = written.url
    if _is_masked({"url": filled_in(url, lambda name: "")}, written.name):
        url = f"{'/'.join(url.split('/')[:1])}//{url.split('/')[2].rpartition('@')[2]} {place}"
    line = _line(written, args, url, _placed(written.env, place), _placed(written.headers, place))
    told = dict.fromkeys(f"${found.name} from {found.origin}" for found in one.references)
    return f"{line}  # {visible_line(', '.join(told))}" if told else line


def warnings_of_server(one: ServerDefinition) -> tuple[str, ...]:
    """What may deceive in it, and whose secret somebody else may read."""
    written = one.written or one
    found = [warning for text in (written.command, written.cwd, written.url) for warning in signs_of(text)]
    found += [*signs_of(one.name), *alike_in("", [written.command])]
    values = (*written.args, *written.env.values(), *written.headers.values())
    found += [warning for text in values for warning in signs_of(text)] if not one.is_personal else []
    own = {found.name for found in one.references}
    in_args = dict.fromkeys(name for arg in (written.command, *written.args) for name in names_in(arg) if name in own)
    found += [
        f"${name} becomes an argument of a process, which everybody on this machine can read. Put it into `env`."
        for name in in_args
        if name not in _NO_SECRETS
    ]
    return tuple(dict.fromkeys(found))


_NO_SECRETS: Final = frozenset(("HOME", "USER", "PATH", "TMPDIR", "SHELL", "LANG"))


def _line(
    one: ServerDefinition, args: Sequence[str], url: str, env: Mapping[str, str], headers: Mapping[str, str]
) -> str:
    if one.transport == "stdio":
        line = quoted_line((one.command, *args), env)
        return f"cd {quoted(one.cwd)} && {line}" if one.cwd else line
    login = one.oauth
    more = [f"header {quoted(f'{name}: {value}')}" for name, value in headers.items()]
    more += [f"clientId {quoted(login.client_id)}"] if login.client_id else []
    secret = quoted(login.client_secret) if not one.is_personal else "(written in your settings)"
    more += [f"clientSecret {secret}"] if login.client_secret else []
    more += [f"scope {quoted(scope)}" for scope in login.scopes]
    more += [f"redirectPort {login.redirect_port}"] if login.redirect_port else []
    return " ".join((quoted(url), *(("sse",) if one.transport == "sse" else ()), *more))


def _placed(values: Mapping[str, str], place: str) -> dict[str, str]:
    """Values by where they are from: what refers to a variable as it is written, any other by its place."""
    return {name: value if names_in(value) else place for name, value in values.items()}


def _held_back(written: ServerDefinition) -> list[bool]:
    """Which arguments may be a key that the person wrote out. Nothing is agreed to here, so a guess will do."""
    bare = [filled_in(arg, lambda name: "") for arg in written.args]
    shown = cast("list[str]", masked(f"mcpServers.{written.name}", {"args": bare}, {})["args"])
    return [mask != arg and arg != "" and not arg.endswith("=") for arg, mask in zip(bare, shown, strict=True)]


def _is_masked(fields: dict[str, Any], name: str) -> bool:
    return masked(f"mcpServers.{name}", fields, {}) != fields

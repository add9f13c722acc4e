"""The servers that settings name, as Gemini CLI has them. What is malformed is left out and told."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.variables import Reference, filled_in, names_in

Transport: TypeAlias = Literal["stdio", "http", "sse"]

DEFAULT_SECONDS: Final = 600.0
"""How long a call may take if the settings do not say; Gemini CLI's value."""
_LONGEST_SECONDS: Final = 3_600.0
MOST_SERVERS: Final = 50
"""Servers of one file that are taken."""
_MAX_NAME: Final = 100
_MAX_TEXT: Final = 20_000
_MAX_ARGS: Final = 200
_KNOWN: Final = frozenset(
    {
        "args", "command", "cwd", "description", "disabled", "enabled", "env", "excludeTools", "headers", "httpUrl",
        "includeTools", "oauth", "timeout", "trust", "type", "url",
    }
)  # fmt: skip
"""Keys of a server that are read."""
_MOST_UNKNOWN: Final = 10
_RUNS_SOMETHING: Final = re.compile(
    r"LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|PROMPT_COMMAND"
    r"|PYTHON(?:STARTUP|HOME|INSPECT)|PERL5(?:OPT|LIB|DB)|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_(?:SSH.*|ASKPASS)"
)
"""Variables that have a program run something besides itself."""


class OAuthOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in to a server, beyond what it says of itself."""

    client_id: str = ""
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    redirect_port: int = 0
    """Of the loopback address that the browser comes back to; 0 for any that is free."""


class ServerDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """One server."""

    name: str
    source: str
    """The layer of the settings that it is from."""
    is_personal: bool
    """The user, or who keeps the machine, wrote it; else whoever wrote the workspace."""
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str = ""
    """Empty for the workspace folder."""
    url: str = ""
    headers: Mapping[str, str] = {}
    seconds: float = DEFAULT_SECONDS
    """How long a call may take."""
    is_trusted: bool = False
    """Its tools are called unasked. Only a personal definition can say so."""
    description: str = ""
    include: frozenset[str] | None = None
    """The tools that are offered; `None` for all."""
    exclude: frozenset[str] = frozenset()
    oauth: OAuthOptions = OAuthOptions()
    written: ServerDefinition | None = None
    """As the settings have it, where that refers to variables of the person's; `None` where it is the same."""
    references: tuple[Reference, ...] = ()
    """Those variables. Only a personal definition has any."""
    refused: tuple[str, ...] = ()
    """Names of such variables that a workspace's definition refers to: it may not, and is not started."""
    held: str = ""
    """Why it is off as long as the file that defines it cannot be read; empty if that is not so."""

    @property
    def digest(self) -> str:
        """Equal for definitions that start the same, or reach the same, in the same way."""
        parts = (self.transport, self.command, self.args, sorted(self.env.items()), self.cwd)
        parts += (self.url, sorted(self.headers.items()), self.oauth)
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()

    @property
    def refusal(self) -> str:
        """Why it is not started; empty if nothing speaks against it."""
        if not self.refused:
            return self.held
        names = ", ".join(f"${name}" for name in self.refused)
        return (
            f"Only your own settings may refer to {names}: define it in the workspace's .env, or move the server there."
        )

    def offers(self, tool: str) -> bool:
        """Whether the settings leave a tool of it in."""
        return tool not in self.exclude and (self.include is None or tool in self.include)


class HeldServers(msgspec.Struct, frozen=True):
    """Servers of a layer that are off, since the layer's file cannot be read and they need what no copy of it has."""

    servers: Mapping[str, Mapping[str, Any]]
    """As far as they are known, by name."""
    reason: str


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The servers of all layers."""

    servers: tuple[ServerDefinition, ...] = ()
    """In the order of their names, each name once."""
    problems: tuple[str, ...] = ()
    """What was left out, and why; one sentence each."""
    allowed: frozenset[str] | None = None
    """The names of the only servers that are used; `None` for all."""
    excluded: frozenset[str] = frozenset()
    """Names of servers that are not used."""

    def uses(self, name: str) -> bool:
        """Whether `mcp.allowed` and `mcp.excluded` leave a server in."""
        return name not in self.excluded and (self.allowed is None or name in self.allowed)


def settled_servers(
    layers: Iterable[tuple[str, bool, Mapping[str, Mapping[str, Any]]]],
    *,
    allowed: Iterable[frozenset[str] | None] = (),
    excluded: Iterable[str] = (),
    variables: Callable[[str], Reference | None] = lambda name: None,
    held: Mapping[str, HeldServers] = {},
) -> ServerOptions:
    """The servers of the layers, lowest first, each with its name and whether it is personal.

    A later layer's definition replaces an earlier one's as a whole; what a workspace names like a personal server is
    left out. `allowed` has a layer's `mcp.allowed` each, of which all must name a server. `variables` are the person's
    own: personal definitions are filled in from them. `held` has what is off of a layer, by its name.
    """
    found: dict[str, ServerDefinition] = {}
    problems: list[str] = []
    for source, is_personal, servers in layers:
        off = _held(held[source], source, is_personal) if source in held else ()
        for server in (*_servers(servers, source, is_personal, variables, problems), *off):
            if isinstance(server, str):
                below = found.get(server)
                if below is not None and (is_personal or not below.is_personal):
                    del found[server]
                continue
            below = found.get(server.name)
            if below is not None and below.is_personal and not is_personal:
                problems.append(
                    f"{source} settings: mcpServers.{server.name} is left out, for the user's own settings have one"
                    " of this name."
                )
                continue
            found[server.name] = server
    only: frozenset[str] | None = None
    for names in allowed:
        if names is not None:
            only = names if only is None else only & names
    return ServerOptions(
        servers=tuple(found[name] for name in sorted(found)),
        problems=tuple(problems),
        allowed=only,
        excluded=frozenset(excluded),
    )


def _held(held: HeldServers, source: str, is_personal: bool) -> Iterator[ServerDefinition]:
    """What is known of servers that are off."""
    for name, fields in held.servers.items():
        try:
            known = _definition(name, fields, source, is_personal=is_personal)
        except ValueError:
            known = ServerDefinition(name=name, source=source, is_personal=is_personal, transport="stdio")
        yield msgspec.structs.replace(known, held=held.reason, is_trusted=False)


def _servers(
    value: Mapping[str, Mapping[str, Any]],
    source: str,
    is_personal: bool,
    variables: Callable[[str], Reference | None],
    problems: list[str],
) -> Iterable[ServerDefinition | str]:
    """The servers of a layer; of one that it switches off the name."""
    for number, (name, fields) in enumerate(value.items()):
        where = f"{source} settings: mcpServers.{name[:_MAX_NAME]}"
        if number >= MOST_SERVERS:
            problems.append(f"{source} settings: only the first {MOST_SERVERS} of mcpServers are taken.")
            return
        if not name.strip() or len(name) > _MAX_NAME or one_line(name) != name:
            problems.append(f"{where}: a server's name has 1 to {_MAX_NAME} printable characters.")
            continue
        try:
            if _is_off(fields):
                yield name
                continue
            server = _server(name, fields, source, is_personal, variables)
        except ValueError as wrong:
            problems.append(f"{where}: {wrong}")
            continue
        if unknown := sorted(key[:_MAX_NAME] for key in fields if key not in _KNOWN):
            problems.append(f"{where}: nothing uses {', '.join(unknown[:_MOST_UNKNOWN])}, so it has no effect.")
        yield server


def _is_off(fields: Mapping[str, Any]) -> bool:
    """Whether the person switched the server off, as other programs have it. Raises `ValueError`."""
    for key, off in (("disabled", True), ("enabled", False)):
        value = fields.get(key)
        if value is not None and not isinstance(value, bool):
            raise ValueError(f"its `{key}` must be true or false, so it is not started.")
        if value is off:
            return True
    return False


def _server(
    name: str,
    fields: Mapping[str, Any],
    source: str,
    is_personal: bool,
    variables: Callable[[str], Reference | None],
) -> ServerDefinition:
    """A server; its texts filled in where it is personal, else looked at for what they may not refer to."""
    names = dict.fromkeys(named for text in _texts_of(fields) for named in names_in(text))
    found = [one for one in map(variables, names) if one is not None]
    if not is_personal:
        server = _checked(name, fields, source, is_personal=False)
        return msgspec.structs.replace(server, refused=tuple(one.name for one in found))
    values = {one.name: one.value for one in found}
    filled = _filled(fields, values.get)
    server = _checked(name, filled, source, is_personal=True)
    if filled == fields:
        return server
    return msgspec.structs.replace(
        server, written=_definition(name, fields, source, is_personal=True), references=tuple(found)
    )


def _texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for held in cast("Mapping[str, object]", value).values():
            yield from _texts_of(held)
    elif isinstance(value, list):
        for held in cast("list[object]", value):
            yield from _texts_of(held)


def _filled(value: Any, value_of: Callable[[str], str | None]) -> Any:
    if isinstance(value, str):
        return filled_in(value, value_of)
    if isinstance(value, Mapping):
        return {key: _filled(held, value_of) for key, held in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list):
        return [_filled(held, value_of) for held in cast("list[object]", value)]
    return value


def _checked(name: str, fields: Mapping[str, Any], source: str, *, is_personal: bool) -> ServerDefinition:
    """A server of these fields. Raises `ValueError` for what cannot be used."""
    server = _definition(name, fields, source, is_personal=is_personal)
    if bool(server.command) == bool(server.url):
        raise ValueError("it must have either a `command` or a `url`.")
    if server.url and not re.match(r"https?://[^\s/]", server.url):
        raise ValueError("its `url` must begin with http:// or https://.")
    if server.url and fields.get("type", "http") not in ("http", "sse", "streamable-http"):
        raise ValueError('its `type` must be "http" or "sse".')
    if bad := next((one for one in server.env if _RUNS_SOMETHING.fullmatch(one.upper())), None):
        raise ValueError(f"`env` must not set {bad}, which has programs run something else.")
    return server


def _definition(name: str, fields: Mapping[str, Any], source: str, *, is_personal: bool) -> ServerDefinition:
    command, url = _text(fields, "command"), _text(fields, "httpUrl") or _text(fields, "url")
    milliseconds = fields.get("timeout", DEFAULT_SECONDS * 1000)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not milliseconds > 0:
        raise ValueError("its `timeout` must be a number of milliseconds.")
    includes = fields.get("includeTools")
    is_sse = bool(url) and fields.get("type") == "sse" and "httpUrl" not in fields
    return ServerDefinition(
        name=name,
        source=source,
        is_personal=is_personal,
        transport="stdio" if command else "sse" if is_sse else "http",
        command=command,
        args=tuple(_list(fields, "args")),
        env=_texts(fields, "env"),
        cwd=_text(fields, "cwd"),
        url=url,
        headers=_texts(fields, "headers"),
        seconds=min(milliseconds / 1000, _LONGEST_SECONDS),
        is_trusted=is_personal and fields.get("trust") is True,
        description=_text(fields, "description")[:1_000],
        include=None if includes is None else frozenset(_tool(one) for one in _list(fields, "includeTools")),
        exclude=frozenset(_tool(one) for one in _list(fields, "excludeTools")),
        oauth=_oauth(fields.get("oauth")),
    )


def _oauth(value: object) -> OAuthOptions:
    if value is None or value is True:
        return OAuthOptions()
    if not isinstance(value, dict):
        raise ValueError("its `oauth` must be an object.")  # noqa: TRY004 – told like every other fault
    fields = cast("dict[str, Any]", value)
    redirect = re.fullmatch(r"http://(?:localhost|127\.0\.0\.1):(\d{2,5})/\S*", _text(fields, "redirectUri"))
    return OAuthOptions(
        client_id=_text(fields, "clientId"),
        client_secret=_text(fields, "clientSecret"),
        scopes=tuple(_list(fields, "scopes")),
        redirect_port=int(redirect[1]) if redirect and int(redirect[1]) < 65_536 else 0,
    )


def _tool(written: str) -> str:
    """The tool of `name` or of Gemini CLI's `name(arguments)`."""
    return written.partition("(")[0].strip()


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str) or len(value) > _MAX_TEXT or "\0" in value:
        raise ValueError(f"its `{key}` must be a text, not too long and without a NUL.")
    return value


def _list(fields: Mapping[str, Any], key: str) -> list[str]:
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"its `{key}` must be a list of texts.")  # noqa: TRY004 – told like every other fault
    texts = cast("list[object]", value)
    if len(texts) > _MAX_ARGS or not all(
        isinstance(one, str) and len(one) <= _MAX_TEXT and "\0" not in one for one in texts
    ):
        raise ValueError(f"its `{key}` must be a list of texts, {_MAX_ARGS} at most.")
    return cast("list[str]", texts)


def _texts(fields: Mapping[str, Any], key: str) -> dict[str, str]:
    value = fields.get(key, {})
    if not isinstance(value, dict):
        raise ValueError(f"its `{key}` must be an object of texts.")  # noqa: TRY004 – told like every other fault
    made: dict[str, str] = {}
    for name, held in cast("dict[object, object]", value).items():
        text = _written(held) if key == "env" else held
        if not isinstance(name, str) or not isinstance(text, str) or not re.fullmatch(r"[A-Za-z_][\w.-]{0,200}", name):
            raise ValueError(f"its `{key}` must be an object of texts, under plain names.")
        if {"\0", "\r", "\n"} & set(text) and (key == "headers" or "\0" in text):
            raise ValueError(f"its `{key}` has a character in it that must not be there.")
        made[name] = text
    return made


def _written(value: object) -> object:
    """A number, true or false as its variable has it."""
    return msgspec.json.encode(value).decode() if isinstance(value, bool | int | float) else value

"""Names of servers' tools as models call them: `mcp_<server>_<tool>`, valid, bounded, and each of one tool alone.

What needs no change is taken as it is; what was changed carries a point and a digest. So no other server's tool can
come to have the name, whichever servers there are, and a rule of consent stays about what it was made for.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

PREFIX: Final = "mcp_"
MAX_NAME: Final = 63
"""Characters of a whole name, as in Gemini CLI."""
EVERY_SERVER: Final = "mcp_*"
"""What a rule names that is about the tools of all servers."""
_MAX_SERVER: Final = 28
_DIGEST: Final = 10
_PLAIN_SERVER: Final = re.compile(r"[A-Za-z0-9-]+")
_PLAIN_TOOL: Final = re.compile(r"[A-Za-z0-9_-]+")
_NOT_IN_SERVER: Final = re.compile(r"[^A-Za-z0-9-]")
_NOT_IN_TOOL: Final = re.compile(r"[^A-Za-z0-9_-]")


def server_part(server: str) -> str:
    """What stands for a server in the names of its tools: no underscore is in it, so that it ends at the first."""
    return _fitting(server, _MAX_SERVER, _PLAIN_SERVER, _NOT_IN_SERVER)


def tool_name(server: str, tool: str) -> str:
    """The name by which models call a server's tool."""
    begin = f"{PREFIX}{server_part(server)}_"
    return begin + _fitting(tool, MAX_NAME - len(begin), _PLAIN_TOOL, _NOT_IN_TOOL)


def every_tool_of(server: str) -> str:
    """What a rule names that is about all tools of one server."""
    return f"{PREFIX}{server_part(server)}_*"


def _fitting(name: str, longest: int, plain: re.Pattern[str], other: re.Pattern[str]) -> str:
    if len(name) <= longest and plain.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{other.sub('-', name[: longest - _DIGEST - 1])}.{digest}"

"""One module per noun; a handler unpacks, calls the application and returns.

Each module is loaded when it is first named, as in `handlers.chat`: whoever asks for nothing loads none.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gemini_companion.protocol.handlers import agents as agents
    from gemini_companion.protocol.handlers import changes as changes
    from gemini_companion.protocol.handlers import chat as chat
    from gemini_companion.protocol.handlers import commands as commands
    from gemini_companion.protocol.handlers import compression as compression
    from gemini_companion.protocol.handlers import constraints as constraints
    from gemini_companion.protocol.handlers import editor as editor
    from gemini_companion.protocol.handlers import hooks as hooks
    from gemini_companion.protocol.handlers import mcp as mcp
    from gemini_companion.protocol.handlers import memory as memory
    from gemini_companion.protocol.handlers import recall as recall
    from gemini_companion.protocol.handlers import sessions as sessions
    from gemini_companion.protocol.handlers import settings as settings
    from gemini_companion.protocol.handlers import skills as skills
    from gemini_companion.protocol.handlers import slash_commands as slash_commands
    from gemini_companion.protocol.handlers import tools as tools
    from gemini_companion.protocol.handlers import views as views

NAMES: Final = frozenset(
    {
        "agents",
        "changes",
        "chat",
        "commands",
        "compression",
        "constraints",
        "editor",
        "hooks",
        "mcp",
        "memory",
        "recall",
        "sessions",
        "settings",
        "skills",
        "slash_commands",
        "tools",
        "views",
    }
)


def __getattr__(name: str) -> ModuleType:
    if name not in NAMES:
        raise AttributeError(name)
    return importlib.import_module(f"{__name__}.{name}")

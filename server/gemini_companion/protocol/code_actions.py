"""Prompt actions as LSP's code actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gemini_companion.engine.history.log import Withheld
from gemini_companion.protocol.connection import Connection
from gemini_companion.sessions.context.code_actions import PromptAction


def code_actions(
    offered: Sequence[PromptAction] | Withheld, sent: Sequence[dict[str, Any]], connection: Connection
) -> list[dict[str, Any]]:
    """The code actions. `sent` are the diagnostics of the request, one of which each quick fix names again."""
    if isinstance(offered, Withheld):
        return _unavailable(offered) if connection.supports("textDocument.codeAction.disabledSupport") else []
    return [_code_action(action, sent) for action in offered]


def _code_action(action: PromptAction, sent: Sequence[dict[str, Any]]) -> dict[str, Any]:
    command = {"title": action.title, "command": "gemini.chat", "arguments": [{"prompt": action.prompt}]}
    if action.fixes is None:
        return {"title": action.title, "kind": "", "command": command}
    return {"title": action.title, "kind": "quickfix", "command": command, "diagnostics": [sent[action.fixes]]}


def _unavailable(withheld: Withheld) -> list[dict[str, Any]]:
    """Why nothing is offered, for an editor that can show it."""
    reason = f"Gemini is not shown {withheld.name}: {withheld.reason}."
    return [{"title": "Ask Gemini about this", "kind": "", "disabled": {"reason": reason}}]

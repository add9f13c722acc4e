"""Tells hooks that a person is asked about a call."""

from __future__ import annotations

import os
import shlex
from typing import Any

from gemini_companion.sessions.session import Session
from gemini_companion.tools.tool import Proposal

_NEEDS = {"exec": "execution", "edit": "editing", "info": "information"}


def tell_hooks_of_question(session: Session, proposal: Proposal) -> None:
    """Run `Notification` beside the question, which waits for nobody."""
    session.services.hooks.run_beside(session, "Notification", notification_fields(proposal))


def notification_fields(proposal: Proposal) -> dict[str, Any]:
    """What hooks are told of a question."""
    details = _details(proposal)
    return {
        "notification_type": "ToolPermission",
        "message": f"Tool {proposal.title} requires {_NEEDS[details['type']]}",
        "details": details,
    }


def _details(proposal: Proposal) -> dict[str, Any]:
    title = {"title": proposal.title}
    if proposal.command is not None:
        return {"type": "exec", **title, "command": proposal.command, "rootCommand": _first_word(proposal.command)}
    if proposal.new_content is not None and proposal.path is not None:
        return {
            "type": "edit",
            **title,
            "fileName": os.path.basename(proposal.path),
            "filePath": proposal.path,
            "fileDiff": proposal.diff or "",
            "originalContent": "",
            "newContent": proposal.new_content,
            "isModifying": False,
        }
    return {"type": "info", **title, "prompt": proposal.title, "urls": []}


def _first_word(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return words[0] if words else ""

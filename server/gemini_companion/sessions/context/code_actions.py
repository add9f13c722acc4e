"""Actions for a range of a file, for editors without our extension: prompts about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from gemini_companion.engine.history.log import Withheld
from gemini_companion.engine.ide_context.state import Diagnostic
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.open_files import withheld_reason
from gemini_companion.sessions.editor import TextPosition
from gemini_companion.sessions.ports import WorkspaceFiles

_NO_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "\n": " ", "\r": " "})


class PromptAction(msgspec.Struct, frozen=True, kw_only=True):
    """An action that sends a prompt."""

    title: str
    prompt: str
    fixes: int | None = None
    """Index of the diagnostic that it is for."""


async def prompt_actions(
    workspace: WorkspaceFiles,
    client: Client,
    path: str,
    span: tuple[TextPosition, TextPosition],
    diagnostics: Sequence[Diagnostic],
) -> tuple[PromptAction, ...] | Withheld:
    """The actions for a range; for a withheld file the reason instead. The range becomes the client's selection.

    `path` is absolute, `span` has LSP positions; lines of `diagnostics` count from 1.
    """
    client.editor.look_at(path, span, tuple(diagnostics))
    withheld = await withheld_reason(workspace, client, path)
    if withheld is not None:  # the prompt would show its path to the model, and there would be no text to answer from
        return withheld
    what = _describe(client.editor.text(path, span), span, path)
    return (
        PromptAction(title="Ask Gemini about this", prompt=f"What does {what} do, and what should I know about it?"),
        PromptAction(title="Explain", prompt=f"Explain {what} step by step."),
        *(_fix(index, diagnostic, path) for index, diagnostic in enumerate(diagnostics)),
    )


def _fix(index: int, diagnostic: Diagnostic, path: str) -> PromptAction:
    said = diagnostic.message.translate(_NO_QUOTES)  # a tool's words must not read as the person's
    prompt = f"Fix this {diagnostic.severity} in {path}, line {diagnostic.line}: “{said}”"
    return PromptAction(title="Fix this diagnostic", prompt=prompt, fixes=index)


def _describe(text: str, span: tuple[TextPosition, TextPosition], path: str) -> str:
    """A range in words; lines count from 1, and an end at the beginning of a line leaves that line out."""
    first, (last, character) = span[0][0] + 1, (span[1][0] + 1, span[1][1])
    if last > first and character == 0:
        last -= 1
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"{'the selected code' if text.strip() else 'the code'} ({path}, {lines})"

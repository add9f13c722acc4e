"""Messages for people: outcomes as sentences, and the way to show them in an editor."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.protocol.connection import Connection
from gemini_companion.sessions.results import ChatResult, CompressionStatusReport, ContextReport, Pin, SessionInfo

ERROR: Final = 1
WARNING: Final = 2
INFO: Final = 3
_SHOWN_CHARACTERS: Final = 1_000


def show_message(connection: Connection, kind: int, message: str) -> None:
    """Show a message in the editor; of a long one only the beginning, with the whole in the editor's log. An empty one
    is not shown. `kind` is `ERROR`, `WARNING` or `INFO`.
    """
    if len(message) > _SHOWN_CHARACTERS:
        connection.send_notification("window/logMessage", {"type": kind, "message": message})
        message = f"{message[:_SHOWN_CHARACTERS].rstrip()} … (the rest is in the editor's log of this server)"
    if message:
        connection.send_notification("window/showMessage", {"type": kind, "message": message})


def sentence_for(result: object) -> str:
    """The outcome of a command in a sentence; empty for what needs none."""
    match result:
        case ChatResult(stopped=None, text=text):
            return text
        case ChatResult(message=message) if message:
            return message
        case ChatResult(stopped="maxToolRounds"):
            return (
                "The model is not done, but has made as many rounds of tool calls as one turn may"
                " (companion.tools.maxRounds). What it did stays. Shall it go on? Then ask it to, or raise the limit."
            )
        case ChatResult(stopped="loopDetected", text=text) if text:
            return text
        case ChatResult(stopped="contextWindowWillOverflow", prompt=None):
            return (
                "What the tools gave back does not fit into what is left of the model's window, so the turn ended here."
                " What was done stays. Compress the chat and ask the model to go on, or start a new chat."
            )
        case ChatResult(stopped="contextWindowWillOverflow"):
            return (
                "The prompt does not fit into what is left of the model's window; nothing was sent. Compress the chat"
                " or shorten the prompt."
            )
        case ChatResult(stopped="maxTurns"):
            return (
                "This chat has used up its prompts (model.maxSessionTurns); nothing was sent. Start a new chat or raise"
                " the limit."
            )
        case ChatResult(stopped=stopped):
            return f"The turn was ended early ({stopped})."
        case CompressionResult(message=message):
            return message
        case CompressionStatusReport(state=state, token_count=count, token_limit=limit, tokens_until_compression=left):
            more = f"after {left:,} more" if left else "with the next prompt"
            until = "automatic compression is off" if left is None else f"it starts by itself {more}"
            return f"Compression is {state}: {count:,} of {limit:,} tokens used; {until}."
        case SessionInfo():
            return "A new chat has begun."
        case Pin(text=text):
            return f"Pinned: {text[:100]}"
        case ContextReport(token_count=count, token_limit=limit, by_part=parts):
            return (
                f"{count:,} of {limit:,} tokens: system {parts.system_instruction + parts.tools:,}, environment"
                f" {parts.environment:,}, memory {parts.memory:,}, editor {parts.ide_context:,}, snapshot"
                f" {parts.snapshot:,}, rules {parts.constraints:,}, messages {parts.messages:,}, tool outputs"
                f" {parts.tool_outputs:,}."
            )
        case _:
            return ""

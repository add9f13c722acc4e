"""What hooks read and write, as types: for the schema that authors of hooks check theirs against.

Reading and writing itself is by hand (`answers`, `merging`): a hook that writes something else is not an error.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gemini_companion.engine.hooks.events import HookEvent


class HookInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a hook reads from its standard input: one JSON object. Below the first five fields, those of its event."""

    session_id: str
    transcript_path: str
    """The chat up to the last finished round, and to AfterAgent the answer too, in Gemini CLI's JSON lines; empty if it
    could not be written. It is as it was when the event came, with secrets masked.
    """
    cwd: str
    """The first workspace folder, absolute."""
    hook_event_name: HookEvent
    timestamp: str
    """ISO 8601, UTC."""
    prompt: str = ""
    """BeforeAgent, AfterAgent."""
    prompt_response: str = ""
    """AfterAgent: the text of the answer."""
    stop_hook_active: bool = False
    """AfterAgent: a hook sent this turn back to work before."""
    tool_name: str = ""
    """BeforeTool, AfterTool."""
    tool_input: dict[str, Any] = {}
    """BeforeTool, AfterTool: the arguments."""
    original_request_name: str = ""
    """BeforeTool, AfterTool: the tool that the model called, where a hook had this one called in its place."""
    tool_response: dict[str, Any] = {}
    """AfterTool: `llmContent`, `returnDisplay`, `error`."""
    llm_request: dict[str, Any] = {}
    """BeforeModel, AfterModel, BeforeToolSelection: `model`, `messages` with `role` and `content`, `config`."""
    llm_response: dict[str, Any] = {}
    """AfterModel: `text`, `candidates`, `usageMetadata`. Without a `finishReason` it is the answer so far, of which
    only a refusal counts.
    """
    source: Literal["startup", "resume", "clear", ""] = ""
    """SessionStart."""
    reason: Literal["exit", "clear", "other", ""] = ""
    """SessionEnd."""
    trigger: Literal["manual", "auto", ""] = ""
    """PreCompress, PostCompress."""
    compression_status: str = ""
    """PostCompress: `COMPRESSED` or `CONTENT_TRUNCATED`."""
    tokens_before: int = 0
    """PostCompress."""
    tokens_after: int = 0
    """PostCompress."""
    snapshot: str = ""
    """PostCompress: what stands in place of the hidden part."""
    notification_type: str = ""
    """Notification: `ToolPermission`."""
    message: str = ""
    """Notification: a sentence."""
    details: dict[str, Any] = {}
    """Notification: `type` (`exec`, `edit`, `info`), `title`, and what belongs to the type."""


class ToolConfig(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Which tools a request tells the model of."""

    mode: Literal["AUTO", "ANY", "NONE"] = "AUTO"
    """`NONE`: of none. `ANY`: the model must call one."""
    allowed_function_names: list[str] = []
    """Of these alone; empty for all."""


class TailToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call to be made behind another one."""

    name: str
    args: dict[str, Any] = {}


class SpecificOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What belongs to an event."""

    additional_context: str = msgspec.field(name="additionalContext", default="")
    """BeforeAgent, AfterTool, SessionStart, PostCompress: for the model. PreCompress: guidance for the snapshot."""
    tool_input: dict[str, Any] = {}
    """BeforeTool: arguments to set; the others stay."""
    llm_request: dict[str, Any] = {}
    """BeforeModel: what to change of the request."""
    llm_response: dict[str, Any] = {}
    """BeforeModel with `deny`: the answer in place of the model's. AfterModel: the answer's text as it is to be."""
    tool_config: ToolConfig = msgspec.field(name="toolConfig", default=ToolConfig())
    """BeforeToolSelection."""
    tail_tool_call_request: TailToolCall | None = msgspec.field(name="tailToolCallRequest", default=None)
    """AfterTool: a call whose result takes the place of this one's. It is asked about as every call is."""
    clear_context: bool = msgspec.field(name="clearContext", default=False)
    """AfterAgent: the model forgets the chat so far; people still see it."""


class HookResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a hook writes to its standard output: one JSON object. All of it can be left out."""

    decision: Literal["allow", "deny", "block", "ask"] = "allow"
    """`block` is `deny`; `ask` has a person asked about a tool's call."""
    reason: str = ""
    """Why; the model reads it where a call, a result or an answer is refused."""
    continue_: bool = msgspec.field(name="continue", default=True)
    """False ends the turn."""
    stop_reason: str = ""
    """Why it ends, for people."""
    system_message: str = ""
    """For people."""
    suppress_output: bool = False
    """People are not told that it ran, unless it refused something or failed."""
    hook_specific_output: SpecificOutput = SpecificOutput()
    """What belongs to its event."""


class HookFiles(msgspec.Struct, frozen=True, kw_only=True):
    """A hook of Gemini Companion reads `input` from its standard input and writes `output` to its standard output."""

    input: HookInput
    """What it reads."""
    output: HookResult
    """What it writes."""

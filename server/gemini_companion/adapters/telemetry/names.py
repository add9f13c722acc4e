"""The names of what is sent. A test compares them with the table in `server/USAGE.md`.

Those that begin with `gen_ai.` are OpenTelemetry's conventions for generative AI, 0.66; the others have Gemini CLI's
words behind a prefix of our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SERVICE: Final = "gemini-companion"
PREFIX: Final = "gemini_companion"

# --- spans
TURN_SPAN: Final = f"invoke_agent {SERVICE}"
MODEL_SPAN: Final = "generate_content"
TOOL_SPAN: Final = "execute_tool"
COMPRESSION_SPAN: Final = "chat_compression"
HOOK_SPAN: Final = "hook"

# --- attributes of the conventions
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT: Final = "gen_ai.agent.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
THOUGHT_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE: Final = "gen_ai.token.type"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL: Final = "gen_ai.tool.call.id"
ERROR_TYPE: Final = "error.type"

# --- text, only with telemetry.logPrompts
INPUT_TEXT: Final = "gen_ai.input.messages"
OUTPUT_TEXT: Final = "gen_ai.output.messages"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"

# --- our own attributes
SESSION: Final = "session.id"
PROMPT_ID: Final = "prompt_id"
ROLE: Final = "role"
COST: Final = f"{PREFIX}.cost"

PROVIDERS: Final[Mapping[str, str]] = {"gemini": "gcp.gemini"}
"""By the name of an adapter; one that is not here keeps its own name."""

SPANS: Final = (TURN_SPAN, MODEL_SPAN, TOOL_SPAN, COMPRESSION_SPAN, HOOK_SPAN)

METRICS: Final[Mapping[str, str]] = {
    "gen_ai.client.token.usage": "{token}",
    "gen_ai.client.operation.duration": "s",
    "gen_ai.client.operation.time_to_first_chunk": "s",
    f"{PREFIX}.session.count": "{session}",
    f"{PREFIX}.turn.count": "{turn}",
    f"{PREFIX}.turn.duration": "s",
    f"{PREFIX}.api.request.count": "{request}",
    f"{PREFIX}.api.request.latency": "ms",
    f"{PREFIX}.token.usage": "{token}",
    f"{PREFIX}.cost": "USD",
    f"{PREFIX}.tool.call.count": "{call}",
    f"{PREFIX}.tool.call.latency": "ms",
    f"{PREFIX}.hook_call.count": "{call}",
    f"{PREFIX}.hook_call.latency": "ms",
    f"{PREFIX}.chat_compression.count": "{compression}",
    f"{PREFIX}.chat_compression.tokens": "{token}",
    f"{PREFIX}.telemetry.dropped": "{record}",
}
"""With their units."""

EVENTS: Final = (
    f"{PREFIX}.user_prompt",
    f"{PREFIX}.api_response",
    f"{PREFIX}.api_error",
    f"{PREFIX}.tool_call",
    f"{PREFIX}.hook_call",
    f"{PREFIX}.chat_compression",
    f"{PREFIX}.turn_end",
    f"{PREFIX}.event",
)
"""The logs, by their event's name."""

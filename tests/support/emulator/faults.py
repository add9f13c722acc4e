"""Everything that can go wrong between us and the Gemini API, as replies. `FAULTS` has each by name, with its
defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.support.emulator.errors import ApiError, error_info, quota_failure, retry_info, too_large
from tests.support.emulator.replies import Drop, Reply, answer, call, failure, thought
from tests.support.emulator.waiting import Gate


def rate_limited(*, retry_after: str | None = None, retry_delay: str | None = None, quota: str | None = None) -> Reply:
    """429; `retry_after` is the header (seconds or a date), `retry_delay` RetryInfo (`1.5s`), `quota` the id of the
    used-up quota.
    """
    details: list[Mapping[str, Any]] = [quota_failure(quota)] if quota else []
    if retry_delay is not None:
        details.append(retry_info(retry_delay))
    headers = {"retry-after": retry_after} if retry_after is not None else {}
    return failure(ApiError(429, "You exceeded your current quota.", details=details, headers=headers))


def internal() -> Reply:
    """500."""
    return failure(ApiError(500, "An internal error has occurred. Please retry."))


def unavailable(*, retry_after: str | None = None) -> Reply:
    """503."""
    return failure(
        ApiError(
            503,
            "The model is overloaded. Please try again later.",
            headers={"retry-after": retry_after} if retry_after else {},
        )
    )


def deadline() -> Reply:
    """504."""
    return failure(ApiError(504, "The request timed out. Please try again."))


def hang_before_headers(gate: Gate | None = None) -> Reply:
    """Silence from the start, until `gate` is released, if ever."""
    return answer(gate or Gate(), "late")


def hang_mid_stream(text: str = "Hel", gate: Gate | None = None) -> Reply:
    """A piece, then silence."""
    return answer(text, gate or Gate(), "late")


def drop_before_headers() -> Reply:
    """The connection closes without an answer."""
    return Reply(steps=(Drop(),))


def drop_mid_stream(text: str = "Hel") -> Reply:
    """A piece, then the connection closes."""
    return answer(text, Drop(), finish=None)


def malformed_event(text: str = "Hel") -> Reply:
    """A piece, then an event that is no JSON."""
    return answer(text, b'data: {"candidates": [{"content"\r\n\r\n', finish=None)


def error_event(text: str = "Hel", code: int = 503) -> Reply:
    """A piece, then an error as an event of a stream that began with 200."""
    return answer(text, ApiError(code, "The model is overloaded. Please try again later.").json(), finish=None)


def malformed_call() -> Reply:
    """The model tried to call a function and failed to write the call."""
    return answer(finish="MALFORMED_FUNCTION_CALL")


def unexpected_call() -> Reply:
    """The model called a function although none was offered."""
    return answer(finish="UNEXPECTED_TOOL_CALL")


def prompt_blocked(reason: str = "SAFETY") -> Reply:
    """The prompt was refused: no candidate, no fault."""
    return answer({"promptFeedback": {"blockReason": reason}}, finish=None)


def stopped(reason: str = "SAFETY", text: str = "I was about to") -> Reply:
    """The answer was cut off by a filter (SAFETY, RECITATION, PROHIBITED_CONTENT, …)."""
    return answer(text, finish=reason) if text else answer(finish=reason)


def empty() -> Reply:
    """An answer without content."""
    return answer()


def nothing() -> Reply:
    """A response without candidates."""
    return answer({"usageMetadata": {}}, finish=None)


def no_finish_reason(text: str = "And then") -> Reply:
    """An answer that ends without saying why."""
    return answer(text, finish=None)


def max_tokens(text: str = "And so on and so") -> Reply:
    """An answer that was cut at its length."""
    return answer(text, finish="MAX_TOKENS")


def thoughts_only() -> Reply:
    """Thoughts and no answer."""
    return answer(thought("Let me see."))


def unknown_words() -> Reply:
    """A finish reason that no SDK knows yet."""
    return answer("Fine.", finish="SOMETHING_NEW")


def overflow(count: int = 1_048_577, limit: int = 1_048_576) -> Reply:
    """The provider refuses the size."""
    return failure(too_large(count, limit))


def invalid_key() -> Reply:
    """400 for a key that does not exist."""
    message = "API key not valid. Please pass a valid API key."
    return failure(ApiError(400, message, details=[error_info("API_KEY_INVALID")]))


def unauthenticated() -> Reply:
    """401."""
    return failure(ApiError(401, "Request had invalid authentication credentials."))


def forbidden() -> Reply:
    """403."""
    return failure(ApiError(403, "The caller does not have permission."))


def unknown_model(model: str = "gemini-0") -> Reply:
    """404."""
    message = (
        f"models/{model} is not found for API version v1, or is not supported for generateContent. Call ListModels to"
        " see the available models."
    )
    return failure(ApiError(404, message))


def refused() -> Reply:
    """400 for a reason that nobody foresaw."""
    return failure(ApiError(400, "User location is not supported for the API use.", status="FAILED_PRECONDITION"))


def too_many_calls() -> Reply:
    """An answer of calls only, to functions that may not exist."""
    return answer(*(call("no_such_function", {"index": index}) for index in range(3)))


FAULTS: Mapping[str, Callable[[], Reply]] = {
    fault.__name__: fault
    for fault in (
        rate_limited,
        internal,
        unavailable,
        deadline,
        hang_before_headers,
        hang_mid_stream,
        drop_before_headers,
        drop_mid_stream,
        malformed_event,
        error_event,
        malformed_call,
        unexpected_call,
        prompt_blocked,
        stopped,
        empty,
        nothing,
        no_finish_reason,
        max_tokens,
        thoughts_only,
        unknown_words,
        overflow,
        invalid_key,
        unauthenticated,
        forbidden,
        unknown_model,
        refused,
        too_many_calls,
    )
}
"""Every fault by name, in snake case."""

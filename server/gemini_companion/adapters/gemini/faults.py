"""From the API's error answers to the faults of `engine.errors`. Pure: knows HTTP and google.rpc, not the SDK.

Shapes: https://google.aip.dev/193 (error JSON) and google.rpc.error_details (RetryInfo, ErrorInfo, QuotaFailure).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final, TypeAlias, cast

import msgspec

from gemini_companion.adapters.gemini.options import KEY_HINT
from gemini_companion.engine.errors import ContextOverflow, ModelFault, ModelUnavailable, RefusedPart, Unauthenticated

Json: TypeAlias = dict[str, Any]

VERTEX_HINT: Final = (
    "Run `gcloud auth application-default login`, and check GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION and the"
    " account's role there."
)
LATER_HINT: Final = "Nothing was lost; try again in a moment, or choose another model."
ENDPOINT_HINT: Final = "Check the network, HTTPS_PROXY and GOOGLE_GEMINI_BASE_URL, then try again."
PAGE_HINT: Final = (
    "A proxy, a sign-in page or a filter of the network answers in its place. Open the address of the service in a"
    " browser, and check HTTPS_PROXY, NO_PROXY and GOOGLE_GEMINI_BASE_URL."
)
MODEL_HINT: Final = "`gemini/models` lists the usual names; set another with `model.name` or GEMINI_MODEL."

_RETRYABLE: Final = frozenset({408, 409, 425, 429, 499})
_LONGEST_WAIT_MS: Final = 24 * 3600 * 1000
_MESSAGE_LIMIT: Final = 400
_READ: Final = 4_096
"""Characters of a service's message in which a cause is sought."""
_KEY_REFUSED: Final = re.compile(r"API[ _]key[ _](?:not valid|expired|invalid)|API_KEY_INVALID", re.IGNORECASE)
# How the Gemini API, Vertex AI and the usual proxies report a request that is too large.
_OVERFLOW: Final = re.compile(
    r"input token count|payload size exceeds|(?:context|prompt).{0,40}(?:too (?:long|large|many)|exceed)|too many"
    r" (?:input )?tokens"
    r"|maximum context length|exceeds? .{0,60}(?:context window|maximum number of (?:input )?tokens)",
    re.IGNORECASE,
)
_NAMED_LIMIT: Final = re.compile(
    r"(?:(?:tokens? )?allowed|maximum context length(?: is| of)?|context window(?: is| of)?|supports? up to"
    r"|max(?:imum)?(?: is| of)?|limit(?: is| of)?)[ (:]{1,3}(\d[\d,]{2,11})(?![\d,])|>\s?(\d{3,9}) maximum",
    re.IGNORECASE,
)
_LEAST_LIMIT: Final = 1_000
_DECLARATION: Final = re.compile(r"function_?declarations\[(?P<index>\d{1,4})\]", re.IGNORECASE)
# What a refused request was refused for, as far as the words of the Gemini API and Vertex AI tell. Links tell nothing.
_LINK: Final = re.compile(r"https?://\S{1,500}", re.ASCII)
_ABOUT_TOOLS: Final = re.compile(r"function_?declaration|\bschemas?\b|\btools\[", re.IGNORECASE)
_ABOUT_MEDIA: Final = re.compile(
    r"\b(?:images?|pictures?|videos?|audio|pdfs?|documents?|media|pages?|mime[ _-]?types?|(?:inline|file)_?data"
    r"|file_?uri)\b",
    re.IGNORECASE,
)
_PAGE: Final = re.compile(r"\s*+<(?:!doctype\s+html|html|head|body|h1|title|meta|script|\?xml|!--)", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]{0,200}+>([^<]{1,500}+)<", re.IGNORECASE)
_NO_QUOTA: Final = re.compile(r"\blimit: 0\b(?![.,]?\d)")
_HTTP_DATE: Final = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT", re.ASCII)
_DURATION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s?", re.ASCII)


class ErrorResponse(msgspec.Struct, frozen=True, kw_only=True):
    """An error answer, or an error event in a stream. Everything but the code is untrusted."""

    code: int
    """The HTTP status."""
    status: str = ""
    """google.rpc's name for it, such as INVALID_ARGUMENT."""
    message: str = ""
    body: Json | None = None
    """The error's JSON; `None` if it is no JSON object."""
    retry_after: str | None = None
    """The Retry-After header."""


def fault_of(response: ErrorResponse, *, model: str, vertex: bool = False, now: datetime | None = None) -> ModelFault:
    """The fault for an error response. `now` is the time that a Retry-After date is compared with."""
    code, reason = response.code, _reason(response)
    details = list(_details(response.body))
    if code < 500 and code not in (*_RETRYABLE, 413) and is_page(response.message):
        return page_fault(response.message, code)
    key_refused = any(detail.get("reason") == "API_KEY_INVALID" for detail in details) or _KEY_REFUSED.search(
        response.message
    )
    if code in (401, 403) or (code == 400 and key_refused):
        return Unauthenticated(
            f"The model's service refused the credentials ({reason}).", hint=VERTEX_HINT if vertex else KEY_HINT
        )
    if code == 413 or (code == 400 and _OVERFLOW.search(response.message[:_READ])):
        return ContextOverflow(
            f"The conversation is too large for {model} ({reason}).",
            hint="Compress it with `gemini/compress`, or choose a model with a larger window.",
            limit=_named_limit(response.message[:_READ]),
        )
    if code == 400 and (place := _DECLARATION.search(response.message[:_READ])):
        return ModelUnavailable(
            f"The model's service refused the declaration of a tool ({reason}).",
            hint="`gemini-companion doctor` shows what is configured.",
            retryable=False,
            tool_index=int(place["index"]),
            refused="tools",
            words=response.message[:_READ],
        )
    if code == 404:
        known_endpoint = response.body is not None and "error" in response.body
        return ModelUnavailable(
            f"The model {model!r} was not found ({reason}).",
            hint=MODEL_HINT if known_endpoint else ENDPOINT_HINT,
            retryable=False,
            is_gone=known_endpoint,
        )
    retry_after_ms = _retry_after_ms(response, details, now)
    if code == 429:
        quota = _token_quota(details)
        if quota == 0 or _NO_QUOTA.search(response.message[:_READ]):
            return ModelUnavailable(
                f"This key has no quota for {model} ({reason}).",
                hint="Choose another model, or a key with a quota for this one.",
                retryable=False,
                of_model=True,
                is_gone=True,
            )
        if any("PerDay" in quota for detail in details for quota in _quotas(detail)):
            hint = "Today's quota of this model is used up: choose another model, or a key with a larger quota."
            return ModelUnavailable(
                f"The day's quota of {model} is used up ({reason}).",
                hint=hint,
                retryable=False,
                retry_after_ms=retry_after_ms,
                of_model=True,
            )
        return ModelUnavailable(
            f"{model} takes no more requests for now ({reason}).",
            hint=_later(retry_after_ms),
            retry_after_ms=retry_after_ms,
            of_model=True,
            token_quota=quota,
        )
    if code in _RETRYABLE or code >= 500:
        return ModelUnavailable(
            f"The model's service failed ({reason}).",
            hint=_later(retry_after_ms),
            retry_after_ms=retry_after_ms,
            of_model=code == 503,  # how the service says that a model is overloaded
        )
    if 300 <= code < 400:
        return ModelUnavailable(
            f"The endpoint redirects elsewhere, which is not followed ({reason}).", hint=ENDPOINT_HINT, retryable=False
        )
    return ModelUnavailable(
        f"The model's service refused the request ({reason}).",
        hint="`gemini-companion doctor` shows what is configured.",
        retryable=False,
        refused=_refused(response) if code == 400 and response.status in ("", "INVALID_ARGUMENT") else None,
        words=response.message[:_READ],
    )


def is_page(text: str) -> bool:
    """Whether what answered is a web page."""
    return _PAGE.match(text[:_READ]) is not None


def page_fault(page: str, code: int) -> ModelUnavailable:
    """The fault where a web page came in place of an answer."""
    title = _TITLE.search(page[:_READ])
    named = one_line(unescape(title[1]), 120) if title is not None else ""
    titled = f' with the title "{named}"' if named else ""
    return ModelUnavailable(
        f"What answered is not the model's service but a web page{titled} ({code}).",
        hint=PAGE_HINT,
        retryable=False,
    )


def one_line(text: str, limit: int = _MESSAGE_LIMIT) -> str:
    """An external text made fit for a sentence: one line, at most `limit` characters, no control characters.

    An HTML page becomes the empty text.
    """
    if text.lstrip()[:1] == "<":
        return ""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _refused(response: ErrorResponse) -> RefusedPart:
    """What of a request an invalid one was refused for; `request` where the words do not tell."""
    words = _LINK.sub("", response.message[:_READ])
    if _ABOUT_TOOLS.search(words):
        return "tools"
    return "media" if _ABOUT_MEDIA.search(words) else "request"


def _later(retry_after_ms: int | None) -> str:
    """A hint when to try again; a wait of over a minute is named."""
    minutes = math.ceil((retry_after_ms or 0) / 60_000)
    return (
        LATER_HINT
        if minutes <= 1
        else f"Nothing was lost; try again in about {minutes:,} minutes, or choose another model."
    )


def _reason(response: ErrorResponse) -> str:
    status = one_line(response.status, 60)
    head = f"{response.code} {status}" if status else str(response.code)
    message = one_line(response.message).rstrip(".")
    return f"{head}: {message}" if message and message != status else head


def _details(body: Json | None) -> Iterator[Json]:
    """Every object in `error.details` of an error's JSON."""
    error = body.get("error") if body is not None else None
    details = cast("Json", error).get("details") if isinstance(error, dict) else None
    for detail in cast("list[object]", details) if isinstance(details, list) else []:
        if isinstance(detail, dict):
            yield cast("Json", detail)


def _named_limit(message: str) -> int | None:
    """How many tokens a request may have, where the refusal says so."""
    match = _NAMED_LIMIT.search(message)
    limit = int((match[1] or match[2]).replace(",", "")) if match else 0
    return limit if limit >= _LEAST_LIMIT else None


def _token_quota(details: list[Json]) -> int | None:
    """The tokens that requests of one minute may have, where that is what was exceeded."""
    found: list[int] = []
    for violation in (one for detail in details for one in _violations(detail)):
        quota, value = violation.get("quotaId"), violation.get("quotaValue")
        if not isinstance(quota, str) or "Token" not in quota or "PerMinute" not in quota:
            continue
        if isinstance(value, str | int) and re.fullmatch(r"\d{1,12}", str(value)):
            found.append(int(value))
    return min(found, default=None)


def _violations(detail: Json) -> Iterator[Json]:
    violations = detail.get("violations")
    for violation in cast("list[object]", violations) if isinstance(violations, list) else []:
        if isinstance(violation, dict):
            yield cast("Json", violation)


def _quotas(detail: Json) -> Iterator[str]:
    for violation in _violations(detail):
        if isinstance(quota := violation.get("quotaId"), str):
            yield quota


def _retry_after_ms(response: ErrorResponse, details: list[Json], now: datetime | None) -> int | None:
    """How long to wait, in ms: the header's seconds or date, else RetryInfo's duration; at most a day; else `None`."""
    header = (response.retry_after or "").strip()
    if match := _DURATION.fullmatch(header):
        return _bounded_ms(float(match[1]))
    if _HTTP_DATE.fullmatch(header):
        from email.utils import parsedate_to_datetime  # here, since the adapter is imported while an editor waits

        with suppress(ValueError):
            return _bounded_ms(
                (parsedate_to_datetime(header).replace(tzinfo=UTC) - (now or datetime.now(UTC))).total_seconds()
            )
    for detail in details:
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and (match := _DURATION.fullmatch(delay.strip())):
            return _bounded_ms(float(match[1]))
    return None


def _bounded_ms(seconds: float) -> int:
    return min(max(math.ceil(seconds * 1000), 0), _LONGEST_WAIT_MS)

"""How to reach the Gemini API, and with which key: read from the environment as the SDK reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from gemini_companion.engine.errors import ModelUnavailable, Unauthenticated

KEY_HINT: Final = (
    "Set GEMINI_API_KEY to a key from Google AI Studio, in the environment that starts the editor or the daemon, and"
    " restart it."
)

_KEY = re.compile(r"[!-~]+")
_TRUE = frozenset({"1", "true"})


class GeminiOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Credentials, endpoint and time limits of one `GeminiProvider`. Durations are milliseconds.

    Its `repr` never shows the key.
    """

    api_key: str | None = None
    vertex: bool = False
    """True for Vertex AI: then a project (with the machine's Google credentials) or a key is needed."""
    project: str | None = None
    location: str | None = None
    base_url: str | None = None
    """Another endpoint with the Gemini API, with any path prefix; `None` for Google's own."""
    api_version: str | None = None
    """`None` for the SDK's default, which `GOOGLE_GENAI_API_VERSION` may change."""
    timeout_ms: int = 300_000
    """Longest wait for an answer in one piece (`generate`), from the request to its last byte: summaries of a full
    window take minutes. Of a stream, which has no limit as a whole: for its first chunk, or between two, while other
    bytes come (a proxy's comments).
    """
    idle_timeout_ms: int = 120_000
    """Longest time without a byte in a stream, and longest wait for a token count."""
    after_finish_ms: int = 5_000
    """Longest wait for the end of a stream whose answer is whole."""
    connect_timeout_ms: int = 15_000
    include_thoughts: bool = True
    """Ask thinking models to send summaries of their thoughts with a turn's answer."""

    def __repr__(self) -> str:
        return f"GeminiOptions({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        fields = [(name, getattr(self, name)) for name in self.__struct_fields__]
        return [(name, "***" if name == "api_key" and value else value) for name, value in fields]


def from_environment(env: Mapping[str, str]) -> GeminiOptions | None:
    """The options in the environment, or `None` without usable credentials; a blank value counts as unset.

    `GOOGLE_API_KEY` wins over `GEMINI_API_KEY`. `GOOGLE_GENAI_USE_VERTEXAI` (or `…_USE_ENTERPRISE`, which wins) selects
    Vertex AI, with `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION` (default `global`) or, without a project, with
    the key. `GOOGLE_GEMINI_BASE_URL` (on Vertex AI `GOOGLE_VERTEX_BASE_URL` first) is another endpoint.
    """

    def value(name: str) -> str | None:
        return env.get(name, "").strip() or None

    key = value("GOOGLE_API_KEY") or value("GEMINI_API_KEY")
    base_url = value("GOOGLE_GEMINI_BASE_URL")
    if (value("GOOGLE_GENAI_USE_ENTERPRISE") or value("GOOGLE_GENAI_USE_VERTEXAI") or "").lower() in _TRUE:
        base_url = value("GOOGLE_VERTEX_BASE_URL") or base_url
        project = value("GOOGLE_CLOUD_PROJECT")
        if project is not None:
            location = value("GOOGLE_CLOUD_LOCATION") or "global"
            return GeminiOptions(vertex=True, project=project, location=location, base_url=base_url)
        return GeminiOptions(vertex=True, api_key=key, base_url=base_url) if key else None
    return GeminiOptions(api_key=key, base_url=base_url) if key else None


def check_options(options: GeminiOptions) -> None:
    """Raise `Unauthenticated` without a key fit for an HTTP header, `ModelUnavailable` for an invalid address."""
    if options.api_key is None and not options.vertex:
        raise Unauthenticated("There is no key for the Gemini API.", hint=KEY_HINT)
    if options.api_key is not None and not _KEY.fullmatch(options.api_key):
        raise Unauthenticated("The key for the Gemini API holds blanks or characters that no key has.", hint=KEY_HINT)
    if options.base_url is not None:
        try:
            url = urlsplit(options.base_url)
            usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
        except ValueError:
            usable = False
        if not usable:
            hint = "Set GOOGLE_GEMINI_BASE_URL to an address that begins with https:// or http://, or remove it."
            raise ModelUnavailable("The address of the model's service cannot be used.", hint=hint, retryable=False)

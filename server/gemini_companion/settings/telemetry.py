"""What the settings and the environment say of telemetry.

The variables are Gemini CLI's, and go before the files and the editor, as there; the command line goes before them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.objects import JsonObject
from gemini_companion.settings.schema import TelemetrySettings

GRPC_ENDPOINT: Final = "http://localhost:4317"
HTTP_ENDPOINT: Final = "http://localhost:4318"
"""Where a collector listens by default."""

VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "enabled": ("GEMINI_TELEMETRY_ENABLED",),
    "target": ("GEMINI_TELEMETRY_TARGET",),
    "otlpEndpoint": ("GEMINI_TELEMETRY_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
    "otlpProtocol": ("GEMINI_TELEMETRY_OTLP_PROTOCOL",),
    "logPrompts": ("GEMINI_TELEMETRY_LOG_PROMPTS",),
    "outfile": ("GEMINI_TELEMETRY_OUTFILE",),
}
"""By key below `telemetry`, those that go first standing first."""


class TelemetryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where telemetry goes, and what of it."""

    enabled: bool = False
    target: str = "local"
    """As written; of itself it chooses nothing."""
    endpoint: str = GRPC_ENDPOINT
    """An address with scheme and host."""
    protocol: Literal["grpc", "http"] = "grpc"
    log_prompts: bool = False
    """Whether texts go along."""
    outfile: str | None = None
    """An absolute path; then nothing is sent."""
    problem: str = ""
    """Why nothing is sent although it was asked for, with what to do."""

    @property
    def endpoint_shown(self) -> str:
        """Host and port of the endpoint, without a password."""
        return urlsplit(self.endpoint).netloc.rpartition("@")[2]


def telemetry_variable(key: str, env: Mapping[str, str]) -> str | None:
    """The variable that sets a key (`telemetry.enabled`), if one does."""
    names = VARIABLES.get(key.removeprefix("telemetry."), ()) if key.startswith("telemetry.") else ()
    return next((name for name in names if env.get(name, "").strip()), None)


def telemetry_of_environment(env: Mapping[str, str]) -> tuple[JsonObject, list[InvalidSettings]]:
    """What the environment sets, as a layer, and what of it cannot be used."""
    found: dict[str, Any] = {}
    problems: list[InvalidSettings] = []
    for key in VARIABLES:
        name = telemetry_variable(f"telemetry.{key}", env)
        if name is None:
            continue
        text = env[name].strip()
        if key in ("enabled", "logPrompts"):
            found[key] = text.lower() in ("1", "true")
        elif key == "otlpProtocol" and text not in ("grpc", "http"):
            problems.append(InvalidSettings(f"{name}: {text[:100]!r} is ignored.", hint='Set it to "grpc" or "http".'))
        else:
            found[key] = text
    return ({"telemetry": found} if found else {}), problems


def telemetry_options(settings: TelemetrySettings, home: Path) -> TelemetryOptions:
    """The settings with their defaults. What cannot be used is told only where telemetry is on."""
    outfile = settings.outfile or None
    if outfile is not None and outfile.startswith("~"):
        outfile = str(home) + outfile[1:]
    endpoint = settings.otlp_endpoint or (HTTP_ENDPOINT if settings.otlp_protocol == "http" else GRPC_ENDPOINT)
    if "://" not in endpoint:
        endpoint = f"http://{endpoint}"
    problem = ""
    if not settings.enabled:
        pass
    elif outfile is not None and not Path(outfile).is_absolute():
        problem = "Telemetry is off: telemetry.outfile is no absolute path. Begin it with / or ~/."
    elif outfile is None and settings.target == "gcp" and not settings.otlp_endpoint:
        problem = (
            'Telemetry is off: nothing is sent to Google Cloud directly, as telemetry.target "gcp" asks. Run an'
            " OpenTelemetry collector that exports there, and set telemetry.otlpEndpoint to its address."
        )
    elif outfile is None and not _is_address(endpoint):
        problem = f"Telemetry is off: telemetry.otlpEndpoint is no address. Set one such as {GRPC_ENDPOINT}."
    return TelemetryOptions(
        enabled=settings.enabled,
        target=settings.target,
        endpoint=endpoint,
        protocol=settings.otlp_protocol,
        log_prompts=settings.log_prompts,
        outfile=outfile,
        problem=problem,
    )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False

"""What every session shares: the ports, the clock, the models, the settings in force."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.tokens.limits import DEFAULT_MODEL, OFFLINE_MODEL, compressor_for, resolve_model, title_model, token_limit
from gemini_companion.sessions.ports import Clock, ModelClient, SessionStore, WorkspaceFiles
from gemini_companion.sessions.results import ErrorData
from gemini_companion.settings.effective import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """Which model answers: the name asked for, the name that goes to the provider, who that is, and why."""

    asked: str
    name: str
    client: ModelClient
    reason: str


class Models:
    """The model clients, and which of them answers a name."""

    def __init__(self, *, offline: ModelClient, gemini: ModelClient | None, why_offline: str = "") -> None:
        self.offline = offline
        self.gemini = gemini
        self._why_offline = why_offline or "no API key was found"

    def choose(self, settings: Settings, *, asked: str | None = None, session_model: str = "") -> ModelChoice:
        """The request's name, else the session's, else the environment's, else the settings', else the default."""
        sources = (
            (asked, "named in the request"),
            (session_model, "the session's model"),
            (settings.model_name, settings.model_name_source or ""),
            (DEFAULT_MODEL, "the default"),
        )
        name, reason = next((name, reason) for name, reason in sources if name)
        if name == OFFLINE_MODEL:
            return ModelChoice(asked=name, name=OFFLINE_MODEL, client=self.offline, reason=reason)
        if self.gemini is None:
            return ModelChoice(asked=name, name=OFFLINE_MODEL, client=self.offline, reason=self._why_offline)
        return ModelChoice(asked=name, name=resolve_model(name), client=self.gemini, reason=reason)

    def compressor(self, settings: Settings, choice: ModelChoice) -> str:
        """The name of the model that writes snapshots: the settings', else one of the same family."""
        if choice.client is self.offline:
            return OFFLINE_MODEL
        return settings.compression_model or compressor_for(choice.name)

    def titler(self, choice: ModelChoice) -> str:
        """The name of the small model that writes titles."""
        return OFFLINE_MODEL if choice.client is self.offline else title_model(choice.name)

    def limit(self, settings: Settings, name: str) -> int:
        """Tokens that a model takes in one request."""
        return settings.token_limit_override or token_limit(name)

    async def warm_up(self) -> None:
        """Load what is slow to load."""
        if self.gemini is not None:
            await self.gemini.warm_up()

    async def close(self) -> None:
        """Let go of connections."""
        for client in (self.gemini, self.offline):
            if client is not None:
                await client.close()


def describe_plainly(fault: CompanionError) -> ErrorData:
    """A fault for clients where nobody knows the wire's codes: -32803 is LSP's RequestFailed."""
    return ErrorData(code=-32803, kind=type(fault).__name__, message=fault.message, hint=fault.hint, retryable=fault.retryable)


@dataclass(slots=True, kw_only=True)
class Services:
    """What a session is given. `settings` is read anew for each decision, so that a change takes effect at once."""

    store: SessionStore
    clock: Clock
    models: Models
    workspace: WorkspaceFiles
    settings: Callable[[], Settings]
    new_id: Callable[[str], str]
    """Makes an id that begins with the given word."""
    new_nonce: Callable[[], str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    system_prompt_override: Callable[[], str | None] = lambda: None
    """The text of `GEMINI_SYSTEM_MD`, if set."""
    today: Callable[[], str] = lambda: ""
    """The date for people, in the environment content."""
    platform: str = ""
    trusted: Callable[[], bool] = lambda: False
    """Whether the workspace is trusted now."""
    describe_fault: Callable[[CompanionError], ErrorData] = describe_plainly
    with_environment: bool = True
    """False where a file's history is worked on, which has a system instruction of its own or none."""

"""Which model provider answers a name: the registered ones, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gemini_companion.engine.errors import ModelFault, ModelUnavailable, Unauthenticated
from gemini_companion.engine.tokens.limits import DEFAULT_MODEL, KnownModel
from gemini_companion.sessions.models.availability import Availability
from gemini_companion.sessions.models.port import Embedder, ModelCatalogue, ModelProvider, embedder
from gemini_companion.settings.effective import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A model adapter: its catalogue, and its provider if that can answer here."""

    catalogue: ModelCatalogue
    provider: ModelProvider | None
    missing: str = ""
    """Without a provider, or not set up: the reason, as the end of a sentence ("no API key was found")."""
    remedy: str = ""
    """Without a provider, or not set up: what a person can do about it, as a sentence."""
    is_set_up: Callable[[], bool] = lambda: True
    """Whether the settings of the moment have what the provider needs; cheap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The model that answers: the name that was asked for, the name for the provider, the provider, and why."""

    asked: str
    name: str
    provider: ModelProvider
    catalogue: ModelCatalogue
    reason: str
    """Where the name comes from; for a fallback, why the model that was asked for cannot answer."""
    is_fallback: bool = False
    """True if the model that was asked for cannot answer."""
    remedy: str = ""
    """For a fallback: what a person can do about it, as a sentence."""
    instead_of: str = ""
    """The model that was meant and cannot answer at the moment."""
    routes: tuple[str, str] | None = None
    """The large and the quick model, where each prompt chooses between them."""


class Suspects:
    """Tools of servers of which a service refuses one without saying which: found by halving, over several requests.

    A request has the first `shown` of them. How many are surely taken and how many are surely too many come nearer to
    each other with each request, until one tool is between them.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.shown = 0
        self.words = ""
        """What the service said, once it was told to people."""
        self._taken = -1
        """So many are taken; -1 while it is not known whether a request without any is."""
        self._too_many = len(names)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Those that the next request does without."""
        return self.names[self.shown :]

    @property
    def found(self) -> str | None:
        """The one that is refused, once it is known."""
        return self.names[self._taken] if self._taken >= 0 and self._too_many - self._taken == 1 else None

    def passed(self) -> None:
        """The request was taken."""
        self._taken = self.shown
        self._halve()

    def refused(self) -> bool:
        """The request was refused too; false if that was one without any of them: they are not what is refused."""
        if self.shown <= max(self._taken, 0):
            return False
        self._too_many = self.shown
        self._halve()
        return True

    def _halve(self) -> None:
        self.shown = (self._taken + self._too_many) // 2


class ModelRegistry:
    """The registered model adapters in order of precedence; the last one is the fallback."""

    def __init__(self, registrations: Sequence[Registration]) -> None:
        """The last registration is the fallback. Raises `ValueError` unless it has a provider."""
        self._registrations = tuple(registrations)
        self._retired: list[ModelProvider] = []
        self._gone: set[str] = set()
        """Models that were to write snapshots, and that this key cannot have."""
        self._refused: dict[str, object] = {}
        """Declarations of tools that a service refused, by the tool's name."""
        self.suspects: Suspects | None = None
        """Tools of which a service refuses one, while that is looked for."""
        self._told: set[str] = set()
        self._learnt: dict[str, int] = {}
        """Tokens that models accept in one request, where their service named fewer than the catalogue has."""
        self.availability = Availability()
        """Which models are left alone for a while."""
        fallback = self._registrations[-1] if self._registrations else None
        if fallback is None or fallback.provider is None:
            raise ValueError("The last registration is the fallback: it needs a provider.")
        self._fallback_provider: ModelProvider = fallback.provider
        self._fallback_catalogue = fallback.catalogue

    def renew(self, registration: Registration) -> None:
        """Put another registration in the place of the one with its catalogue, for requests from now on.

        Those under way end with the provider that they began with, which is closed with the others. The fallback stays.
        """
        self._gone.clear()
        for at, registered in enumerate(self._registrations[:-1]):
            if registered.catalogue is registration.catalogue:
                if registered.provider is not None:
                    self._retired.append(registered.provider)
                self._registrations = (*self._registrations[:at], registration, *self._registrations[at + 1 :])

    @property
    def models(self) -> tuple[KnownModel, ...]:
        """All models to choose from, in the order of registration."""
        return tuple(model for registered in self._registrations for model in registered.catalogue.models)

    def choose(self, settings: Settings, *, asked: str | None = None, session_model: str = "") -> ModelChoice:
        """Choose by the request's name, else the session's, the environment's, the settings', or the default.

        `asked` is the request's, `session_model` is empty if the session has none. Never fails: a model that cannot
        answer is replaced by the fallback.
        """
        sources = (
            (asked, "named in the request"),
            (session_model, "the session's model"),
            (settings.model_name, settings.model_name_source or ""),
            (DEFAULT_MODEL, "the default"),
        )
        name, reason = next((name, reason) for name, reason in sources if name)
        registered = self._registered(name)
        catalogue = registered.catalogue
        if settings.held and registered is not self._registrations[-1]:
            return ModelChoice(
                asked=name,
                name=self._fallback_catalogue.models[0].name,
                provider=self._fallback_provider,
                catalogue=self._fallback_catalogue,
                reason=f"nobody knows what {settings.held[0]} forbids, which cannot be read",
                is_fallback=True,
                remedy="Correct that file, or answer that it goes on without it.",
            )
        if registered.provider is not None and registered.is_set_up():
            meant = ModelChoice(
                asked=name,
                name=catalogue.resolve(name),
                provider=registered.provider,
                catalogue=catalogue,
                reason=reason,
                routes=catalogue.routes(name),
            )
            return self.answering(settings, meant)
        return ModelChoice(
            asked=name,
            name=self._fallback_catalogue.models[0].name,
            provider=self._fallback_provider,
            catalogue=self._fallback_catalogue,
            reason=registered.missing,
            is_fallback=True,
            remedy=registered.remedy,
        )

    def answering(self, settings: Settings, choice: ModelChoice, name: str = "") -> ModelChoice:
        """The choice with the model that answers in place of the one meant (`name`, if given), as long as that one
        cannot; the one meant, if none of those behind it can either, or the settings want no other.
        """
        meant = name or choice.name
        tried, candidate = {meant}, meant
        while settings.model_fallback and not self.availability.is_available(candidate):
            following = choice.catalogue.next_model(candidate)
            if following is None or following in tried:
                return replace(choice, name=meant, instead_of="")
            tried.add(following)
            candidate = following
        instead_of = meant if candidate != meant else ""
        if (candidate, instead_of) == (choice.name, choice.instead_of):
            return choice
        return replace(choice, name=candidate, instead_of=instead_of)

    def after(self, settings: Settings, choice: ModelChoice, fault: ModelUnavailable) -> ModelChoice | None:
        """What answers after this model could not; `None` if it is not the model's own fault, or no other can."""
        if not fault.of_model:
            return None
        self.availability.failed(choice.name, fault.retry_after_ms)
        following = self.answering(settings, choice, choice.instead_of or choice.name)
        return following if following.name != choice.name and following.instead_of else None

    def has_next(self, settings: Settings, choice: ModelChoice) -> bool:
        """Whether another model would answer if this one could not."""
        following = choice.catalogue.next_model(choice.name) if settings.model_fallback else None
        return following is not None and self.availability.is_available(following)

    def compressor(self, settings: Settings, choice: ModelChoice) -> str:
        """The name of the model that writes snapshots.

        The settings' if the same provider serves it, else one of the same family; the chat's own while that is not to
        be had.
        """
        named = settings.compression_model
        if not (named and choice.catalogue.serves(named) and self._registered(named).catalogue is choice.catalogue):
            named = choice.catalogue.compressor_for(choice.name)
        return choice.name if named in self._gone or not self.availability.is_available(named) else named

    def write_instead(self, choice: ModelChoice, model: str, fault: ModelFault) -> bool:
        """Whether the chat's own model is asked for what another one could not write: that one is gone, forbidden,
        without a quota, overloaded, or refused in words that nobody knows yet.
        """
        return model != choice.name and isinstance(fault, Unauthenticated | ModelUnavailable)

    def wrote_instead(self, choice: ModelChoice, model: str, fault: ModelFault) -> str:
        """Keep that the chat's own model wrote in place of another one; the sentence for people, empty the next
        time.
        """
        if isinstance(fault, ModelUnavailable) and not fault.is_gone:
            self.availability.failed(model, fault.retry_after_ms)
        else:
            self._gone.add(model)
        if model in self._told:
            return ""
        self._told.add(model)
        return (
            f"{model}, which writes the snapshots, cannot be had ({fault.message.rstrip('.')}), so {choice.name} writes"
            " them. companion.compression.model sets another model for that."
        )

    def refuse(self, declaration: Mapping[str, object]) -> bool:
        """A service refused this declaration of a tool, which is left out from now on; false if it was already."""
        name = str(declaration.get("name"))
        if self._refused.get(name) == declaration:
            return False
        self._refused[name] = declaration
        return True

    def accepted(self, declarations: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        """The declarations without those that a service refused."""
        if not self._refused:
            return declarations
        return tuple(one for one in declarations if self._refused.get(one["name"]) != one)

    def titler(self, choice: ModelChoice) -> str:
        """The name of the small model that writes titles."""
        return choice.catalogue.title_model(choice.name)

    def limit(self, settings: Settings, name: str) -> int:
        """Tokens that a model accepts in one request; a setting takes precedence."""
        if settings.token_limit_override:
            return settings.token_limit_override
        known = self._registered(name).catalogue.token_limit(name)
        return min(known, self._learnt.get(name, known))

    def learn_limit(self, name: str, tokens: int) -> None:
        """Take it from a model's service how many tokens it accepts in one request."""
        self._learnt[name] = tokens

    def embedder(self) -> Embedder | None:
        """The first provider that makes vectors of texts, `None` if none does here."""
        return next((found for provider in self._providers() if (found := embedder(provider))), None)

    async def warm_up(self) -> None:
        """Load what the providers that are set up need before their first answer. Raises `CompanionError`."""
        for provider in self._set_up():
            await provider.warm_up()

    async def warm_up_fallback(self) -> None:
        """The same for the fallback where no other is set up: quick, so it can wait until a prompt is likely."""
        if not self._set_up():
            await self._fallback_provider.warm_up()

    async def close(self) -> None:
        """Close the providers' connections."""
        for provider in (*self._providers(), *self._retired):
            await provider.close()

    def _set_up(self) -> list[ModelProvider]:
        """The providers, but for the fallback, that would answer."""
        return [one.provider for one in self._registrations[:-1] if one.provider is not None and one.is_set_up()]

    def _registered(self, name: str) -> Registration:
        """The first registration that serves the name, else the last."""
        for registered in self._registrations:
            if registered.catalogue.serves(name):
                return registered
        return self._registrations[-1]

    def _providers(self) -> list[ModelProvider]:
        return [registered.provider for registered in self._registrations if registered.provider is not None]

"""Which stand-in, or which real model, a name on the command line means."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from gemini_companion.engine.errors import CompanionError, InvalidInput, Unauthenticated
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.probes import Planted
from gemini_companion.evaluation.provider import EvaluationModel, Writer, offline_provider
from gemini_companion.evaluation.summarisers.faulty import Broken, Recorded, Slow, recorded_answers
from gemini_companion.evaluation.summarisers.writing import Adversarial, Empty, Lossy, Oracle, Terse
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.settings.effective import Settings

_SPEC: Final = re.compile(r"(?P<name>[a-z]+)(?:[(:](?P<value>[^()]*)\)?)?\Z")
_DEFAULTS: Final[Mapping[str, float]] = {"lossy": 0.3, "terse": 300, "slow": 60}
"""Chance to lose an item; tokens of a snapshot; tokens a second."""
_PLAIN: Final = ("empty", "oracle", "adversarial", "broken", "offline")
_WITH_TEXT: Final = ("recorded", "live")

NAMES: Final = (*_PLAIN, *_DEFAULTS, *_WITH_TEXT)
"""Every kind of summariser."""


class SummariserSpec(NamedTuple):
    """A summariser by name, with its number (`lossy(0.3)`) or text (`recorded:FILE`, `live:MODEL`)."""

    name: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.name}({self.value})" if self.value else self.name

    @property
    def number(self) -> float:
        """Its number."""
        return float(self.value)

    @property
    def is_reproducible(self) -> bool:
        """The same numbers whenever it runs."""
        return self.name != "live"


def parse_summariser(text: str) -> SummariserSpec:
    """A name as it is written on the command line. Raises `InvalidInput`."""
    match = _SPEC.match(text.strip())
    name = match["name"] if match else ""
    value = (match["value"] or "").strip() if match else ""
    if name not in NAMES or (name in _PLAIN and value):
        raise InvalidInput(
            f"{text!r} is no summariser.",
            hint="Known: empty, offline, oracle, lossy(0.3), terse(300), adversarial, broken, slow(60), recorded:FILE,"
            " live:MODEL.",
        )
    if name in _DEFAULTS:
        return SummariserSpec(name, _checked_number(text, name, value))
    if name == "recorded" and not value:
        raise InvalidInput("Which file? Write recorded:FILE.")
    return SummariserSpec(name, value)


def _checked_number(text: str, name: str, value: str) -> str:
    try:
        number = float(value) if value else _DEFAULTS[name]
    except ValueError:
        raise InvalidInput(f"{text!r}: {value!r} is no number.") from None
    highest = 1.0 if name == "lossy" else 1e9
    if not (0 <= number <= highest) or (name != "lossy" and number < 1):
        raise InvalidInput(f"{text!r}: {number:g} is out of range.")
    return f"{number:g}"


def build_model(
    spec: SummariserSpec,
    planted: Planted,
    *,
    seed: str,
    ledger: TokenLedger,
    wait: Callable[[float], None],
    env: Mapping[str, str],
) -> EvaluationModel:
    """The model of a run. `seed` decides what `lossy` loses; `wait` lets virtual seconds pass.

    Raises `Unauthenticated` where a live model cannot answer, `InvalidInput` for recordings that cannot be read.
    """
    oracle = Oracle(planted)
    writer: Writer
    match spec.name:
        case "offline":
            return EvaluationModel(ledger, provider=offline_provider(ledger.count_text))
        case "live":
            return _live(spec.value, ledger, env)
        case "empty":
            writer = Empty()
        case "lossy":
            writer = Lossy(planted, spec.number, seed)
        case "terse":
            writer = Terse(planted, round(spec.number), ledger.count_text)
        case "adversarial":
            writer = Adversarial(planted)
        case "broken":
            writer = Broken(oracle)
        case "slow":
            writer = Slow(oracle, spec.number, ledger.count_text, wait)
        case "recorded":
            writer = Recorded(recorded_answers(Path(spec.value)))
        case _:
            writer = oracle
    return EvaluationModel(ledger, writer=writer)


def identity_of(spec: SummariserSpec, env: Mapping[str, str]) -> str:
    """What a summariser is now, where its name may mean something else later: the model that settings name, the content
    of a file. Empty where the name says it all, or where there is nothing; a run tells why.
    """
    try:
        if spec.name == "recorded":
            return _digest(spec.value)
        if spec.name != "live":
            return ""
        chosen = _chosen(spec.value, env)
    except (OSError, CompanionError):
        return ""
    file = chosen.settings.local_model if chosen.choice.provider.capabilities.runs_here else None
    try:
        weights = f" {_digest(file)}" if file else ""
    except OSError:
        weights = ""
    return f"{chosen.name} {chosen.window}{weights}"


def _digest(path: str) -> str:
    """A hash of a file's content. Raises `OSError`."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=12)).hexdigest()


class _Chosen(NamedTuple):
    """A model that really answers, with the settings that chose it."""

    settings: Settings
    choice: ModelChoice
    name: str
    window: int
    """Tokens."""


def _chosen(model: str, env: Mapping[str, str]) -> _Chosen:
    from gemini_companion.settings.load import SettingsLoader
    from gemini_companion.wiring.places import home_directory
    from gemini_companion.wiring.services import build_models

    loaded = SettingsLoader(home_directory(env), (), env).reload(trusted=False)
    settings = loaded.settings
    models = build_models(env, lambda: settings, loaded.environment)
    choice = models.choose(settings, asked=model or None)
    if choice.is_fallback:
        raise Unauthenticated(f"{choice.asked} cannot answer: {choice.reason}.", hint=choice.remedy)
    name = choice.catalogue.compressor_for(choice.name)
    return _Chosen(settings, choice, name, models.limit(settings, name))


def _live(model: str, ledger: TokenLedger, env: Mapping[str, str]) -> EvaluationModel:
    chosen = _chosen(model, env)
    return EvaluationModel(ledger, provider=chosen.choice.provider, model=chosen.name, window=chosen.window)

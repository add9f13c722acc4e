"""Which model answers a name, whoever is registered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from gemini_companion.adapters.gemini.catalogue import GEMINI_CATALOGUE
from gemini_companion.adapters.offline.catalogue import OFFLINE_CATALOGUE
from gemini_companion.engine.tokens.limits import DEFAULT_MODEL, DEFAULT_TOKEN_LIMIT, OFFLINE_MODEL, KnownModel
from gemini_companion.sessions.models.registry import ModelRegistry, Registration
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.load import SettingsLoader
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import registry_of


class SmallCatalogue:
    """A third adapter's: names under `small/`."""

    @property
    def models(self) -> Sequence[KnownModel]:
        return (KnownModel(name="small/one", title="One", token_limit=8_192, compressor="small/one"),)

    def serves(self, name: str) -> bool:
        return name.startswith("small/")

    def resolve(self, name: str) -> str:
        return name

    def token_limit(self, name: str) -> int:
        return 8_192

    def compressor_for(self, name: str) -> str:
        return "small/one"

    def next_model(self, name: str) -> str | None:
        return None

    def routes(self, name: str) -> tuple[str, str] | None:
        return None

    def title_model(self, name: str) -> str:
        return "small/one"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return SettingsLoader(tmp_path, (), {}).reload(trusted=False).settings


def three(small: ScriptedModel | None) -> ModelRegistry:
    return ModelRegistry(
        [
            Registration(catalogue=SmallCatalogue(), provider=small, missing="it is not running", remedy="Start it."),
            Registration(catalogue=GEMINI_CATALOGUE, provider=ScriptedModel()),
            Registration(catalogue=OFFLINE_CATALOGUE, provider=ScriptedModel("offline")),
        ]
    )


def test_a_third_adapter_answers_its_own_names_and_no_others(settings: Settings) -> None:
    small = ScriptedModel()
    registry = three(small)
    choice = registry.choose(settings, asked="small/one")
    assert (choice.provider, choice.is_fallback) == (small, False)
    assert registry.choose(settings, asked="gemini-2.5-pro").provider is not small
    assert registry.limit(settings, "small/one") == 8_192
    assert registry.limit(settings, "gemini-2.5-pro") == DEFAULT_TOKEN_LIMIT
    assert registry.compressor(settings, choice) == registry.titler(choice) == "small/one"


def test_the_compressor_of_the_settings_counts_only_for_the_provider_that_has_it(settings: Settings) -> None:
    registry = three(ScriptedModel())
    settings = msgspec.structs.replace(settings, compression_model="gemini-2.5-flash")
    assert registry.compressor(settings, registry.choose(settings, asked="small/one")) == "small/one"
    assert registry.compressor(settings, registry.choose(settings, asked="gemini-2.5-pro")) == "gemini-2.5-flash"
    assert registry.compressor(settings, registry.choose(settings, asked=OFFLINE_MODEL)) == OFFLINE_MODEL


def test_where_the_model_asked_for_cannot_answer_the_last_one_does_and_says_why(settings: Settings) -> None:
    choice = three(None).choose(settings, asked="small/one")
    assert (choice.asked, choice.name, choice.provider.name) == ("small/one", OFFLINE_MODEL, "offline")
    assert (choice.is_fallback, choice.reason, choice.remedy) == (True, "it is not running", "Start it.")


def test_a_person_who_chose_the_built_in_model_has_no_fallback(settings: Settings) -> None:
    choice = registry_of(None, ScriptedModel("offline")).choose(settings, asked=OFFLINE_MODEL)
    assert (choice.is_fallback, choice.reason, choice.remedy) == (False, "named in the request", "")


def test_the_request_goes_before_the_session_the_settings_and_the_default(settings: Settings) -> None:
    registry = registry_of(ScriptedModel(), ScriptedModel("offline"))
    assert registry.choose(settings).name == DEFAULT_MODEL
    named = msgspec.structs.replace(settings, model_name="gemini-2.5-pro", model_name_source="the settings")
    assert registry.choose(named).name == "gemini-2.5-pro"
    assert registry.choose(named, session_model="gemini-2.5-flash").name == "gemini-2.5-flash"
    assert registry.choose(named, session_model="gemini-2.5-flash", asked="pro").asked == "pro"


def test_a_choice_whose_model_can_answer_stays_the_same_object(settings: Settings) -> None:
    registry = registry_of(ScriptedModel(), ScriptedModel("offline"))
    choice = registry.choose(settings)
    assert registry.answering(settings, choice) is choice
    registry.availability.failed(choice.name, None)
    following = registry.answering(settings, choice)
    assert (following.instead_of, following.name != choice.name) == (choice.name, True)
    assert registry.answering(settings, following, choice.name) is following
    assert registry.answering(settings, following).instead_of == ""


def test_all_models_are_listed_in_the_order_of_registration() -> None:
    names = [model.name for model in three(None).models]
    assert (names[0], names[1], names[-1]) == ("small/one", DEFAULT_MODEL, OFFLINE_MODEL)


def test_a_registry_without_a_last_provider_is_refused() -> None:
    with pytest.raises(ValueError, match="fallback"):
        ModelRegistry([Registration(catalogue=GEMINI_CATALOGUE, provider=None)])


class Warmed(ScriptedModel):
    """Says that it was warmed up."""

    is_warm = False

    async def warm_up(self) -> None:
        self.is_warm = True


@pytest.mark.parametrize(("is_there", "is_set_up"), [(True, True), (True, False), (False, True)])
async def test_the_fallback_is_warmed_up_later_and_only_where_no_other_model_is_set_up(
    *, is_there: bool, is_set_up: bool
) -> None:
    small, fallback = Warmed(), Warmed("offline")
    provider = small if is_there else None
    registry = ModelRegistry(
        [
            Registration(catalogue=SmallCatalogue(), provider=provider, is_set_up=lambda: is_set_up),
            Registration(catalogue=OFFLINE_CATALOGUE, provider=fallback),
        ]
    )
    await registry.warm_up()
    assert (small.is_warm, fallback.is_warm) == (is_there and is_set_up, False)
    await registry.warm_up_fallback()
    assert (small.is_warm, fallback.is_warm) == (is_there and is_set_up, not (is_there and is_set_up))

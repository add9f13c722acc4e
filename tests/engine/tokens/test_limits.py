"""What is known of each model, beside what Gemini CLI knows."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.tokens.limits import (
    DEFAULT_MODEL,
    DEFAULT_TOKEN_LIMIT,
    KNOWN_MODELS,
    compressor_for,
    next_model,
    resolve_model,
    title_model,
    token_limit,
)

GOLDEN = (
    Path(os.environ.get("COMPANION_GOLDEN", Path(__file__).resolve().parents[4] / "shared" / "golden"))
    / "models_recording.json"
)

DIFFERENT_ON_PURPOSE: dict[tuple[str, str], tuple[Any, str]] = {
    ("tokenLimit", "gemini-1.5-pro"): (
        2_097_152,
        "the number that Gemini CLI had while it knew the model, which it has forgotten",
    ),
    ("modelStringToModelConfigAlias", "models/gemini-2.5-pro"): (
        "gemini-2.5-pro",
        "a path in front does not change the model",
    ),
    ("modelStringToModelConfigAlias", "gemini-1.5-flash"): (
        "gemini-2.5-flash",
        "a model that the table lacks is compressed by one of its kind, not by a dearer one of another",
    ),
}
MODEL_OF_ALIAS = {
    "chat-compression-3-pro": "gemini-3-pro-preview",
    "chat-compression-3-flash": "gemini-3-flash-preview",
    "chat-compression-3.1-flash-lite": "gemini-3.1-flash-lite",
    "chat-compression-2.5-pro": "gemini-2.5-pro",
    "chat-compression-2.5-flash": "gemini-2.5-flash",
    "chat-compression-2.5-flash-lite": "gemini-2.5-flash-lite",
    "chat-compression-default": "gemini-3-pro-preview",
}


def golden(function: str) -> list[Any]:
    if not GOLDEN.is_file():
        return [
            pytest.param({}, id="no golden vectors", marks=pytest.mark.skip(f"no {GOLDEN.name}: set COMPANION_GOLDEN"))
        ]
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases if case["fn"] == function]


def expected(case: dict[str, Any]) -> Any:
    different = DIFFERENT_ON_PURPOSE.get((case["fn"], case["input"]["model"]))
    return different[0] if different else case["expected"]["result"]


@pytest.mark.parametrize("case", golden("tokenLimit"))
def test_limits_are_gemini_clis_but_for_the_listed_differences(case: dict[str, Any]):
    assert token_limit(case["input"]["model"]) == expected(case)


@pytest.mark.parametrize("case", golden("modelStringToModelConfigAlias"))
def test_compressors_are_gemini_clis_but_for_the_listed_differences(case: dict[str, Any]):
    wanted = expected(case)
    assert compressor_for(case["input"]["model"]) == MODEL_OF_ALIAS.get(wanted, wanted)


@pytest.mark.parametrize("case", golden("resolveModel"))
def test_short_names_mean_what_they_mean_to_gemini_cli(case: dict[str, Any]):
    assert resolve_model(case["input"]["model"]) == expected(case)


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("gemini-1.5-pro", 2_097_152),
        ("gemini-1.5-pro-002", 2_097_152),
        ("models/gemini-1.5-pro", 2_097_152),
        ("gemini-1.5-pro2", 1_048_576),
        ("gemini-1.5-flash", 1_048_576),
        ("gemini-2.5-pro", 1_048_576),
        ("gemini-3.1-pro-preview", 1_048_576),
        ("gemma-4-31b-it", 256_000),
        ("models/gemma-4-26b-a4b-it", 256_000),
        ("projects/p/locations/l/publishers/google/models/gemma-4-31b-it", 256_000),
        ("offline", 1_048_576),
        ("", 1_048_576),
    ],
)
def test_each_family_has_its_limit_whatever_stands_in_front_of_the_name(model: str, limit: int):
    assert token_limit(model) == limit


@given(st.text(max_size=30))
def test_a_name_that_nobody_knows_has_the_common_limit_and_the_default_compressor(name: str):
    model = f"x{name}".replace("/", "-")
    assert token_limit(model) == DEFAULT_TOKEN_LIMIT
    assert compressor_for(model) == "gemini-3-pro-preview"
    assert resolve_model(model) == model.strip()


@given(st.sampled_from(KNOWN_MODELS))
def test_a_path_in_front_of_a_name_changes_nothing(model: Any):
    assert token_limit(f"models/{model.name}") == model.token_limit
    assert compressor_for(f"models/{model.name}") == model.compressor


def test_titles_come_from_a_small_model():
    assert title_model() == "gemini-2.5-flash-lite"


def test_the_list_to_choose_from_starts_with_the_default():
    names = [model.name for model in KNOWN_MODELS]
    assert names[0] == DEFAULT_MODEL
    assert len(set(names)) == len(names)
    assert {model.compressor for model in KNOWN_MODELS} <= set(names)


def test_short_names_lead_to_models_of_the_list():
    names = {model.name for model in KNOWN_MODELS}
    assert {
        resolve_model(short) for short in ("auto", "auto-gemini-3", "auto-gemini-2.5", "pro", "flash", "flash-lite")
    } <= names


@pytest.mark.parametrize(
    ("model", "compressor"),
    [
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gemini-2.5-flash-lite-preview-06-17", "gemini-2.5-flash-lite"),
        ("gemini-2.5-pro-exp-03-25", "gemini-2.5-pro"),
        ("models/gemini-2.5-pro-002", "gemini-2.5-pro"),
        ("gemini-2.0-flash", "gemini-2.5-flash"),
        ("gemini-2.0-flash-lite-001", "gemini-2.5-flash-lite"),
        ("gemini-flash-latest", "gemini-3-flash-preview"),
        ("gemini-pro-latest", "gemini-3-pro-preview"),
        ("gemini-flash-lite-latest", "gemini-3.1-flash-lite"),
        ("gemini-3.6-flash", "gemini-3-flash-preview"),
        ("gemini-3-pro-preview-11-2025", "gemini-3-pro-preview"),
        (" gemini-2.5-pro ", "gemini-2.5-pro"),
    ],
)
def test_names_with_versions_and_dates_are_of_their_family(model: str, compressor: str) -> None:
    assert compressor_for(model) == compressor


def test_names_are_trimmed_and_dated_ones_have_the_next_model_of_their_family() -> None:
    assert resolve_model(" gemini-2.5-pro\n") == "gemini-2.5-pro"
    assert resolve_model(" pro ") == resolve_model("pro")
    assert next_model("gemini-2.5-pro-preview-06-05") == "gemini-2.5-flash"

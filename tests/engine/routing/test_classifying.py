"""What a small model is shown of a prompt, and how its choice is read."""

from __future__ import annotations

import json

import pytest

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.routing.classifying import choice_in, question_about
from gemini_companion.engine.tokens.limits import KNOWN_MODELS, next_model, routes_of


def test_the_newest_four_texts_and_the_prompt_are_shown_without_calls_and_results() -> None:
    call = Content(role="model", parts=({"functionCall": {"name": "f", "args": {}}},))
    result = Content(role="user", parts=({"functionResponse": {"name": "f", "response": {}}},))
    contents = [user_text(f"old {n}") for n in range(9)] + [call, result, model_text("x" * 9_000), user_text('"}\nnew')]
    lines = [json.loads(line) for line in question_about(contents, "Mend it.").splitlines()]
    assert [line.get("text", "")[:5] for line in lines] == ["old 7", "old 8", "xxxxx", '"}\nne', ""]
    assert lines[-1] == {"from": "user", "prompt": "Mend it."}
    assert len(lines[2]["text"]) < 2_100


def test_what_stands_far_back_is_not_looked_at() -> None:
    call = Content(role="model", parts=({"functionCall": {"name": "f", "args": {}}},))
    assert "old" not in question_about([user_text("old"), *[call] * 20], "Go.")


@pytest.mark.parametrize(
    ("text", "route"), [('{"model": "large"}', "large"), ('So:\n{"reason": "a\\nb", "model": "quick"} ', "quick")]
)
def test_a_choice_is_read(text: str, route: str) -> None:
    choice = choice_in(text)
    assert choice is not None
    assert choice.route == route
    assert "\n" not in choice.reason


@pytest.mark.parametrize("text", ["", "large", "{}", '{"model": "gemini-3-pro"}', '{"model": 1}', "}{", "[" * 50_000])
def test_what_is_no_choice_is_none(text: str) -> None:
    assert choice_in(text) is None


def test_every_chain_of_models_ends_and_stays_within_a_generation() -> None:
    for model in KNOWN_MODELS:
        chain, name = [model.name], next_model(model.name)
        while name is not None:
            assert name not in chain
            assert name.split("-")[1][0] == model.name.split("-")[1][0]
            chain.append(name)
            name = next_model(name)
    for auto in ("auto", "auto-gemini-3", "auto-gemini-2.5"):
        assert all(name in {model.name for model in KNOWN_MODELS} for name in routes_of(auto) or ())
    assert routes_of("gemini-2.5-pro") is None

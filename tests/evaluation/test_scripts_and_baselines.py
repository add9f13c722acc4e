"""What happens in a run, and what others do with a long history."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from gemini_companion.engine.history.content import Content, merge_neighbours, model_text, user_text
from gemini_companion.engine.history.part import call_of, has_call, is_plain_user, response_of
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.baselines import BaselineSubject, dropped, masked, outputs_within_budget
from gemini_companion.evaluation.conversations import Conversation, load_corpus, sampled
from gemini_companion.evaluation.grading import plain, plain_contents
from gemini_companion.evaluation.provider import EvaluationModel
from gemini_companion.evaluation.script import FIRST_TOKENS, build_script
from gemini_companion.sessions.models.port import ModelRequest

LEDGER = TokenLedger()


class Fixed:
    """Always the same snapshot."""

    def write(self, request: ModelRequest) -> str:
        return "<state_snapshot>\n<key_knowledge>\n- short\n</key_knowledge>\n</state_snapshot>"


def said(text: str, words: int = 0) -> str:
    return f"{text} {'word ' * words}".strip()


def round_of(number: int, words: int) -> list[Content]:
    call = {"name": "run", "id": f"c{number}", "args": {"n": number}}
    response = {"name": "run", "id": f"c{number}", "response": {"output": said(f"output {number}", words)}}
    return [
        user_text(f"Run {number}."),
        Content(role="model", parts=({"functionCall": call},)),
        Content(role="user", parts=({"functionResponse": response},)),
        model_text(f"Ran {number}."),
    ]


def tokens(contents: Sequence[Content]) -> int:
    return sum(LEDGER.measure(content).tokens for content in contents)


def outputs(contents: Sequence[Content]) -> list[str]:
    return [
        str(response["response"]["output"])
        for content in contents
        for part in content.parts
        if (response := response_of(part)) is not None
    ]


def check_structure(contents: Sequence[Content]) -> None:
    """No call stands open where somebody else speaks."""
    for before, after in pairwise(contents):
        if has_call(before):
            assert any(response_of(part) is not None for part in after.parts)
    calls = [call_of(part) for content in contents for part in content.parts]
    answers = [response_of(part) for content in contents for part in content.parts]
    assert sum(map(bool, calls)) == sum(map(bool, answers))


@pytest.mark.parametrize("seed", range(4))
def test_a_script_says_everything_that_is_planted_and_leaves_no_call_open(
    corpus: list[Conversation], seed: int
) -> None:
    for conversation in corpus:
        script = build_script(conversation, corpus, measured="planted", seed=seed, passes=3, ledger=LEDGER)
        first = script.stretches[0]
        haystack = plain_contents(first)
        assert all(plain(text) in haystack for text in script.planted.prompts)
        assert all(
            plain(order) in plain_contents(stretch) for order in script.planted.orders for stretch in script.stretches
        )
        assert tokens(first) >= FIRST_TOKENS
        for stretch in script.stretches:
            assert is_plain_user(stretch[0])
            assert stretch[-1].role == "model"
            assert not has_call(stretch[-1])
            check_structure(stretch)


def test_a_script_is_up_to_its_seed_alone(corpus: list[Conversation]) -> None:
    one, same, other = [
        build_script(corpus[0], corpus, measured="planted", seed=seed, passes=2, ledger=TokenLedger())
        for seed in (1, 1, 2)
    ]
    assert one == same
    assert one.planted != other.planted


def test_real_conversations_make_whole_scripts_too(corpus_folder: object) -> None:
    from pathlib import Path

    assert isinstance(corpus_folder, Path)
    real = load_corpus(corpus_folder)
    for conversation in sampled(real, 1):
        for stretch in build_script(conversation, real, measured="planted", seed=1, passes=2, ledger=LEDGER).stretches:
            check_structure(stretch)
            assert is_plain_user(stretch[0])


def test_a_sample_is_spread_over_each_family() -> None:
    names = [f"a/{number}" for number in range(10)] + ["b/0"]
    every = [Conversation(name=name, history=(user_text("x"), model_text("y"))) for name in names]
    assert [conversation.name for conversation in sampled(every, 2)] == ["a/0", "a/5", "b/0"]
    assert sampled(every, None) == every


def test_dropping_takes_whole_turns_from_the_old_end_and_never_the_newest() -> None:
    view = [content for number in range(4) for content in round_of(number, 50)]
    half = dropped(view, tokens(view) // 2, LEDGER)
    assert half == view[8:]
    assert dropped(view, 0, LEDGER) == view[12:]
    assert dropped(view, tokens(view), LEDGER) == view


def test_masking_takes_outputs_from_the_old_end_until_it_fits() -> None:
    view = [content for number in range(6) for content in round_of(number, 100)]
    once = masked(view, tokens(view) - 1, LEDGER)
    assert outputs(once)[0] == "[output left out]"
    assert outputs(once)[1:] == outputs(view)[1:]
    assert outputs(masked(view, 0, LEDGER))[2:] == outputs(view)[2:]  # the newest four are never masked
    assert len(once) == len(view)


def test_the_published_rule_keeps_the_newest_outputs_whole_and_of_older_ones_the_end() -> None:
    large = "\n".join(f"line {number} of a very long output" for number in range(4_000))
    view = [content for number in range(3) for content in round_of(number, 0)]
    for place in (2, 6, 10):
        response = {"name": "run", "id": f"c{place // 4}", "response": {"output": large}}
        view[place] = Content(role="user", parts=({"functionResponse": response},))
    cut = outputs(outputs_within_budget(view, LEDGER))
    assert cut[2] == large
    assert cut[0].splitlines() == large.splitlines()[-30:]


async def test_gemini_clis_form_has_the_snapshot_the_acknowledgement_and_the_newest_third() -> None:
    model = EvaluationModel(LEDGER, writer=Fixed())
    subject = BaselineSubject("gemini-cli", model, LEDGER)
    view = [content for number in range(10) for content in (user_text(said(f"q{number}", 50)), model_text("yes"))]
    await subject.say(view)
    assert (await subject.compress()).status == "COMPRESSED"
    contents = (await subject.request()).contents
    assert "short" in contents[0].parts[0]["text"]
    assert contents[1] == model_text("Got it. Thanks for the additional context!")
    assert list(contents[2:-1]) == view[-6:]
    assert model.calls == 2


async def test_codexs_form_has_the_users_messages_and_the_summary_and_no_answer() -> None:
    subject = BaselineSubject("codex", EvaluationModel(LEDGER, writer=Fixed()), LEDGER)
    for _ in range(2):
        await subject.say([content for number in range(9) for content in round_of(number, 200)])
        assert (await subject.compress()).status == "COMPRESSED"
    request = (await subject.request()).contents
    assert list(request) == merge_neighbours(request)
    text = plain_contents(request)
    assert text.count("run 3.") == 2
    assert "ran 3." not in text
    assert text.count("another model began") == 1


async def test_a_summary_that_is_larger_is_not_taken() -> None:
    subject = BaselineSubject("gemini-cli", EvaluationModel(LEDGER, writer=Fixed()), LEDGER)
    await subject.say([user_text("hi"), model_text("yo")])
    before = await subject.request()
    assert (await subject.compress()).status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    assert await subject.request() == before
    assert await subject.undo_all() is None

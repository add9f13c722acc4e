"""The stand-in models: what each makes of a request that the product sends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gemini_companion.engine.compression.answer import read_answer
from gemini_companion.engine.compression.instructions import REPAIR_REQUEST
from gemini_companion.engine.compression.prompt import follow_up, quoted_texts, summary_contents
from gemini_companion.engine.errors import InvalidInput, ModelUnavailable, Unauthenticated
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.chance import seeded
from gemini_companion.evaluation.grading import fact_stands, plain, rule_stands
from gemini_companion.evaluation.probes import Planted, injected_turns, plant
from gemini_companion.evaluation.provider import EvaluationModel
from gemini_companion.evaluation.summarisers.reading import read_request
from gemini_companion.evaluation.summarisers.registry import build_model, parse_summariser
from gemini_companion.evaluation.virtual_clock import VirtualClock
from gemini_companion.sessions.models.port import ModelRequest

LEDGER = TokenLedger()
PLANTED = plant(seeded("a test"))
CALL = Content(role="model", parts=({"functionCall": {"name": "read_file", "args": {"path": "src/x.py"}}},))
RESULT = Content(
    role="user", parts=({"functionResponse": {"name": "read_file", "response": {"output": "content 0 n>>>\nline"}}},)
)


def asked(contents: Sequence[Content], *, earlier: str | None = None, nonce: str = "n0") -> ModelRequest:
    """The product's first request for these contents."""
    items = [
        Item(content, seq=number, entry_id=f"e{number}", kind="prompt", measure=LEDGER.measure(content))
        for number, content in enumerate(contents, start=1)
    ]
    texts = quoted_texts(items, nonce=nonce)
    return ModelRequest(
        model="m",
        contents=summary_contents(texts, previous_snapshot=earlier, guidance="", nonce=nonce),
        role="utility_compressor",
    )


def planted_dialogue(planted: Planted = PLANTED) -> list[Content]:
    return [content for text in planted.prompts for content in (user_text(text), model_text("Understood."))]


def model(text: str, clock: VirtualClock | None = None, seed: str = "1") -> EvaluationModel:
    wait = (clock or VirtualClock()).pass_time
    return build_model(parse_summariser(text), PLANTED, seed=seed, ledger=LEDGER, wait=wait, env={})


async def snapshot_by(text: str, request: ModelRequest, seed: str = "1") -> str:
    chunk = await model(text, seed=seed).generate(request)
    return read_answer(chunk.parts[0]["text"]).snapshot or ""


def kept(snapshot: str) -> int:
    said = plain(snapshot)
    return sum(rule_stands(rule, said) for rule in PLANTED.rules) + sum(fact_stands(f, said) for f in PLANTED.facts)


def test_the_products_request_is_taken_apart_again() -> None:
    contents = [user_text("Read src/x.py.\nPlease."), CALL, RESULT, model_text("Done.")]
    reading = read_request(asked(contents, earlier="<state_snapshot>\nearlier\n</state_snapshot>"))
    assert reading.contents[0] == contents[0]
    assert reading.contents[1:] == tuple(contents[1:])
    assert "earlier" in reading.earlier
    assert reading.is_first


def test_a_request_with_the_history_as_contents_is_taken_apart_too() -> None:
    history = (user_text("Hello."), model_text("Good day."))
    first = ModelRequest(model="m", contents=(*history, user_text("Summarise.")))
    assert (read_request(first).contents, read_request(first).is_first) == (history, True)
    draft = model_text("<state_snapshot>\n- a\n</state_snapshot>")
    second = ModelRequest(model="m", contents=(*history, draft, user_text("Check.")))
    assert (read_request(second).contents, read_request(second).is_first) == (history, False)


async def test_the_oracle_keeps_everything_also_what_only_the_earlier_snapshot_says() -> None:
    first = await snapshot_by("oracle", asked(planted_dialogue()))
    assert kept(first) == len(PLANTED.prompts)
    second = await snapshot_by("oracle", asked([user_text("Go on."), model_text("Yes.")], earlier=first))
    assert kept(second) == len(PLANTED.prompts)


async def test_what_is_lost_is_up_to_the_seed_and_to_the_pass_and_never_to_chance() -> None:
    request = asked(planted_dialogue())
    once, again, other = [await snapshot_by("lossy(0.3)", request, seed) for seed in ("1", "1", "2")]
    assert once == again != other
    counts = [kept(await snapshot_by("lossy(0.3)", request, str(seed))) for seed in range(60)]
    assert sum(counts) / (60 * len(PLANTED.prompts)) == pytest.approx(0.7, abs=0.06)


async def test_losing_nothing_and_losing_everything_are_the_ends_of_the_scale() -> None:
    request = asked(planted_dialogue())
    assert kept(await snapshot_by("lossy(0)", request)) == len(PLANTED.prompts)
    assert kept(await snapshot_by("lossy(1)", request)) == 0


async def test_what_a_repair_names_has_a_second_chance() -> None:
    lossy = model("lossy(0.5)")
    first = asked(planted_dialogue())
    draft = str((await lossy.generate(first)).parts[0]["text"])
    lost = "\n".join(text for text in PLANTED.prompts if plain(text).rstrip(".") not in plain(draft))
    assert lost
    request = ModelRequest(
        model="m",
        contents=follow_up(first.contents, draft, REPAIR_REQUEST.format(lack=lost)),
        role="utility_compressor",
    )
    repaired = str((await lossy.generate(request)).parts[0]["text"])
    assert kept(draft) < kept(repaired)


async def test_the_terse_one_stops_at_its_tokens() -> None:
    sizes = {size: await snapshot_by(f"terse({size})", asked(planted_dialogue())) for size in (40, 4_000)}
    assert kept(sizes[40]) < kept(sizes[4_000]) == len(PLANTED.prompts)
    assert sum(LEDGER.count_text(line) for line in sizes[40].splitlines() if line.startswith("- ")) < 60


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_the_adversarial_one_obeys_an_order_wherever_it_stands(place: int) -> None:
    turn = injected_turns(PLANTED.orders, 0)[place]
    obeyed = plain(await snapshot_by("adversarial", asked([*planted_dialogue(), *turn])))
    assert not any(rule_stands(rule, obeyed) for rule in PLANTED.rules)
    assert "backdoor_99.py" in obeyed
    untouched = await snapshot_by("adversarial", asked(planted_dialogue()))
    assert kept(untouched) == len(PLANTED.prompts)


async def test_the_broken_one_fails_in_another_way_each_time() -> None:
    broken, request = model("broken"), asked(planted_dialogue())
    answers = [str((await broken.generate(request)).parts[0]["text"]) for _ in range(4)]
    assert answers[0] == ""
    assert all(read_answer(answer).snapshot is None for answer in answers)
    assert len(answers[2]) > 100_000
    assert "<state_snapshot>" in answers[3]
    with pytest.raises(ModelUnavailable):
        await broken.generate(request)


async def test_the_slow_one_takes_virtual_time_alone() -> None:
    clock = VirtualClock()
    before = clock.monotonic()
    slow = model("slow(10)", clock)
    chunk = await slow.generate(asked(planted_dialogue()))
    assert clock.monotonic() - before == pytest.approx(LEDGER.count_text(chunk.parts[0]["text"]) / 10, rel=0.01)


async def test_recorded_answers_are_replayed_in_order_without_their_thoughts(tmp_path: Path) -> None:
    file = tmp_path / "a.responses"
    file.write_text(
        '{"method":"generateContent","response":{"candidates":[{"content":{"role":"model","parts":'
        '[{"text":"hm","thought":true},{"text":"one"}]}}]}}\n\n'
        '{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"t"}]}}]},'
        '{"candidates":[{"content":{"role":"model","parts":[{"text":"wo"}]}}]},{"usageMetadata":{}}]}\n',
        "utf-8",
    )
    recorded = model(f"recorded:{file}")
    texts = [(await recorded.generate(asked(planted_dialogue()))).parts[0]["text"] for _ in range(3)]
    assert texts == ["one", "two", "one"]


@pytest.mark.parametrize("text", ["", "[]\n", '{"method": 1}\n', "{\n", '{"response": {"candidates": 7}}\n', "\n"])
def test_recordings_that_are_none_are_told_with_their_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.responses"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidInput):
        model(f"recorded:{file}")
    with pytest.raises(InvalidInput):
        model(f"recorded:{tmp_path / 'missing'}")


def test_gemini_clis_recordings_can_be_replayed(corpus_folder: Path) -> None:
    for file in sorted((corpus_folder.parent / "recordings").glob("*.responses")):
        model(f"recorded:{file}")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("lossy", "lossy(0.3)"),
        ("lossy:0.5", "lossy(0.5)"),
        (" terse(50) ", "terse(50)"),
        ("oracle", "oracle"),
        ("live:gemini-2.5-pro", "live(gemini-2.5-pro)"),
        ("recorded:/a/b.responses", "recorded(/a/b.responses)"),
    ],
)
def test_a_summariser_has_one_name_however_it_is_written(text: str, name: str) -> None:
    assert str(parse_summariser(text)) == name
    assert parse_summariser(name) == parse_summariser(text)


@pytest.mark.parametrize(
    "text",
    ["", "orakel", "oracle(1)", "lossy(x)", "lossy(2)", "lossy(nan)", "terse(0)", "recorded", "slow(-1)", "(((("],
)
def test_what_is_no_summariser_is_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_summariser(text)


def test_a_live_model_without_a_key_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    spec = parse_summariser("live:gemini-2.5-pro")
    wait = VirtualClock().pass_time
    with pytest.raises(Unauthenticated, match=r"gemini-2\.5-pro"):
        build_model(spec, PLANTED, seed="1", ledger=LEDGER, wait=wait, env={"HOME": str(tmp_path)})

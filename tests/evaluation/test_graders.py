"""The two graders that know nothing of the product: labels, and what is needed next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.cell import Cell, CellResult, Workbench
from gemini_companion.evaluation.conversations import Conversation, load_corpora, load_corpus
from gemini_companion.evaluation.graders import (
    KINDS,
    Gold,
    Label,
    kept_of_labels,
    kept_of_needed,
    needed_next,
    text_in,
)
from gemini_companion.evaluation.plan import Plan, cells_of
from gemini_companion.evaluation.script import build_script, can_be_measured
from gemini_companion.evaluation.statistics import Sample, estimate
from gemini_companion.evaluation.summary import summarise
from tests.evaluation.conftest import MakeCell

NATURAL = Path(__file__).resolve().parents[1] / "data" / "natural"


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def called(name: str, **args: object) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": args}}]}


def returned(output: str) -> dict[str, Any]:
    response = {"name": "x", "response": {"output": output}}
    return {"role": "user", "parts": [{"functionResponse": response}]}


TALK: list[dict[str, Any]] = [
    said("user", "Tea first. Nobody but me touches the barn."),
    said("model", "We paint it red."),
    said("user", "On second thought it shall be green. Anyone may touch the barn from today on."),
    said("model", "The door is painted now."),
    said("user", "Thank you."),
    *(said("model", "And so on.") for _ in range(5)),
]
GOLD = Gold(
    rules=(
        Label(span="Nobody but me touches the barn", at=0, state="released", by=2),
        Label(span="Anyone may touch the barn", at=2, state="in force"),
        Label(span="And so on", at=9, state="in force"),
    ),
    decisions=(
        Label(span="We paint it red", at=1, state="overturned"),
        Label(span="it shall be green", at=2, state="stands"),
    ),
    changes=(Label(span="The door is painted", at=3),),
    open=(Label(span="Tea first", at=0, done=True),),
    chatter=(Label(span="Thank you.", at=4),),
)


def graded(request: str, in_force: tuple[str, ...] = (), *, later: int = 0) -> dict[str, tuple[int, int]]:
    return kept_of_labels(GOLD, TALK, len(TALK) + later, request, in_force)


def test_what_holds_has_to_stand_word_for_word_but_for_blanks_and_capitals() -> None:
    assert graded("anyone may\n   touch the BARN")["rules"] == (1, 1)
    assert graded("Anyone can touch the barn")["rules"] == (0, 1)


def test_labels_of_the_end_which_every_tail_holds_do_not_count() -> None:
    assert graded("")["rules"] == (0, 1)
    assert graded("", later=10)["rules"] == (0, 2)


def test_what_has_ended_may_be_gone_or_stand_before_what_ended_it_but_not_alone() -> None:
    assert graded("nothing")["ended_rules"] == (1, 1)
    assert graded("Nobody but me touches the barn.")["ended_rules"] == (0, 1)
    assert graded("Nobody but me touches the barn. Anyone may touch the barn from today on.")["ended_rules"] == (1, 1)
    assert graded("Anyone may touch the barn from today on. Nobody but me touches the barn.")["ended_rules"] == (0, 1)
    assert graded("We paint it red.")["overturned"] == (0, 1)
    assert graded("We paint it red. No: it shall be green.")["overturned"] == (1, 1)


def test_a_snapshot_that_asserts_what_has_ended_is_not_mended_by_a_record_behind_it() -> None:
    snapshot = "<state_snapshot><key_knowledge>- We paint it red.</key_knowledge></state_snapshot>"
    assert graded(f"{snapshot} It shall be green.")["overturned"] == (0, 1)


def test_a_done_task_may_stand_as_done_in_the_snapshot_not_as_one_that_is_open() -> None:
    def snapshot(mark: str) -> str:
        return f"<state_snapshot>\n<task_state>\n- {mark} Tea first\n</task_state>\n</state_snapshot>"

    assert graded(snapshot("[DONE]"))["done"] == (1, 1)
    assert graded(snapshot("[TODO]"))["done"] == (0, 1)


def test_chatter_that_is_shown_as_a_rule_is_a_false_rule_also_as_part_of_a_longer_one() -> None:
    assert graded("", ("Anyone may touch the barn",))["false_rules"] == (0, 1)
    assert graded("", ("I say: thank you.",))["false_rules"] == (1, 1)


def test_all_labels_stand_in_their_own_conversation_and_none_in_silence() -> None:
    for conversation in load_corpus(NATURAL):
        assert conversation.gold is not None
        history = msgspec.to_builtins(conversation.history)
        whole = kept_of_labels(conversation.gold, history, len(history), text_in(history), ())
        silence = kept_of_labels(conversation.gold, history, len(history), "", ())
        assert all(whole[kind][0] == whole[kind][1] for kind in KINDS)
        assert all(silence[kind][0] == 0 for kind in KINDS)
        assert all(silence[kind][0] == silence[kind][1] for kind in ("ended_rules", "overturned", "done"))


OLD = [
    said("user", "Begin."),
    returned('{"seat_4711": {"price_now": "312 EUR", "gate": "B22"}}'),
    said("model", "Fine."),
]
NEW = said("user", "Then on to the next thing, which is a longer text than all of what was said before it. " * 3)


def test_what_the_model_passes_on_later_is_needed_if_only_the_older_part_has_it() -> None:
    found = needed_next([*OLD, NEW], [called("book", seat="seat_4711", gate="B22", who="Ann")])
    assert found.values == {"seat_4711", "B22"}
    assert {"seat_4711", "B22"} <= found.names
    assert (
        needed_next([*OLD, said("user", f"{NEW['parts'][0]['text']} B22")], [called("book", gate="B22")]).values
        == set()
    )


def test_what_the_person_says_again_is_not_needed_from_memory() -> None:
    assert needed_next([*OLD, NEW], [said("user", "Take B22."), called("book", gate="B22")]).values == set()


def test_a_key_is_a_format_unless_it_has_two_digits() -> None:
    found = needed_next([*OLD, NEW], [said("model", "The price_now of seat_4711 it is.")])
    assert found.names == {"seat_4711"}


def test_numbers_with_units_are_needed_as_they_are_and_long_ones_without() -> None:
    before = [said("user", "It took 15 ms and cost $1,250."), NEW]
    assert needed_next(before, [said("model", "So 15 ms, and 1250 dollars.")]).names == {"15 ms", "1250"}


def test_a_value_stands_as_a_whole_or_not_at_all() -> None:
    needed = needed_next([*OLD, NEW], [called("book", gate="B22")])
    assert kept_of_needed(needed, "gate B22.")["values"] == (1, 1)
    assert kept_of_needed(needed, "gate B221")["values"] == (0, 1)


words = st.text(alphabet="ab_./1234 \n", max_size=40)
talks = st.lists(words.map(lambda text: said("model", text)), max_size=6)


@given(talks, talks)
def test_everything_that_is_needed_stands_where_all_was_kept_and_nowhere_else(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    needed = needed_next(before, after)
    kept = kept_of_needed(needed, text_in(before))
    assert kept["values"] == (len(needed.values), len(needed.values))
    assert kept["names"] == (len(needed.names), len(needed.names))
    assert kept_of_needed(needed, "")["names"] == (0, len(needed.names))


def file_with(folder: Path, document: object) -> Path:
    (folder / "talk.json").write_bytes(msgspec.json.encode(document))
    return folder


def test_a_label_that_does_not_fit_is_told_with_its_text(tmp_path: Path) -> None:
    gold = {"rules": [{"span": "Never whistle", "at": 0, "state": "in force"}]}
    with pytest.raises(InvalidInput, match="Never whistle"):
        load_corpus(file_with(tmp_path, {"history": TALK, "gold": gold}))


def test_labels_that_are_no_labels_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="labels"):
        load_corpus(file_with(tmp_path, {"history": TALK, "gold": {"rules": [{"at": "first"}]}}))


def test_labels_count_what_is_left_where_a_content_without_parts_goes(tmp_path: Path) -> None:
    history = [{"role": "user", "parts": []}, *TALK]
    gold = {"rules": [{"span": "Nobody but me", "at": 1, "state": "released", "by": 3}]}
    (conversation,) = load_corpus(file_with(tmp_path, {"history": history, "gold": gold}))
    assert conversation.gold is not None
    label = conversation.gold.rules[0]
    assert (label.at, label.by) == (0, 2)


def test_of_several_folders_each_conversation_has_its_folders_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        file_with(tmp_path / name, {"history": TALK})
    assert [one.name for one in load_corpora([tmp_path / "one", tmp_path / "two"])] == ["one/talk", "two/talk"]


@pytest.fixture(scope="module")
def natural() -> list[Conversation]:
    return load_corpora([NATURAL])


@pytest.fixture(scope="module")
def bench(natural: list[Conversation], corpus: list[Conversation]) -> Workbench:
    return Workbench([*natural, *corpus], {})


def test_a_conversation_is_measured_by_its_labels_if_it_has_any(
    natural: list[Conversation], corpus: list[Conversation]
) -> None:
    plan = Plan(arms=("full",), strategies=("split",), summarisers=("empty",), seeds=1, replicates=1, passes=(1,))
    chosen = [natural[0], corpus[0]]
    assert [cell.measured for cell in cells_of(plan, chosen, chosen)] == ["labels", "needed"]
    asked = msgspec.structs.replace(plan, measured=("labels", "planted"))
    assert [cell.measured for cell in cells_of(asked, chosen, chosen)] == ["labels", "planted", "planted"]
    assert not can_be_measured(Conversation(name="short", history=corpus[0].history[:6]), "needed", 4)


def test_a_labelled_conversation_is_said_whole_and_as_it_is(natural: list[Conversation]) -> None:
    script = build_script(natural[0], natural, measured="labels", seed=1, passes=3, ledger=TokenLedger())
    history = natural[0].history
    assert script.stretches[0][: len(history)] == history
    assert not script.planted.prompts
    assert len(script.stretches) == 3
    assert script.stretches[1][0] not in history


def measured(bench: Workbench, cell: Cell, natural: list[Conversation], **changes: object) -> CellResult:
    chosen = natural[0]
    return bench.run(
        msgspec.structs.replace(
            cell, conversation=chosen.name, digest=chosen.digest, arm="full", measured="labels", **changes
        )
    )


def test_the_record_keeps_every_rule_though_the_summariser_says_nothing(
    bench: Workbench, cell: MakeCell, natural: list[Conversation]
) -> None:
    result = measured(bench, cell(), natural, strategy="record", summariser="empty", passes=2)
    assert {numbers.status for numbers in result.passes} == {"COMPRESSED"}
    for numbers in result.passes:
        assert numbers.shares["labels.rules"].value == 1.0
    assert result.undo_equal is True


def test_layers_take_no_larger_share_of_what_was_said_with_each_pass(
    bench: Workbench, cell: MakeCell, natural: list[Conversation]
) -> None:
    result = measured(bench, cell(), natural, strategy="hierarchical", summariser="offline", passes=5)
    shares = [numbers.tokens_after / numbers.tokens_said for numbers in result.passes]
    assert shares == sorted(shares, reverse=True)


def test_a_compression_that_is_refused_proves_nothing_of_what_is_kept(
    bench: Workbench, cell: MakeCell, natural: list[Conversation]
) -> None:
    result = measured(bench, cell(), natural, summariser="broken")
    (row,) = summarise([result], (1,))
    assert row.mean("labels.rules") is None
    assert row.statuses == {"COMPRESSION_FAILED_EMPTY_SUMMARY": 1}


def test_doing_nothing_keeps_every_label_and_all_that_is_needed(
    bench: Workbench, cell: MakeCell, natural: list[Conversation], corpus: list[Conversation]
) -> None:
    labels = measured(bench, cell(), natural)
    labels = bench.run(msgspec.structs.replace(labels.cell, arm="none", strategy=""))
    needed = bench.run(cell(arm="none", strategy="", measured="needed", conversation=corpus[0].name))
    rows = summarise([labels, needed], (1,))
    assert rows[0].mean("labels.kept") == 1.0
    assert rows[1].mean("needed.names") == rows[1].mean("needed.values") == 1.0


def test_each_label_counts_alike_however_many_its_conversation_has() -> None:
    found = estimate([Sample("a", 1, 1.0, 9), Sample("b", 1, 0.0, 1), Sample("c", 1, 0.5, 0)])
    assert found is not None
    assert (found.mean, found.of, found.conversations) == (0.9, 10, 2)

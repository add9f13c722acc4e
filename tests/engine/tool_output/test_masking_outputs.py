"""Which old outputs are masked, and which results only name an earlier one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import MaskEntry
from gemini_companion.engine.tool_output.masking import LEAST_SAVED_TOKENS, plan_masks, plan_repeats
from gemini_companion.engine.tool_output.preview import preview
from tests.support.golden import expand, golden_cases
from tests.support.logs import Book, call, result


def refer_to(item: Item, number: int) -> str:
    return f"recall({item.seq}-{number})"


def mask(book: Book, least_saved: int = LEAST_SAVED_TOKENS, names: Collection[str] = ()) -> MaskEntry | None:
    """Mask what is due."""
    history = book.history
    cuts = plan_masks(
        history.curated(),
        history.masks,
        measure=history.measure,
        refer_to=refer_to,
        names=names,
        least_saved=least_saved,
    )
    return book.add(MaskEntry, cuts=cuts) if cuts else None


def repeat(book: Book) -> MaskEntry | None:
    repeats = plan_repeats(
        book.history.curated(), book.history.masks, {"run"}, measure=book.history.measure, refer_to=refer_to
    )
    return book.add(MaskEntry, cuts=(), repeats=repeats) if repeats else None


def shown(book: Book) -> list[str]:
    return [
        part["functionResponse"]["response"]["output"]
        for content in book.view
        for part in content.parts
        if "functionResponse" in part
    ]


def run_of(*outputs: str, name: str = "run") -> Book:
    """A run of rounds with these outputs, the last of which the model has answered."""
    book = Book()
    book.prompt("go")
    for number, output in enumerate(outputs):
        book.round(number, output, name)
    book.reply("done")
    return book


def test_the_newest_outputs_stay_and_the_one_that_crosses_is_masked_with_all_older_ones() -> None:
    book = run_of(*("x" * 40_000 for _ in range(10)))  # ten thousand tokens each
    entry = mask(book)
    assert entry is not None
    assert len(entry.cuts) == 6
    assert [len(text) > 39_000 for text in shown(book)] == [False] * 6 + [True] * 4
    assert sum(cut.tokens_saved for cut in entry.cuts) > 55_000
    assert all(refer_to(item, 0) in text for item, text in zip(results(book)[:6], shown(book)[:6], strict=True))
    assert mask(book) is None


def results(book: Book) -> list[Item]:
    return [item for item in book.history.items if item.kind == "toolResult"]


def test_nothing_is_masked_while_that_would_save_little() -> None:
    assert mask(run_of(*("x" * 40_000 for _ in range(7)))) is None


def test_what_the_model_has_not_seen_yet_is_never_masked() -> None:
    book = Book()
    book.prompt("go")
    book.reply(*(call(call_id=f"c{number}") for number in range(12)))
    book.results(*(result(call_id=f"c{number}", output="x" * 40_000) for number in range(12)))
    assert mask(book) is None
    book.reply("I have read them.")
    assert mask(book) is not None


@pytest.mark.parametrize("name", ["ask_user", "write_todos", "exit_plan_mode"])
def test_what_a_person_answered_stays(name: str) -> None:
    assert mask(run_of(*("x" * 40_000 for _ in range(12)), name=name)) is None


def test_what_was_recalled_stays_for_twice_as_long() -> None:
    def masked(name: str) -> int:
        book = Book()
        book.prompt("go")
        for number in range(6):
            book.round(number, "old " * 10_000)
        book.round(6, "y" * 30_000, name)
        for number in range(7, 13):
            book.round(number, "new " * 10_000)
        book.reply("done")
        entry = mask(book)
        assert entry is not None
        return len(entry.cuts)

    assert masked("recall") == masked("run") - 1


def test_old_pictures_go_by_their_name_and_size() -> None:
    picture: dict[str, Any] = {"inlineData": {"mimeType": "image/png", "data": "A" * 46_000}}
    book = Book()
    seen = book.prompt("look", picture)
    book.reply(call(call_id="a"))
    made = book.results(result(call_id="a", output="one picture", parts=[picture]))
    for number in range(12):
        book.round(number, "x" * 40_000)
    book.reply("done")
    entry = mask(book)
    assert entry is not None
    by_seq = {cut.seq: cut.output for cut in entry.cuts}
    assert by_seq[seen.seq] == f"[image/png, 34 kB, no longer shown; recall({seen.seq}-1) brings it back]"
    assert "[image/png, 34 kB]" in by_seq[made.seq]
    assert "one picture" in by_seq[made.seq]


def test_a_result_that_was_given_before_is_named_instead_of_sent_again() -> None:
    text = "def f():\n    return 1\n" * 200
    book = run_of(text, "something else " * 200)
    book.prompt("once more")
    book.round(7, text)
    entry = repeat(book)
    assert entry is not None
    assert shown(book)[0] == text
    assert len(shown(book)[2]) < 400
    assert "def f():" in shown(book)[2]
    assert repeat(book) is None


@pytest.mark.parametrize(("first", "again", "name"), [("a" * 3_000, "b" * 3_000, "run"), ("a" * 900, "a" * 900, "run")])
def test_other_and_short_results_are_sent_again(first: str, again: str, name: str) -> None:
    book = run_of(first)
    book.round(7, again, name)
    assert repeat(book) is None


def test_what_other_tools_gave_is_sent_again() -> None:
    book = run_of("a" * 3_000, name="run_shell_command")
    book.round(7, "a" * 3_000, "run_shell_command")
    assert repeat(book) is None


def test_what_a_new_result_names_is_not_masked_as_long_as_that_is_new() -> None:
    text = "z" * 40_000
    book = run_of(text, *("x" * 40_000 for _ in range(9)))
    book.prompt("once more")
    book.round(20, text)
    assert repeat(book) is not None
    book.reply("so it is")
    entry = mask(book)
    assert entry is not None
    assert shown(book)[0] == text
    for number in range(30, 42):
        book.round(number, "new " * 10_000)
    book.reply("done")
    entry = mask(book)
    assert entry is not None
    assert all(len(one) < 2_000 for one in shown(book)[:11])


@given(text=st.text(alphabet=st.sampled_from("ab \n\r\0é😀"), max_size=9_000))
@settings(deadline=None)
def test_what_is_left_of_an_output_is_short_whatever_it_is(text: str) -> None:
    assert len(preview(text)) <= 700


DIFFERENCES = {"mask_latest_protected": 1}
"""There the newest output does not count, so that an older one may stay beside any size of it; here it counts."""


@pytest.mark.parametrize("case", golden_cases("tool_outputs_files", "maskToolOutputs"))
def test_the_outputs_that_gemini_cli_masks_are_masked(case: dict[str, Any]) -> None:
    """Numbers of outputs masked are equal; texts, savings and files are ours, for the log has the whole."""
    book = Book()
    for content in expand(case["input"]["history"]):
        parts = tuple(content["parts"])
        calls = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if calls:
            book.prompt("")
            book.reply(*(call(one["name"], one.get("id")) for one in calls))
            book.results(*parts)
        elif content["role"] == "model":
            book.reply(*parts)
        else:
            book.prompt(*parts)
            book.reply("fine")
    entry = mask(book)
    expected = case["expected"]["result"]["maskedCount"]
    assert (len(entry.cuts) if entry else 0) == DIFFERENCES.get(case["id"], expected)


def test_outputs_of_finished_turns_are_protected_half_as_long() -> None:
    def masked(begins_anew: bool) -> int:
        book = run_of(*("x" * 40_000 for _ in range(8)))  # ten thousand tokens each, five of which fit
        if begins_anew:
            book.begin()
            book.prompt("and now the next thing")
        entry = mask(book, least_saved=1)
        return len(entry.cuts) if entry is not None else 0

    assert masked(begins_anew=False) == 4
    assert masked(begins_anew=True) == 6


def call_again(book: Book, number: int, output: Any, *, key: str = "output", **args: Any) -> None:
    book.reply(call("run", f"again{number}", **args))
    book.results({"functionResponse": {"name": "run", "id": f"again{number}", "response": {key: output}}})


def superseding(*keys: str, same: bool = True) -> list[bool]:
    """Which outputs are masked where one call was made several times, all of it protected by its age."""
    book = Book()
    book.prompt("go")
    for number, key in enumerate(keys):
        call_again(book, number, f"{number}" + "x" * 20_000, key=key, line="make" if same else f"make {number}")
    book.reply("done")
    entry = mask(book, least_saved=1_000, names={"run"})
    masked = {cut.seq for cut in entry.cuts} if entry is not None else set[int]()
    return [item.seq in masked for item in results(book)]


def test_what_the_same_call_gave_before_goes_first_however_new_it_is() -> None:
    assert superseding("output", "output", "output") == [True, True, False]
    assert superseding("output", "output", same=False) == [False, False]


def test_a_call_that_failed_does_not_take_the_place_of_what_it_gave_before() -> None:
    assert superseding("output", "error") == [False, False]
    assert superseding("output", "error", "output") == [True, False, False]

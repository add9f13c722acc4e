"""A view that is larger than its room: what is shortened, how far, and what stays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.history.log import MaskEntry
from gemini_companion.engine.tool_output.fitting import LEAST_TOKENS, newest_round, plan_fit
from tests.support.examples import examples
from tests.support.logs import Book, call, result, user


def fit(book: Book, room: int, *, texts: bool = True) -> None:
    """Shorten the view to a room in tokens."""
    cuts = plan_fit(
        book.history.curated(),
        book.history.masks,
        room=room,
        measure=book.history.measure,
        refer_to=lambda item, number: f"recall({item.seq}-{number})",
        shape_of=lambda _: "text",
        may_shorten=lambda item, _: texts and item.content.role == "model",
    )
    if cuts:
        book.add(MaskEntry, cuts=cuts)


def tokens(book: Book) -> int:
    return sum(item.measure.tokens for item in book.history.curated())


def words(count: int, word: str = "word") -> str:
    return f"{word} " * count


def shown(book: Book) -> list[int]:
    return [item.measure.tokens for item in book.history.curated()]


def round_of(book: Book, number: int, *outputs: str, content: str = "") -> None:
    book.reply(*(call("run", f"c{number}-{at}", content=content) for at in range(len(outputs))))
    book.results(*(result("run", f"c{number}-{at}", output) for at, output in enumerate(outputs)))


def test_what_fits_is_left_alone() -> None:
    book = Book()
    book.say("Hello.", words(2_000))
    fit(book, tokens(book))
    assert not any(isinstance(entry, MaskEntry) for entry in book.entries)


def test_older_parts_are_shortened_before_the_newest_round() -> None:
    book = Book()
    book.prompt("Go.")
    round_of(book, 0, words(5_000, "older"))
    round_of(book, 1, words(4_000, "newer"))
    room = shown(book)[-1] + 1_000
    fit(book, room)
    assert tokens(book) <= room
    assert f"{words(4_000, 'newer')}" in str(book.view[-1])


def test_the_results_of_one_round_get_the_same_room_and_small_ones_stay() -> None:
    book = Book()
    book.prompt("Go.")
    round_of(book, 0, words(9_000, "cat"), words(100, "two"), words(9_000, "dog"))
    fit(book, 5_000)
    assert 4_000 < tokens(book) <= 5_000
    sizes = [len(str(part)) for part in book.view[-1].parts]
    assert sizes[1] < 600
    assert abs(sizes[0] - sizes[2]) < 300


def test_what_a_person_wrote_stays_and_what_the_model_said_needs_leave() -> None:
    book = Book()
    book.say(words(5_000, "mine"), words(5_000, "said"))
    before = shown(book)
    fit(book, 1_000, texts=False)
    assert shown(book) == before
    fit(book, 1_000)
    assert book.view[0] == user({"text": words(5_000, "mine")})
    assert shown(book)[1] < 2 * LEAST_TOKENS


def test_a_result_that_only_named_one_that_is_cut_is_not_shown_whole_instead() -> None:
    book = Book()
    book.prompt("Go.")
    round_of(book, 0, words(5_000))
    round_of(book, 1, words(5_000))
    book.reply("Read.")
    first, second = book.results_shown
    book.repeat(first, second)
    before = tokens(book)
    fit(book, 3_000)
    assert tokens(book) <= 3_000 < before


def test_the_newest_round_is_what_the_model_has_not_answered() -> None:
    book = Book()
    book.prompt("Go.")
    round_of(book, 0, "ok")
    items = book.history.curated()
    assert newest_round(items) == {items[-2].seq, items[-1].seq}
    book.reply("Done.")
    assert newest_round(book.history.curated()) == frozenset()


sizes = st.sampled_from([0, 5, 200, 900, 4_000, 20_000])


@given(st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=6), st.integers(2_000, 30_000), st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_any_run_fits_as_far_as_previews_allow_and_every_call_keeps_its_result(
    made: list[tuple[int, int, int]], room: int, is_japanese: bool
) -> None:
    book = Book()
    book.prompt("Go.")
    word = "日本語です" if is_japanese else "word"
    for number, (args, output, said) in enumerate(made):
        round_of(book, number, words(output, word), content=words(args, word))
        if said:
            book.reply(words(said, word))
    calls = [part for one in book.view for part in one.parts if "functionCall" in part]
    fit(book, room)
    assert tokens(book) <= max(room, (3 * len(made) + 1) * 2 * LEAST_TOKENS)
    after = [part for one in book.view for part in one.parts if "functionCall" in part]
    assert [part["functionCall"]["id"] for part in after] == [part["functionCall"]["id"] for part in calls]

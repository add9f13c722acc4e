"""When the model is told everything, when only what changed, when nothing; and that it always ends up knowing the
truth.
"""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import IdeContextEntry
from gemini_companion.engine.ide_context import (
    Baseline,
    Cursor,
    EditorState,
    KnownState,
    OpenFile,
    Receipt,
    Send,
    TextExtent,
    Withheld,
    baseline_of,
    decide,
    is_full_due,
    normalise,
    replay,
)
from tests.engine.ide_context.editor_states import editors
from tests.support.examples import examples

EMPTY = EditorState()


def state(path: str = "/w/a.py", line: int = 1) -> EditorState:
    return normalise(
        [
            OpenFile(path=path, is_active=True, last_focused_at=2, cursor=Cursor(line=line, character=1)),
            OpenFile(path="/w/other"),
        ]
    )


def tell(
    baseline: Baseline | None,
    now: EditorState,
    *,
    client: str = "A",
    epoch: int = 1,
    previous: str | None = "A",
    call_open: bool = False,
) -> Send:
    return decide(baseline, now, client=client, epoch=epoch, previous_turn_client=previous, call_open=call_open)


def first() -> Baseline | None:
    return tell(None, state(), previous=None).baseline


def test_the_first_turn_tells_everything():
    send = tell(None, state(), previous=None)
    assert send.kind == "full"
    assert send.baseline == Baseline(client="A", epoch=1, known=KnownState.of(state()))


def test_later_turns_tell_what_changed_and_nothing_where_nothing_did():
    assert tell(first(), state(line=5)).kind == "delta"
    send = tell(first(), state())
    assert (send.kind, send.text, send.baseline) == ("none", None, first())


def test_a_change_of_epoch_tells_everything_again():
    assert tell(first(), state(), epoch=2).kind == "full"


def test_another_client_tells_everything_and_so_does_the_first_one_after_it():
    second = tell(first(), state("/w/b"), client="B", previous="A")
    assert second.kind == "full"
    assert tell(second.baseline, state(), client="A", previous="B").kind == "full"


def test_everything_is_told_after_a_turn_of_another_client_that_told_nothing():
    assert tell(first(), state(), client="A", previous="B").kind == "full"


def test_while_a_call_is_open_nothing_is_told_and_what_is_due_stays_due():
    held = tell(first(), state(), epoch=2, call_open=True)
    assert (held.kind, held.baseline) == ("none", first())
    assert tell(held.baseline, state(), epoch=2).kind == "full"
    held = tell(first(), state(line=7), call_open=True)
    assert tell(held.baseline, state(line=7)).kind == "delta"


def test_an_empty_state_is_not_told_and_the_first_file_then_comes_in_full():
    nothing = tell(None, EMPTY, previous=None)
    assert (nothing.kind, nothing.baseline) == ("none", None)
    assert tell(nothing.baseline, state()).kind == "full"


def test_a_client_without_files_corrects_what_another_one_told():
    send = tell(first(), EMPTY, client="B", previous="A")
    assert send.kind == "full"
    assert send.text is not None
    assert replay([send.text]) == KnownState()
    assert tell(send.baseline, EMPTY, client="B", previous="B").kind == "none"
    assert tell(send.baseline, EMPTY, client="A", previous="B").kind == "none"


def test_after_a_change_of_epoch_there_is_nothing_to_correct():
    assert tell(first(), EMPTY, epoch=2).kind == "none"


def test_closing_the_last_file_is_a_change():
    send = tell(first(), EMPTY)
    assert send.kind == "delta"
    assert send.receipt.files == send.receipt.closed == ("/w/a.py", "/w/other")


def test_whether_everything_is_due_can_be_asked():
    def due(client: str, epoch: int, previous: str | None) -> bool:
        return is_full_due(first(), client=client, epoch=epoch, previous_turn_client=previous)

    assert not due("A", 1, "A")
    assert due("A", 2, "A")
    assert due("B", 1, "B")
    assert due("A", 1, "B")
    assert due("A", 1, None)
    assert is_full_due(None, client="A", epoch=1, previous_turn_client="A")


def test_the_receipt_says_what_was_told_and_what_was_withheld():
    withheld = (Withheld(name=".env", reason="a secret by its name"),)
    secret = OpenFile(path="/w/b/config.py", last_focused_at=9, is_active=True, selected_text="password = 'hunter2345'")
    now = normalise([secret, OpenFile(path="/w/c")])
    send = decide(None, now, client="A", epoch=1, previous_turn_client=None, call_open=False, withheld=withheld)
    assert send.receipt == Receipt(
        kind="full",
        files=("/w/b/config.py", "/w/c"),
        selection_chars=len(now.files[0].selected_text or ""),
        withheld=(*withheld, Withheld(name="config.py", reason="1 secret masked")),
    )
    assert decide(
        send.baseline, now, client="A", epoch=1, previous_turn_client="A", call_open=False, withheld=withheld
    ).receipt == Receipt(kind="none", withheld=withheld)


def test_the_receipt_of_a_delta_names_what_the_delta_names():
    now = normalise(
        [OpenFile(path="/w/a.py", is_active=True, last_focused_at=2, selected_text="four"), OpenFile(path="/w/new")]
    )
    receipt = tell(first(), now).receipt
    assert (receipt.kind, receipt.files, receipt.selection_chars) == ("delta", ("/w/new", "/w/other", "/w/a.py"), 4)


LINES = "".join(f"line {number}\n" for number in range(1, 101))


def told_text(baseline: Baseline | None, text: str, *, is_unsaved: bool = False, room: int = 16_384) -> Send:
    file = OpenFile(path="/w/a.py", is_active=True, last_focused_at=1, text=text, is_unsaved=is_unsaved)
    return tell(baseline, normalise([file], max_active_text=room), previous="A" if baseline else None)


def test_the_receipt_says_how_much_of_the_text_was_told():
    assert told_text(None, LINES).receipt.texts == (TextExtent(path="/w/a.py", extent="whole"),)
    assert told_text(None, LINES, room=80).receipt.texts == (
        TextExtent(path="/w/a.py", extent="lines", lines=(1, 11), line_count=100),
    )
    assert told_text(None, "x" * 100, room=80).receipt.texts == (
        TextExtent(path="/w/a.py", extent="part", lines=(1, 1), line_count=1),
    )
    assert told_text(None, LINES, room=0).receipt.texts == (
        TextExtent(path="/w/a.py", extent="path", reason="turned off in the settings"),
    )


def test_the_receipt_says_that_only_changes_of_a_text_were_told():
    first_told = told_text(None, LINES).baseline
    receipt = told_text(first_told, LINES + "one more\n", is_unsaved=True).receipt
    assert receipt.files == ("/w/a.py",)
    assert receipt.texts == (TextExtent(path="/w/a.py", extent="whole", unsaved=True, as_changes=True),)
    assert told_text(first_told, LINES).receipt.texts == ()


def entry(send: Send, *, client: str, epoch: int, seq: int = 1) -> IdeContextEntry:
    assert send.text is not None
    assert send.kind != "none"
    return IdeContextEntry(
        id=f"i{seq}",
        seq=seq,
        time=0,
        turn_id="t",
        content=user_text(send.text),
        kind=send.kind,
        client=client,
        epoch=epoch,
    )


def test_the_baseline_can_be_read_from_the_entries_of_the_view():
    full = tell(None, state(), previous=None)
    delta = tell(full.baseline, state(line=9))
    entries = [entry(full, client="A", epoch=1), entry(delta, client="A", epoch=1, seq=2)]
    assert baseline_of(entries) == delta.baseline
    assert baseline_of(entries[:1]) == full.baseline
    assert baseline_of([]) is None


def test_a_delta_of_one_epoch_says_nothing_after_another():
    full = tell(None, state(), previous=None)
    delta = tell(full.baseline, state(line=9))
    assert baseline_of([entry(full, client="A", epoch=1), entry(delta, client="A", epoch=2, seq=2)]) is None


@pytest.mark.parametrize("spoil", ["text", "order"])
def test_entries_that_cannot_be_read_leave_no_baseline(spoil: str):
    full = tell(None, state(), previous=None)
    delta = entry(tell(full.baseline, state(line=9)), client="A", epoch=1, seq=2)
    if spoil == "text":
        assert (
            baseline_of([msgspec.structs.replace(entry(full, client="A", epoch=1), content=user_text("hello")), delta])
            is None
        )
    else:
        assert baseline_of([delta]) is None


turns = st.lists(
    st.tuples(
        st.sampled_from(("A", "B")),
        editors,
        st.sampled_from(("turn", "turn", "turn", "epoch", "cancelled", "call open")),
    ),
    max_size=12,
)


@settings(max_examples=examples(100), deadline=None)
@given(turns)
def test_whoever_speaks_the_model_knows_that_clients_editor_exactly(sequence: list[tuple[str, list[OpenFile], str]]):
    """Replays what stands in the view, as a model reads it: after every turn it is the state of the client that spoke,
    told in full exactly once.
    """
    epoch, previous = 1, None
    view: list[IdeContextEntry] = []
    for client, files, happening in sequence:
        if happening == "epoch":
            epoch += 1
            view = []
        now = normalise(files)
        call_open = happening == "call open" and previous is not None
        send = tell(baseline_of(view), now, client=client, epoch=epoch, previous=previous, call_open=call_open)
        grown = [*view, entry(send, client=client, epoch=epoch, seq=len(view) + 1)] if send.text is not None else view
        if call_open:
            assert send.kind == "none"
        else:
            known = replay(each.content.parts[0]["text"] for each in grown)
            assert (known or KnownState()).without_memory() == KnownState.of(now)
            assert baseline_of(grown) == send.baseline
        if happening != "cancelled":  # a cancelled turn's entries leave the view
            view = grown
        previous = client
        runs = [index for index, each in enumerate(view) if each.kind == "full"]
        assert not view or runs[:1] == [0]

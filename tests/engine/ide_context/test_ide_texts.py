"""The text of the active file in the messages: once, then only what changed."""

import json

import msgspec

from gemini_companion.engine.ide_context import (
    Cursor,
    EditorState,
    KnownState,
    LineRange,
    OpenFile,
    apply_text,
    normalise,
    render_delta,
    render_full,
)
from gemini_companion.engine.ide_context.render import render_nothing_open


def active(path: str = "/w/a.py", **fields: object) -> OpenFile:
    return msgspec.structs.replace(OpenFile(path=path, last_focused_at=9, is_active=True), **fields)


def unsaved(path: str, text: str) -> OpenFile:
    return OpenFile(path=path, text=text, is_unsaved=True)


def state(*files: OpenFile) -> EditorState:
    return normalise(files)


def body(text: str | None) -> dict[str, object]:
    assert text is not None
    return json.loads(text.split("\n```json\n")[1].removesuffix("\n```"))


def after(*states: EditorState) -> KnownState:
    """What is known after these states were told, each as a change of the one before."""
    known = apply_text(None, render_full(states[0]) or render_nothing_open())
    for now in states[1:]:
        text = render_delta(known, now)
        known = known if text is None else apply_text(known, text)
    return known


def delta(known: KnownState, now: EditorState) -> dict[str, object]:
    return body(render_delta(known, now))["changes"]  # type: ignore[return-value]


LINES = "".join(f"line {number}\n" for number in range(1, 101))


def test_the_text_of_the_file_that_gets_the_focus_is_told_with_it():
    known = after(state(active(), OpenFile(path="/w/b")))
    now = state(active("/w/b", text="new", is_unsaved=True), unsaved("/w/a.py", "old"))
    assert delta(known, now) == {
        "activeFileChanged": {"path": "/w/b", "content": {"unsaved": True, "text": "new"}},
        "unsavedTextChanged": [{"path": "/w/a.py", "unsavedText": "old"}],
    }


def test_a_text_is_told_again_only_when_it_changed_and_then_as_a_diff():
    known = after(state(active(text=LINES)))
    assert render_delta(known, state(active(text=LINES))) is None
    now = state(active(text=LINES.replace("line 50\n", "line fifty\n"), is_unsaved=True))
    diff = "@@ -48,5 +48,5 @@\n line 48\n line 49\n-line 50\n+line fifty\n line 51\n line 52"
    assert delta(known, now) == {
        "contentChanged": {"path": "/w/a.py", "content": {"unsaved": True, "diff": diff}},
    }


def test_a_text_that_changed_all_over_is_told_whole():
    known = after(state(active(text=LINES)))
    changed = LINES.replace("line", "row")
    assert delta(known, state(active(text=changed))) == {
        "contentChanged": {"path": "/w/a.py", "content": {"text": changed}}
    }


def test_saving_is_told_without_the_text():
    known = after(state(active(text=LINES, is_unsaved=True)))
    assert delta(known, state(active(text=LINES))) == {
        "contentChanged": {"path": "/w/a.py", "content": {"unchanged": True}}
    }


def test_a_text_that_the_model_knows_is_not_told_again_when_the_focus_moves():
    a_active = state(active(text=LINES, is_unsaved=True), OpenFile(path="/w/b"))
    b_active = state(active("/w/b", text="b"), unsaved("/w/a.py", LINES))
    known = after(a_active)
    assert delta(known, b_active) == {"activeFileChanged": {"path": "/w/b", "content": {"text": "b"}}}
    known = after(a_active, b_active)
    assert delta(known, a_active) == {
        "activeFileChanged": {"path": "/w/a.py", "content": {"unsaved": True, "unchanged": True}}
    }


def test_a_file_that_was_closed_and_comes_back_is_told_by_what_changed():
    known = after(state(active(text=LINES)), state(active("/w/b", text="b")))
    said = delta(known, state(active(text=LINES + "line 101\n"), OpenFile(path="/w/b")))
    assert said["activeFileChanged"] == {
        "path": "/w/a.py",
        "content": {"diff": "@@ -99,3 +99,4 @@\n line 99\n line 100\n+line 101\n "},
    }


def test_an_excerpt_that_moved_is_told_by_its_lines():
    lines = "".join(f"line {number}\n" for number in range(1, 1001))

    def at(line: int) -> EditorState:
        return normalise([active(text=lines, cursor=Cursor(line=line, character=1))], max_active_text=2000)

    known = after(at(400))
    content = delta(known, at(500))["contentChanged"]["content"]  # type: ignore[index]
    assert apply_text(known, render_delta(known, at(500)) or "").text == at(500).files[0].shown
    assert content["lineCount"] == 1000
    assert content["lines"]["startLine"] > 300


def test_why_only_the_path_goes_along_is_told():
    assert body(render_full(state(active(path_only="not a text file")))) == {
        "activeFile": {"path": "/w/a.py", "content": {"omitted": "not a text file"}}
    }


def test_which_lines_of_a_long_selection_are_told_stands_beside_them():
    lines = LineRange(start_line=11, end_line=15)
    now = normalise([active(selected_text="aaaa\nbbbb\ncccc\ndddd\neeee\n", selected_lines=lines)], max_selection=17)
    assert body(render_full(now)) == {
        "activeFile": {
            "path": "/w/a.py",
            "selectedText": "aaaa\nbbbb\ncccc\n… [truncated]",
            "selectionCut": {"sent": [11, 13], "selected": [11, 15]},
        }
    }

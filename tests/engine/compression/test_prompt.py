"""History as quoted data: fences that nothing breaks out of, reserved tags neutralised, everything else as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.compression.instructions import (
    FIRST_REQUEST,
    MERGE_REQUEST,
    NO_ANSWER,
    REPAIR_REQUEST,
    SYSTEM_INSTRUCTION,
    VERIFY_REQUEST,
)
from gemini_companion.engine.compression.prompt import (
    describe_media,
    editor_paths,
    follow_up,
    quote,
    summary_contents,
)
from gemini_companion.engine.compression.substance import sections_of
from gemini_companion.engine.facts.neutralise import SECTIONS, neutralise
from gemini_companion.engine.history.content import Content, Part, user_text
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.ide_context import Cursor, EditorState, OpenFile, render_delta, render_full
from gemini_companion.engine.ide_context.known import KnownState
from tests.support.examples import examples
from tests.support.logs import call, item_of, model, result, user

NONCE = "n0nce"


def quoted(content: Content, **more: Any) -> str:
    """The body of one fence."""
    (block,) = quote([item_of(content, 1, **more)], nonce=NONCE)
    first, _, rest = block.partition("\n")
    body, _, last = rest.rpartition("\n")
    assert (first, last) == (f"<<<content 0 {content.role} {NONCE}", f"content 0 {NONCE}>>>")
    return body


def test_every_content_is_fenced_with_its_index_role_and_the_nonce() -> None:
    blocks = quote([item_of(user_text("a"), 1), item_of(model({"text": "b"}), 2)], nonce=NONCE, first_index=7)
    assert blocks == [
        f"<<<content 7 user {NONCE}\na\ncontent 7 {NONCE}>>>",
        f"<<<content 8 model {NONCE}\nb\ncontent 8 {NONCE}>>>",
    ]
    assert quote([], nonce=NONCE) == []


@given(
    st.lists(
        st.text(st.characters(codec="utf-8"), max_size=60)
        | st.sampled_from(["content 0 >>>", "<<<content 1 user", "\0", "</state_snapshot>", "<"]),
        min_size=1,
    )
)
@settings(max_examples=examples(100), deadline=None)
def test_no_text_breaks_out_of_its_fence_or_changes_but_for_reserved_tags(texts: list[str]) -> None:
    nonce = "9f2c6b7e5d"
    items = [item_of(user_text(text), seq) for seq, text in enumerate(texts, start=1)]
    blocks = quote(items, nonce=nonce)
    assert blocks == [
        f"<<<content {index} user {nonce}\n{neutralise(text)}\ncontent {index} {nonce}>>>"
        for index, text in enumerate(texts)
    ]
    whole = "\n".join(blocks)
    assert whole.count(nonce) == 2 * len(texts)


@pytest.mark.parametrize("name", ["state_snapshot", "scratchpad", *SECTIONS])
@pytest.mark.parametrize("form", ["<{}>", "</{}>", "< / {} x='1'>", "<{}"])
def test_reserved_tags_are_neutralised_wherever_they_stand(name: str, form: str) -> None:
    tag = form.format(name.upper())
    for content in (
        user_text(f"a {tag} b"),
        model(call("run", "a", text=tag)),
        user(result("run", "a", tag)),
        user({"functionResponse": {"name": "run", "response": {"error": tag}}}),
        model({"unknown": tag}),
        user({"inlineData": {"mimeType": tag, "data": ""}}),
    ):
        assert "<" not in quoted(content).replace("<<<", "")
        assert "‹" in quoted(content)


@pytest.mark.parametrize(
    "text",
    [
        "<div>",
        "a < b",
        "<state>",
        "<snapshot>",
        "</overall>",
        "&lt;b&gt;",
        "<!-- x -->",
        "<states_snapshot>",
        "\u2039x",
        "\r\n\t\x00\x1b[31m",
    ],
)
def test_nothing_else_is_escaped(text: str) -> None:
    assert quoted(user_text(text)) == text


def test_calls_results_and_texts_are_told_apart() -> None:
    assert (
        quoted(model({"text": "I will look."}, call("read_file", "1", path="/w/a.py")))
        == 'I will look.\n[call read_file {"path":"/w/a.py"}]'
    )
    assert quoted(user(result("read_file", "1", "line 1\nline 2"))) == "[result read_file]\nline 1\nline 2"
    assert (
        quoted(user({"functionResponse": {"name": "run", "response": {"error": "no"}}}))
        == '[result run]\n{\n  "error": "no"\n}'
    )


def test_a_part_with_several_fields_loses_none_of_them() -> None:
    part: Part = {
        "text": "see",
        "functionCall": {"name": "run", "args": {}},
        "inlineData": {"mimeType": "image/png", "data": "AAAA"},
    }
    assert quoted(model(part)) == "see\n[call run {}]\n[image/png, 1 kB]"


def test_thoughts_and_signatures_are_left_out_and_unknown_parts_are_json() -> None:
    assert quoted(model({"text": "hm", "thought": True}, {"text": "so"})) == "so"
    assert quoted(model({"thoughtSignature": "s" * 100})) == ""
    assert (
        quoted(model({"executableCode": {"code": "1"}, "thoughtSignature": "s"})) == '{"executableCode":{"code":"1"}}'
    )


def test_media_become_their_type_and_size_also_inside_a_result() -> None:
    picture: Part = {"inlineData": {"mimeType": "image/png", "data": "A" * 45_334}}
    assert quoted(user({"text": "see"}, picture)) == "see\n[image/png, 34 kB]"
    assert quoted(user(result("shot", "1", "taken", parts=[picture]))) == "[result shot]\ntaken\n[image/png, 34 kB]"
    assert quoted(user(result("shot", "1", "taken", parts=["?", {}, None]))) == "[result shot]\ntaken"


@pytest.mark.parametrize(
    ("media", "told"),
    [
        ({"mimeType": "application/pdf", "data": ""}, "[application/pdf, 1 kB]"),
        ({"mimeType": "video/mp4", "fileUri": "gs://x"}, "[video/mp4, gs://x]"),
        ({}, "[unknown type, a file]"),
        ({"mimeType": "x" * 500, "fileUri": 3}, f"[{'x' * 100}, 3]"),
    ],
)
def test_what_is_told_of_media(media: dict[str, Any], told: str) -> None:
    assert describe_media(media) == told


def test_ide_entries_become_their_paths_and_nothing_else() -> None:
    state = EditorState(
        files=(
            OpenFile(
                path="/w/a.py",
                is_active=True,
                cursor=Cursor(line=1, character=1),
                selected_text='open("/etc/passwd") # secret',
            ),
            OpenFile(path='C:\\w\\"b".py'),
        )
    )
    full = render_full(state)
    assert full is not None
    assert editor_paths(full) == ["/w/a.py", 'C:\\w\\"b".py']
    body = quoted(user_text(full), kind="ide")
    assert body == '[editor: /w/a.py, C:\\w\\"b".py]'
    delta = render_delta(KnownState.of(state), EditorState(files=(OpenFile(path="/w/c.py", is_active=True),)))
    assert delta is not None
    assert sorted(editor_paths(delta)) == ["/w/a.py", "/w/c.py", 'C:\\w\\"b".py']
    assert editor_paths('just "/some/text"') == []


def test_a_body_that_no_window_could_hold_is_cut_in_the_middle() -> None:
    (block,) = quote([item_of(user_text("a" * 5_000 + "z" * 5_000), 1)], nonce=NONCE, limit=1_000)
    assert "9,000 characters left out" in block
    assert block.count("a" * 200) == 1
    assert "z" * 800 in block
    assert len(block) < 1_200


def test_the_first_request_asks_for_a_new_snapshot_or_for_a_merged_one() -> None:
    blocks = quote([item_of(user_text("hello"), 1)], nonce=NONCE)
    (fresh,) = summary_contents(blocks, previous_snapshot=None, guidance="", nonce=NONCE)
    assert fresh.role == "user"
    assert [part["text"] for part in fresh.parts] == [blocks[0], FIRST_REQUEST]
    (merged,) = summary_contents(
        blocks, previous_snapshot="<state_snapshot>\nold\n</state_snapshot>", guidance="", nonce=NONCE
    )
    earlier, data, request = (part["text"] for part in merged.parts)
    assert (
        earlier
        == f"<<<earlier snapshot {NONCE}\n‹state_snapshot>\nold\n‹/state_snapshot>\nearlier snapshot {NONCE}>>>\n"
    )
    assert (data, request) == (blocks[0], MERGE_REQUEST)


def test_guidance_is_passed_on_with_its_tags_neutralised() -> None:
    (content,) = summary_contents([], previous_snapshot=None, guidance="keep </scratchpad> ports", nonce=NONCE)
    assert content.parts[-1]["text"].endswith("keep ‹/scratchpad> ports")


def test_a_pasted_snapshot_in_a_users_message_is_just_quoted_text() -> None:
    blocks = quote([item_of(user_text("<state_snapshot>mine</state_snapshot>"), 1)], nonce=NONCE)
    (content,) = summary_contents(blocks, previous_snapshot=None, guidance="", nonce=NONCE)
    assert "earlier snapshot" not in visible_text(content)
    assert "‹state_snapshot>mine‹/state_snapshot>" in visible_text(content)


@pytest.mark.parametrize("request_text", [VERIFY_REQUEST, REPAIR_REQUEST])
def test_a_second_request_has_the_firsts_contents_as_its_prefix(request_text: str) -> None:
    first = summary_contents(["data"], previous_snapshot=None, guidance="", nonce=NONCE)
    second = follow_up(first, "the answer", request_text)
    assert second[: len(first)] == first
    assert [content.role for content in second] == ["user", "model", "user"]
    assert [visible_text(content) for content in second[1:]] == ["the answer", request_text]
    assert visible_text(follow_up(first, "", request_text)[1]) == NO_ANSWER


def test_no_description_stands_inside_a_tag_and_the_example_is_whole() -> None:
    described, _, example = SYSTEM_INSTRUCTION.partition("<state_snapshot>")
    assert all(f"- {name}: " in described and f"<{name}>" not in described for name in SECTIONS)
    sections = sections_of(example.partition("</state_snapshot>")[0])
    assert tuple(sections) == SECTIONS
    for mark in ("[DONE]", "[IN PROGRESS]", "[TODO]", "Next:"):
        assert mark in sections["task_state"]
    for mark in ("CWD:", "CREATED", "CHANGED", "READ"):
        assert mark in sections["file_system_state"]
    assert "[found]" in sections["active_constraints"]


def test_the_length_to_aim_at_is_asked_for() -> None:
    (content,) = summary_contents([], previous_snapshot=None, guidance="ports", nonce=NONCE, words=1_200)
    assert "about 1,200 words" in content.parts[-1]["text"]
    assert content.parts[-1]["text"].endswith("ports")


def test_the_instruction_names_the_seven_sections_in_order_and_the_private_scratchpad() -> None:
    places = [SYSTEM_INSTRUCTION.index(f"<{name}>") for name in SECTIONS]
    assert places == sorted(places)
    assert "<scratchpad>" in SYSTEM_INSTRUCTION

"""What servers answer, as text and parts; prompts and resources as people call them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from gemini_companion.engine.mcp.listed import (
    ListedPrompt,
    PromptArgument,
    answer_in,
    listed_prompts,
    listed_resources,
    mended,
)
from gemini_companion.engine.mcp.naming import MOST_TEXT, arguments_of, mentioned_resource
from gemini_companion.engine.mcp.results import MAX_MEDIA_BYTES, prompt_of, resource_of, result_of

DATA = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
PDF = base64.b64encode(b"%PDF-1.7").decode()
WAV = base64.b64encode(b"RIFF....WAVE").decode()


def text_of(*blocks: Any, **more: Any) -> str:
    return result_of({"content": list(blocks), **more}).text


def test_texts_links_and_embedded_resources_become_text_and_media_parts() -> None:
    answered = result_of(
        {
            "content": [
                {"type": "text", "text": "one"},
                {"type": "image", "data": DATA, "mimeType": "image/png"},
                {"type": "resource_link", "uri": "x://y", "name": "y", "description": "the y"},
                {"type": "resource", "resource": {"uri": "x://z", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "x://p", "mimeType": "application/pdf", "blob": PDF}},
                {"type": "audio", "data": WAV, "mimeType": "audio/wav"},
            ]
        }
    )
    assert answered.text == "one\n[Resource x://y: y the y]\n[Resource x://z]\ninside"
    kinds = [part["inlineData"]["mimeType"] for part in answered.media]
    assert kinds == ["image/png", "application/pdf", "audio/wav"]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image", "data": "no base64!", "mimeType": "image/png"}, "damaged"),
        ({"type": "image", "data": DATA, "mimeType": "image/svg+xml"}, "cannot be shown"),
        ({"type": "image", "data": "A" * (MAX_MEDIA_BYTES * 2), "mimeType": "image/png"}, "too large"),
        ({"type": "image", "mimeType": "image/png"}, "cannot be shown"),
        ({"type": "image", "data": "", "mimeType": "image/png"}, "empty"),
        ({"type": "image", "data": PDF, "mimeType": "image/png"}, "of no such kind"),
        ({"type": "image", "data": "AAAA", "mimeType": "image/png"}, "of no such kind"),
        ({"type": "hologram"}, "hologram"),
    ],
)
def test_what_cannot_be_shown_is_said(block: dict[str, Any], words: str) -> None:
    answered = result_of({"content": [block]})
    assert words in answered.text
    assert answered.media == ()


GOOD = {"type": "text", "text": "Created ISSUE-77"}


@pytest.mark.parametrize(
    "raw",
    [
        {"content": [GOOD, {"type": "video", "data": "x", "mimeType": "video/mp4"}]},
        {"content": [GOOD, {"type": "text", "text": None}, {"type": "text", "text": 42}, None, 3]},
        {"content": [{**GOOD, "annotations": {"priority": 5, "audience": "all"}}]},
        {"content": [GOOD], "structuredContent": [1, 2]},
        {"content": [GOOD, {"type": "resource", "resource": {"uri": "x:y"}}]},
        {"content": [GOOD, {"type": "resource_link", "uri": 5}], "_meta": 3, "isError": "no"},
        {"content": "Created ISSUE-77"},
        {"content": GOOD},
        {"structuredContent": "ISSUE-77"},
        {"structuredContent": ["ISSUE-77"]},
        {"toolResult": "ISSUE-77"},
        {"issue": {"id": "ISSUE-77"}},
    ],
)
def test_a_piece_that_cannot_be_read_costs_itself_alone(raw: dict[str, Any]) -> None:
    answered = result_of(answer_in(mended(raw)["_meta"]))
    assert "ISSUE-77" in answered.text
    assert not answered.is_error


def test_a_piece_that_cannot_be_read_is_shown_as_far_as_it_is_short() -> None:
    assert '{"type": "hologram", "depth": 3}' in result_of({"content": [{"type": "hologram", "depth": 3}]}).text
    assert len(result_of({"content": [{"type": "hologram", "data": "x" * 10**6}]}).text) < 10_000


def test_structured_content_is_told_once() -> None:
    assert text_of({"type": "text", "text": '{"n": 1}'}, structuredContent={"n": 1}) == '{"n": 1}'
    assert text_of(structuredContent={"n": 1}) == '{"n": 1}'
    assert text_of({"type": "text", "text": "12"}, structuredContent={"result": 12}) == "12"
    assert text_of({"type": "text", "text": "see"}, structuredContent={"n": 1}) == 'see\n{"n": 1}'


def test_structured_content_that_repeats_the_blocks_under_a_name_of_its_own_is_told_once() -> None:
    assert text_of({"type": "text", "text": "a\nb"}, structuredContent={"content": "a\nb"}) == "a\nb"
    picture = {"type": "image", "data": DATA, "mimeType": "image/png"}
    answered = result_of({"content": [picture], "structuredContent": {"content": [picture]}})
    assert (answered.text, len(answered.media)) == ("", 1)


def test_no_picture_goes_along_as_text_whatever_the_structured_content_says_besides() -> None:
    picture = {"type": "image", "data": DATA, "mimeType": "image/png"}
    file = {"type": "resource", "resource": {"uri": "x:1", "blob": DATA, "mimeType": "image/png"}}
    for block in (picture, file):
        answered = result_of({"content": [block], "structuredContent": {"pages": [block], "count": 1}})
        assert DATA not in answered.text
        assert '"count": 1' in answered.text
        assert len(answered.media) == 1


@pytest.mark.parametrize("raw", [{}, {"content": "x"}, {"content": [None, 3, "x"]}, {"content": [{"type": None}]}])
def test_answers_that_are_none_are_survived(raw: dict[str, Any]) -> None:
    assert result_of(raw).media == ()
    assert not raw or "x" in result_of(raw).text or "None" in result_of(raw).text
    assert resource_of(raw).text == ""
    assert prompt_of(raw).text == ""


def test_errors_are_told_from_results() -> None:
    assert result_of({"content": [{"type": "text", "text": "no"}], "isError": True}).is_error


def test_a_prompts_messages_are_one_text_and_say_who_speaks() -> None:
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Do it."}},
        {"role": "assistant", "content": {"type": "text", "text": "How?"}},
    ]
    assert prompt_of({"messages": messages}).text == "Do it.\n\n[assistant] How?"


PROMPT = ListedPrompt(
    name="poem",
    wire_name="poem",
    description="",
    arguments=(PromptArgument(name="topic", required=True), PromptArgument(name="tone")),
)


@pytest.mark.parametrize(
    ("rest", "args"),
    [
        ('--topic="green tea" --tone=dry', {"topic": "green tea", "tone": "dry"}),
        ("tea very dry", {"topic": "tea", "tone": "very dry"}),
        ('"green tea"', {"topic": "green tea"}),
        ("--tone='a b' tea", {"tone": "a b", "topic": "tea"}),
        (r'--topic="say \"hi\""', {"topic": 'say "hi"'}),
    ],
)
def test_arguments_are_read_by_name_and_by_place(rest: str, args: dict[str, str]) -> None:
    assert arguments_of(PROMPT, rest) == args


def test_missing_and_unknown_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="needs topic"):
        arguments_of(PROMPT, "--tone=dry")
    with pytest.raises(ValueError, match="more than 100,000"):
        arguments_of(PROMPT, "x" * (MOST_TEXT + 1))
    with pytest.raises(ValueError, match="takes no arguments"):
        arguments_of(ListedPrompt(name="p", wire_name="p", description="", arguments=()), "x")


def test_mentions_are_told_from_text() -> None:
    assert mentioned_resource("git:file:///a b") == ("git", "file:///a b")
    assert mentioned_resource("a.py") is None


def test_lists_keep_what_can_be_used() -> None:
    names = ["write a poem", "write-a-poem", "write a poem", "write-a-poem1", ""]
    prompts = listed_prompts([*({"name": name} for name in names), 3])
    assert [(one.name, one.wire_name) for one in prompts] == [
        ("write-a-poem", "write a poem"),
        ("write-a-poem1", "write-a-poem"),
        ("write-a-poem11", "write-a-poem1"),
    ]
    resources = listed_resources([{"uri": "a://b"}, {"uri": "a://b"}, {"uri": "x\ny"}, {}])
    assert [one.uri for one in resources] == ["a://b"]


def test_a_result_of_a_call_is_never_taken_for_a_list() -> None:
    result = {"content": [], "tools": [{"odd": 1}]}
    assert answer_in(mended(result)["_meta"]) == result
    listed = {"tools": [3, {"name": "x"}], "nextCursor": 5}
    assert mended(listed)["tools"] == [{"name": "x", "inputSchema": {"type": "object"}, "annotations": {}}]
    assert "nextCursor" not in mended(listed)
    for odd in (
        {"messages": ["hm"]},
        {"contents": []},
        {"tools": "none"},
        {"capabilities": {}},
    ):  # a call may be answered so
        assert mended(odd)["content"] == []
        assert answer_in(mended(odd)["_meta"]) == odd


def test_of_an_answer_in_many_pieces_each_is_shown() -> None:
    text = text_of(*({"type": "text", "text": f"hit {number}"} for number in range(3_000)))
    assert text.splitlines() == [f"hit {number}" for number in range(3_000)]


ODD = {
    "no-break": "10\u00a0000\u00a0EUR",
    "ideographic": "設定\u3000値",
    "joiner": "👨\u200d👩",
    "non-joiner": "می\u200cخواهم",
    "narrow": "1\u202f234",
    "form feed": "a\x0cb",
    "soft hyphen": "co\u00adop",
    "byte order mark": "\ufeffhead",
    "private": "\ue0b0 prompt",
    "line separator": "a\u2028b",
    "carriage return": "a\r\nb\rc",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_texts_of_servers_arrive_as_they_are(text: str) -> None:
    block = {"type": "text", "text": text}
    assert result_of({"content": [block]}).text == text
    assert result_of({"content": [block], "structuredContent": {"result": text}}).text == text
    assert resource_of({"contents": [{"uri": "x:1", "text": text}]}).text == text
    assert prompt_of({"messages": [{"role": "user", "content": block}]}).text == text


def test_what_steers_a_terminal_is_written_out_and_told_once() -> None:
    text = "\x1b[31mred\x1b[0m"
    shown = r"\x1b[31mred\x1b[0m"
    assert text_of({"type": "text", "text": text}, structuredContent={"result": text}) == shown
    assert text_of({"type": "text", "text": text}, structuredContent={"content": text}) == shown

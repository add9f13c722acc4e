"""JSON in and out."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import well_formed
from gemini_companion.protocol.codec import (
    MAX_DEPTH,
    decode,
    decode_body,
    decode_params,
    encode_body,
    is_too_deep,
)
from gemini_companion.protocol.errors import RpcError
from tests.support.examples import examples


class Leaf(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    turn_id: str
    count: int = 0
    share: float = 0.0
    view: Literal["model", "transcript"] = "model"


class Tree(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    leaves: tuple[Leaf, ...] = ()
    prompt: str | tuple[dict[str, Any], ...] = ""


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"leaves": [{"turnId": "t"}, {}]}, "$.leaves[1].turnId"),
        ({"leaves": [{"turnId": 5}]}, "$.leaves[0].turnId"),
        ({"leaves": [{"turnId": "t", "count": True}]}, "$.leaves[0].count"),
        ({"leaves": [{"turnId": "t", "count": 1.5}]}, "$.leaves[0].count"),
        ({"leaves": [{"turnId": "t", "count": "1"}]}, "$.leaves[0].count"),
        ({"leaves": [{"turnId": "t", "share": "1"}]}, "$.leaves[0].share"),
        ({"leaves": [{"turnId": "t", "view": "sideways - at `$.x`"}]}, "$.leaves[0].view"),
        ({"leaves": [{"turn_id": "t"}]}, "$.leaves[0].turnId"),
        ({"leaves": "abc"}, "$.leaves"),
        ({"leaves": {"0": {}}}, "$.leaves"),
        ({"prompt": [5]}, "$.prompt[0]"),
        ({"prompt": None}, "$.prompt"),
        ("text", "$"),
        (5, "$"),
    ],
)
def test_what_is_missing_or_ill_typed_is_refused_with_its_path_as_the_wire_spells_it(raw: object, path: str):
    with pytest.raises(InvalidInput) as caught:
        decode_params(Tree, raw)
    assert caught.value.path == path
    assert path in caught.value.message


def test_a_path_starts_where_the_value_stands():
    with pytest.raises(InvalidInput, match=r"\$\.arguments\[0\]\.turnId: missing"):
        decode(Leaf, {}, root="$.arguments[0]")


def test_a_refusal_quotes_little_of_what_was_sent():
    with pytest.raises(InvalidInput) as caught:
        decode(Leaf, {"turnId": "t", "view": "x" * 10_000})
    assert len(caught.value.message) < 400


def test_unknown_fields_are_ignored():
    assert decode_params(Leaf, {"turnId": "t", "later": {"deep": 1}}) == Leaf(turn_id="t")


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_no_params_and_lua_s_empty_table_are_an_empty_object(nothing: object):
    assert decode_params(Tree, nothing) == Tree()


def test_params_by_position_are_refused():
    with pytest.raises(InvalidInput, match="by name"):
        decode_params(Tree, [1])


def test_a_whole_number_is_an_integer_however_it_is_written():
    leaf = decode(Leaf, decode_body(b'{"turnId": "t", "count": 3.0, "share": 2}'))
    assert (leaf.count, type(leaf.count), leaf.share) == (3, int, 2.0)


def test_a_whole_number_too_large_to_be_exact_is_not():
    with pytest.raises(InvalidInput):
        decode(Leaf, {"turnId": "t", "count": 1e300})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{nope", -32700),
        (b"{} {}", -32700),
        (b'{"a": NaN}', -32700),
        (b"9" * 5000, -32700),
        (b'"\xff"', -32700),
        (b'"\xed\xa0\x80"', -32700),
        (b'{"a": "\\ud800', -32700),
        (b"[" * 100_000, -32600),
        (b'{"a":' * 100_000, -32600),
    ],
)
def test_a_body_that_is_no_json_is_refused(body: bytes, code: int):
    with pytest.raises(RpcError) as caught:
        decode_body(body)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb'"a\ud83db"', r"a\ud83db"),
        (rb'"a\uDE00"', r"a\ude00"),
        (rb'"\ud83d\ud83d\ude00"', r"\ud83d" "😀"),
        (rb'"\ud83d\u0041"', r"\ud83dA"),
        (rb'"\\ud83d \ud83d"', r"\ud83d \ud83d"),
        (rb'"\\\ud83d\n"', "\\\\ud83d\n"),
    ],
)
def test_half_an_emoji_is_written_out(body: bytes, text: str):
    assert decode_body(body) == text


def test_half_an_emoji_in_a_document_keeps_its_place_for_columns_count_it():
    body = rb'{"method": "textDocument/didChange", "params": {"text": "a\ud83db"}}'
    assert decode_body(body)["params"] == {"text": "a\ufffdb"}


@given(st.text(st.characters(), max_size=20) | st.text(st.sampled_from('\ud83d\ude00\\u"n\nd8'), max_size=12))
@settings(max_examples=examples(200))
def test_any_text_that_python_can_hold_comes_out_and_in_as_unicode(text: str):
    body = json.dumps(text).encode()
    taken = decode_body(body)
    assert taken == well_formed(text)
    assert json.loads(encode_body({"result": [text, {text: 1}]}).decode()) == {"result": [taken, {taken: 1}]}


@given(JSON)
@settings(max_examples=examples(100))
def test_a_body_decodes_to_what_its_json_says(value: object):
    assert decode_body(json.dumps(value).encode()) == value


@given(st.binary(max_size=60) | st.binary(max_size=30).map(lambda tail: b'{"jsonrpc": "2.0", "a": ' + tail))
@settings(max_examples=examples(200))
def test_arbitrary_bytes_are_json_or_refused(body: bytes):
    try:
        decode_body(body)
    except RpcError as error:
        refused = error
    else:
        return
    assert refused.code in (-32700, -32600)


@given(JSON)
@settings(max_examples=examples(100))
def test_arbitrary_json_is_decoded_or_refused_as_invalid_input(value: object):
    try:
        decode_params(Tree, value)
    except InvalidInput as error:
        refused = error
    else:
        return
    assert refused.path.startswith("$")


def nested(levels: int, kind: str) -> bytes:
    opening, closing = ("[", "]") if kind == "array" else ('{"a":', "}")
    return (opening * levels + "1" + closing * levels).encode()


@pytest.mark.parametrize("kind", ["array", "object"])
def test_depth_counts_every_level_of_arrays_and_objects(kind: str):
    for levels, too_deep in ((1, False), (MAX_DEPTH, False), (MAX_DEPTH + 1, True), (500, True)):
        body = nested(levels, kind)
        assert is_too_deep(body, decode_body(body)) is too_deep


def test_brackets_in_a_text_are_no_levels():
    body = json.dumps({"text": "[{" * 5000, "flat": [[] for _ in range(5000)]}).encode()
    assert not is_too_deep(body, decode_body(body))


def test_structs_go_out_by_their_wire_names_and_huge_ids_come_back_whole():
    body = encode_body({"id": 10**40, "result": Leaf(turn_id="t", share=float("nan"))})
    assert json.loads(body) == {"id": 10**40, "result": {"turnId": "t", "count": 0, "share": None, "view": "model"}}

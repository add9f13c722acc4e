"""JSON with comments: what is read, what is refused, and where a key stands."""

import json
from contextlib import suppress
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.settings.jsonc import JsonFault, locate, parse, position, strip_comments
from gemini_companion.settings.jsonc_edit import NotEditable, with_value, without_value
from gemini_companion.settings.objects import KeyPath, holds, without

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.text(max_size=8)
    | st.sampled_from(["// no", "/* no */", '"', "\\", "{[", "]},:"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.sampled_from(["//", "/*", "a.b"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_comments_are_blanked_and_every_other_character_keeps_its_place():
    text = '{ // one\r\n  "a": /* two\n lines */ 1 }'
    assert strip_comments(text) == '{       \r\n  "a":       \n          1 }'


@pytest.mark.parametrize("text", ['"http://x"', '"/* kept */"', r'"\" // kept"', r'"\\"'])
def test_what_looks_like_a_comment_inside_a_string_is_left_alone(text: str):
    assert strip_comments(text) == text


@given(json_values)
def test_json_without_comments_reads_as_the_standard_says(value: object):
    assert parse(json.dumps(value)) == value


@given(json_values, st.text(st.characters(exclude_characters="*\r\n", exclude_categories=["Cs"]), max_size=9))
def test_comments_between_tokens_change_nothing(value: object, remark: str):
    text = json.dumps(value, indent=2).replace("\n", f"/*{remark}*/ //{remark}\n")
    parse_back = parse(f"// {remark}\n{text}\n// {remark}")
    # a string never holds a line break in JSON, so only tokens were parted
    assert parse_back == value


@given(st.text(st.sampled_from('{}[]:,"\\/*\n 1ae'), max_size=40))
def test_any_text_is_either_read_or_refused_at_a_place_inside_it(text: str):
    refused: JsonFault | None = None
    try:
        parse(text)
    except JsonFault as fault:
        refused = fault
    assert refused is None or (refused.what and 0 <= refused.offset <= len(text))


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ('{\n  "a": 1,,\n}', 2, 10, "property name"),
        ("{,}", 1, 2, "property name"),
        ("[1, [,]]", 1, 6, "expecting value"),
        ('{"a": 1 // x\n "b": 2}', 2, 2, "delimiter"),
        ('{\n "a": /* open\n}', 2, 7, "never closed"),
        ('{"a": /*/ 1}', 1, 7, "never closed"),
        ('{"a": NaN}', 1, 7, "NaN"),
        ('{"NaN": 1,\n "a": -Infinity}', 2, 7, "-Infinity"),
        ("", 1, 1, "expecting value"),
    ],
)
def test_what_is_no_json_is_refused_with_line_and_column(text: str, line: int, column: int, what: str):
    with pytest.raises(JsonFault) as refused:
        parse(text)
    assert position(text, refused.value.offset) == (line, column)
    assert what in refused.value.what


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "9" * 100_000, "1e999999", '"' + '\\"' * 400_000, "/*/" * 300_000]
)
@pytest.mark.timeout(60)  # the square of these lengths would take hours
def test_hostile_texts_are_settled_in_one_pass(text: str):
    with suppress(JsonFault):
        parse(text)


def test_a_key_is_located_in_its_own_object_and_the_last_of_equal_keys_counts():
    text = '{"name": 1, "x": {"name": "name", "list": [0, [5], {"name": 2}]},\n "name": 3}'
    starts: dict[KeyPath, str] = {
        ("name",): '"name": 3',
        ("x", "name"): '"name": "name"',
        ("x", "list", 2, "name"): '"name": 2',
        ("x", "list", 1): "[5]",
    }
    found = locate(text, [*starts, ("x", "missing"), ()])
    assert found.keys() == starts.keys()
    assert all(text.startswith(starts[path], offset) for path, offset in found.items())
    assert position(text, found[("name",)]) == (2, 2)


@given(json_values)
def test_every_key_of_a_document_is_found_where_it_stands(value: object):
    text = json.dumps(value, indent=1)
    starts: dict[KeyPath, str] = {}

    def walk(held: object, path: KeyPath) -> None:
        if path:
            starts[path] = json.dumps(path[-1]) if isinstance(path[-1], str) else json.dumps(held)[:1]
        for step, inner in (
            held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        ):
            walk(inner, (*path, step))

    walk(value, ())
    found = locate(text, starts)
    assert found.keys() == starts.keys()
    assert all(text.startswith(starts[path], offset) for path, offset in found.items())


# --- changing one value

paths = st.lists(st.text(max_size=4) | st.sampled_from(["//", "a", "b"]), min_size=1, max_size=3).map(tuple)
objects = st.dictionaries(st.text(max_size=4) | st.sampled_from(["a", "b", "//"]), json_values, max_size=4)


@given(objects, paths, json_values, st.sampled_from([None, 2]))
def test_a_value_is_set_and_removed_and_nothing_else_changes(
    document: dict[str, object], path: tuple[str, ...], value: object, indent: int | None
):
    text = json.dumps(document, indent=indent, ensure_ascii=False).replace("{\n", "{ // kept\n")
    try:
        changed = with_value(text, path, value)
    except NotEditable:
        assert any(
            holds(document, path[:length]) and not isinstance(_at(document, path[:length]), dict)
            for length in range(1, len(path))
        )
        return
    assert _at(parse(changed), path) == value
    removed = without_value(changed, path)
    assert not holds(cast("dict[str, object]", parse(removed)), path)
    if holds(document, path):
        assert parse(removed) == without(document, path)
        assert parse(without_value(text, path)) == without(document, path)
    if not any(isinstance(inner, dict) for inner in (value, _at(document, path) if holds(document, path) else None)):
        assert changed.count("// kept") == text.count("// kept")


def _at(value: object, path: tuple[str, ...]) -> object:
    for step in path:
        assert isinstance(value, dict)
        value = value[step]
    return value


def test_a_key_that_stands_twice_is_not_removed_by_halves():
    with pytest.raises(NotEditable):
        without_value('{"a": 1, "a": 2}', ("a",))


def test_removing_a_key_leaves_the_lines_and_comments_of_the_others():
    text = '{\n  // first\n  "a": 1,\n  "b": {"c": 2}, // second\n  "d": 3\n}\n'
    assert without_value(text, ("b", "c")) == text.replace('"c": 2', "")
    assert without_value(text, ("d",)) == '{\n  // first\n  "a": 1,\n  "b": {"c": 2}  // second\n}\n'
    assert without_value(text, ("a",)) == text.replace('  "a": 1,\n', "")

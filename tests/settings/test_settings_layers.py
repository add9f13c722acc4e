"""What a layer of settings may say in its place, and how layers lie over each other."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.settings.layers import (
    DEPTH_LIMIT,
    EXPANSION_LIMIT,
    UnusableLayer,
    admit,
    expand,
    may_expand,
    overreach,
    tidy,
    unprintable,
)
from gemini_companion.settings.objects import is_deeper, merge, spelled, without

KEYS = [
    "model",
    "name",
    "context",
    "fileName",
    "companion",
    "ide",
    "trustedFolders",
    "hooks",
    "mcpServers",
    "tools",
    "telemetry",
    "x",
]
layers = st.dictionaries(
    st.sampled_from(KEYS),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=6)
        | st.sampled_from(["$A", "${A}", "$missing", "$$A$"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=10,
    ),
    max_size=6,
)

FULL: dict[str, Any] = {
    "model": {"name": "m"},
    "context": {"fileName": "A.md", "importFormat": "flat"},
    "companion": {"ide": {"maxOpenFiles": 3}, "trustedFolders": ["/"], "sessions": {"retentionDays": 1}},
    "hooks": {"PreCompress": [1]},
    "mcpServers": {"s": {}},
    "tools": {"allowed": ["write_file"]},
    "telemetry": {"enabled": True},
    "other": 1,
}


def test_null_means_not_set_at_every_depth_of_objects():
    assert tidy({"a": None, "b": {"c": None, "d": 1}, "e": [None]}) == {"b": {"d": 1}, "e": [None]}


def test_texts_that_nothing_can_hold_are_found_in_keys_lists_and_values():
    layer = {"\ud800": 1, "a": ["x\udfff", "ok\U0001f600"], "b": {"c": "\0"}}
    assert [misfit.path for misfit in unprintable(layer)] == [("\ud800",), ("a", 0), ("b", "c")]


@pytest.mark.parametrize("value", [[], "x", 3, True, [{}]])
def test_a_layer_that_is_no_object_is_unusable(value: object):
    with pytest.raises(UnusableLayer, match="object"):
        tidy(value)


def test_a_layer_that_is_nested_too_deeply_is_unusable():
    value: Any = {}
    for _ in range(DEPTH_LIMIT - 1):
        value = {"a": value}
    assert tidy(value) == value
    with pytest.raises(UnusableLayer, match="deeper"):
        tidy({"a": value})
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(UnusableLayer, match="deeper"):
        tidy({"a": deep})


def test_the_depth_of_empty_containers_counts():
    assert not is_deeper({"a": []}, 2)
    assert is_deeper({"a": []}, 1)
    assert not is_deeper(1, 0)


def test_from_an_untrusted_workspace_only_harmless_keys_are_read():
    assert admit(FULL, "workspace", trusted=False) == {"context": {"importFormat": "flat"}}


def test_a_trusted_workspace_sets_everything_but_whom_to_trust():
    expected = {**FULL, "companion": {"ide": {"maxOpenFiles": 3}, "sessions": {"retentionDays": 1}}}
    assert admit(FULL, "workspace", trusted=True) == expected
    assert admit(FULL, "editor", trusted=True) == expected


def test_in_an_untrusted_workspace_the_editor_starts_and_sends_nothing():
    admitted = admit(FULL, "editor", trusted=False)
    assert admitted.keys() == {"model", "context", "companion", "tools", "other"}
    assert admitted["tools"] == {}
    assert "trustedFolders" not in admitted["companion"]


def test_the_users_own_file_is_read_whole_whatever_the_workspace_is():
    assert admit(FULL, "user", trusted=False) == FULL


def test_a_layer_that_vouches_for_itself_is_reported():
    assert [misfit.key for misfit in overreach(FULL, "workspace")] == ["companion.trustedFolders"]
    assert overreach(FULL, "user") == []


def test_variables_are_expanded_in_texts_and_not_in_keys():
    env = {"A": "1", "B_2": "$A"}
    layer = {"$A": "x$A", "b": ["${B_2}!", "$B_2"], "c": {"d": "$A$A"}, "e": 3}
    assert expand(layer, env) == {"$A": "x1", "b": ["$A!", "$A"], "c": {"d": "11"}, "e": 3}


@pytest.mark.parametrize("text", ["$missing", "${missing}", "$", "$$", "${}", "${A", "$1", "a$"])
def test_what_names_no_known_variable_stays_as_written(text: str):
    assert expand({"k": text}, {"A": "1"}) == {"k": text}


def test_variables_that_blow_a_layer_up_make_it_unusable():
    big = "x" * (EXPANSION_LIMIT // 2)
    assert len(expand({"k": "$A$A"}, {"A": big})["k"]) == EXPANSION_LIMIT
    with pytest.raises(UnusableLayer, match="variables"):
        expand({"k": "$A$A", "l": "$A"}, {"A": big})


def test_an_untrusted_workspace_never_sees_the_environment():
    assert [may_expand(place, trusted=False) for place in ("user", "workspace", "editor")] == [True, False, False]
    assert all(may_expand(place, trusted=True) for place in ("user", "workspace", "editor"))


def test_later_layers_win_key_by_key_and_lists_replace_each_other():
    lower = {"a": {"x": 1, "y": 2}, "l": [1, 2], "s": 1}
    upper = {"a": {"y": 3, "z": 4}, "l": [9], "s": {"t": 1}}
    assert merge(lower, upper) == {"a": {"x": 1, "y": 3, "z": 4}, "l": [9], "s": {"t": 1}}


def test_the_lists_of_hooks_are_joined_across_layers():
    assert merge(
        {"hooks": {"E": [1]}, "x": {"hooks": {"E": [1]}}}, {"hooks": {"E": [2], "F": [3]}, "x": {"hooks": {"E": [2]}}}
    ) == {
        "hooks": {"E": [1, 2], "F": [3]},
        "x": {"hooks": {"E": [2]}},
    }


@given(layers, layers)
def test_merging_changes_neither_layer_and_keeps_every_key(lower: dict[str, Any], upper: dict[str, Any]):
    before = copy.deepcopy((lower, upper))
    merged = merge(lower, upper)
    assert merged.keys() == lower.keys() | upper.keys()
    assert repr((lower, upper)) == repr(before)


@given(layers)
def test_what_an_untrusted_workspace_sets_is_part_of_what_a_trusted_one_would(layer: dict[str, Any]):
    trusted, untrusted = admit(layer, "workspace", trusted=True), admit(layer, "workspace", trusted=False)
    assert repr(merge(trusted, untrusted)) == repr(trusted)
    assert untrusted.keys() <= {"context", *(key for key, held in layer.items() if not isinstance(held, dict))}


def test_cutting_a_key_away_leaves_its_neighbours_and_tolerates_its_absence():
    assert without({"a": {"b": 1, "c": 2}}, ("a", "b")) == {"a": {"c": 2}}
    assert without({"a": 3}, ("a", "b")) == {"a": 3}


def test_a_path_is_spelled_as_people_write_it():
    assert spelled(("context", "fileName", 1)) == "context.fileName[1]"
    assert spelled(()) == ""


def test_a_default_stands_for_a_variable_that_is_not_set_and_an_empty_value_counts():
    env = {"A": "1", "EMPTY": ""}
    layer = {"k": ["${A:-x}", "${NONE:-x y}", "${NONE:-}", "${EMPTY:-x}", "${NONE:-$A}"]}
    assert expand(layer, env) == {"k": ["1", "x y", "", "", "$A"]}

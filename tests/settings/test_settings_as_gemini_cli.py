"""Layers merged, variables replaced and old keys renamed as Gemini CLI does it, by vectors recorded from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from gemini_companion.settings.migrations import migrated
from gemini_companion.settings.objects import merge, value_at
from tests.support.golden import golden_cases
from tests.support.settings_desk import Desk

VECTORS: Final = golden_cases("peer_context", "loadSettings")

DIFFERENCES: Final = {
    "set_precedence": "the default of a key is in `Settings`, not in the document: 0.5 there",
    "set_hooks_concat": "defaults of keys that we do not read (`hooksConfig.enabled`, empty lists) are left out",
    "set_env": "the same; a text that names no model would count as not set",
    "set_broken_user": "Gemini CLI does not start; here everything is asked about until the file is mended",
    "set_wrong_type": "Gemini CLI warns and uses a number as a name; here a wrong value costs its key",
    "set_migrate": "Gemini CLI writes the new keys into the file; here the file stays as it is",
}
"""Where ours differs from the vectors, and why."""


def load_layers(tmp_path: Path, given: dict[str, Any]) -> tuple[Desk, Any]:
    desk = Desk(tmp_path, given.get("env"))
    for layer, put in (
        ("systemDefaults", desk.system_defaults),
        ("user", desk.user),
        ("workspace", desk.work),
        ("system", desk.system),
    ):
        if layer in given:
            put(given[layer])
    return desk, desk.load(trusted=given["trusted"])


@pytest.mark.parametrize("case", VECTORS)
def test_settings_come_out_as_they_do_there(tmp_path: Path, case: dict[str, Any]):
    given, expected = case["input"], case["expected"]["result"]
    desk, found = load_layers(tmp_path, given)
    if case["id"] in ("set_broken_user", "set_wrong_type"):
        assert found.settings.model_name is None
        assert found.settings.held == ((str(desk.user_file),) if case["id"] == "set_broken_user" else ())
        assert all(problem.message.startswith(str(desk.user_file)) for problem in found.problems)
        assert found.problems
        return
    assert found.problems == ()
    for key, value in expected["merged"].items():
        held = value_at(found.document, tuple(key.split(".")))
        if key == "mcpServers":  # those of the person's own settings are filled in where they are started
            filled = {one.name: json.loads(msgspec.json.encode(one)) for one in found.settings.mcp.servers}
            held = {name: {field: filled[name][field] for field in fields} for name, fields in value.items()}
        if key == "model.compressionThreshold" and held is None:
            held = found.settings.compression_threshold
        assert is_within(held, value), (key, held, value)
    if "userFile" in expected:
        assert json.loads(desk.user_file.read_text("utf-8")) == given["user"], "nobody asked for a new file"
        assert without_empty(migrated(given["user"])) == without_empty(expected["userFile"])


def is_within(ours: Any, theirs: Any) -> bool:
    """Whether ours is what was set there, defaults and empty lists of keys that nobody set left out."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return all(key in theirs and is_within(value, theirs[key]) for key, value in ours.items())
    return ours == theirs


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        held = {key: without_empty(inner) for key, inner in value.items()}
        return {key: inner for key, inner in held.items() if inner != {}}
    return value


def test_every_difference_is_of_a_vector_that_there_is():
    assert DIFFERENCES.keys() <= {vector.id for vector in VECTORS} or VECTORS[0].id == "missing"


def test_a_server_is_one_value_and_the_later_one_counts_whole():
    lower = {"mcpServers": {"a": {"command": "x", "trust": True}, "b": {"command": "y"}}}
    upper = {"mcpServers": {"a": {"url": "http://h"}}}
    assert merge(lower, upper) == {"mcpServers": {"a": {"url": "http://h"}, "b": {"command": "y"}}}


def test_named_lists_are_joined_or_united_and_all_others_replaced():
    lower = {
        "context": {"includeDirectories": ["a"], "fileName": ["A"]},
        "tools": {"exclude": ["x", "y"], "core": ["x"]},
        "extensions": {"disabled": ["e"]},
        "policyPaths": ["p"],
    }
    upper = {
        "context": {"includeDirectories": ["a"], "fileName": ["B"]},
        "tools": {"exclude": ["y", "z"], "core": ["y"]},
        "extensions": {"disabled": ["e", "f"]},
        "policyPaths": ["q"],
    }
    assert merge(lower, upper) == {
        "context": {"includeDirectories": ["a", "a"], "fileName": ["B"]},
        "tools": {"exclude": ["x", "y", "z"], "core": ["y"]},
        "extensions": {"disabled": ["e", "f"]},
        "policyPaths": ["p", "q"],
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"tools": {"approvalMode": 3}}, {"tools": {"approvalMode": 3}}),
        ({"general": 7, "tools": {"approvalMode": "plan"}}, {"general": 7, "tools": {}}),
        ({"experimental": {"plan": "yes"}}, {"experimental": {"plan": "yes"}}),
        (
            {"general": {"disableAutoUpdate": True, "enableAutoUpdate": True}},
            {"general": {"enableAutoUpdate": True}},
        ),
    ],
)
def test_old_keys_of_other_types_stay_and_a_new_key_counts_before_its_old_one(old: Any, new: Any):
    assert migrated(old) == new

"""What is wrong with a layer is described per key, in words, and the schema is documented throughout."""

import ast
import inspect
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.prompts.system import OLDER_NAMES, SECTIONS
from gemini_companion.settings import schema
from gemini_companion.settings.objects import KeyPath, nested
from gemini_companion.settings.schema import EXPECTED, SettingsFile
from gemini_companion.settings.schema_companion import PromptSettings
from gemini_companion.settings.validation import MISFIT_LIMIT, misfits


def declared(struct: type[msgspec.Struct], path: KeyPath = ()) -> list[KeyPath]:
    found: list[KeyPath] = []
    for field in msgspec.structs.fields(struct):
        here = (*path, field.encode_name)
        found.append(here)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            found += declared(field.type, here)
    return found


DECLARED = declared(SettingsFile)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["tree", "/a", "~/b", "a b"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("layer", "key", "what"),
    [
        ({"model": {"compressionThreshold": "half"}}, "model.compressionThreshold", "expected a number, got a text"),
        ({"model": {"compressionThreshold": 1.01}}, "model.compressionThreshold", "at most 1"),
        ({"model": {"compressionThreshold": float("nan")}}, "model.compressionThreshold", "at least 0"),
        (
            {"model": {"compressionThreshold": True}},
            "model.compressionThreshold",
            "expected a number, got true or false",
        ),
        ({"model": {"tokenLimit": 0}}, "model.tokenLimit", "at least 1"),
        ({"model": {"tokenLimit": 2.5}}, "model.tokenLimit", "expected a whole number"),
        ({"model": {"name": "two words"}}, "model.name", "without spaces"),
        ({"model": {"name": "name\n"}}, "model.name", "without spaces"),
        (
            {"model": {"summarizeToolOutput": {"ok": {}, "bad": {"tokenBudget": "x"}}}},
            "model.summarizeToolOutput.bad.tokenBudget",
            "whole number",
        ),
        ({"model": 3}, "model", "expected an object, got a whole number"),
        ({"context": {"fileName": "../secret"}}, "context.fileName", "the name of a file"),
        ({"context": {"fileName": ["ok.md", ".."]}}, "context.fileName[1]", "the name of a file"),
        ({"context": {"importFormat": "forest"}}, "context.importFormat", '"tree" or "flat"'),
        ({"mcpServers": {"a": {}, "b.c": 3}}, "mcpServers.b.c", "expected an object"),
        ({"model": {"local": "small.gguf"}}, "model.local", "GGUF file"),
        ({"model": {"local": "/a\x00b.gguf"}}, "model.local", "GGUF file"),
        ({"companion": {"trustedFolders": ["/ok", "code"]}}, "companion.trustedFolders[1]", "absolute path"),
        ({"companion": {"ide": {"maxOpenFiles": 101}}}, "companion.ide.maxOpenFiles", "at most 100"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_its_key_and_what_was_expected(
    layer: dict[str, Any], key: str, what: str
):
    (misfit,) = misfits(layer)
    assert misfit.key == key
    assert what in misfit.what
    assert "`" not in misfit.what


def test_everything_wrong_with_a_layer_is_reported_at_once():
    layer = {"model": {"name": 1, "tokenLimit": "x"}, "context": {"fileName": [1, 2]}, "hooks": []}
    assert {misfit.key for misfit in misfits(layer)} == {
        "model.name",
        "model.tokenLimit",
        "context.fileName[0]",
        "hooks",
    }


def test_the_list_of_faults_is_bounded():
    assert len(misfits({"mcpServers": {f"s{n}": 0 for n in range(500)}})) == MISFIT_LIMIT


@pytest.mark.parametrize(
    "layer",
    [
        {},
        {"unknown": {"deep": [1]}, "model": {"unknown": "x"}},
        {"model": {"compressionThreshold": 0}},
        {"model": {"compressionThreshold": 1}},
        {"model": {"maxSessionTurns": -1, "summarizeToolOutput": {"run_shell_command": {"tokenBudget": 2000}}}},
        {"tools": {"truncateToolOutputThreshold": -1}},
        {"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}},
        {"model": {"local": "C:\\models\\small.gguf"}},
        {"companion": {"trustedFolders": ["/", "~", "~/code", "C:\\code", "\\\\server\\share"]}},
    ],
)
def test_a_layer_without_faults_is_passed(layer: dict[str, Any]):
    assert misfits(layer) == []


@given(st.dictionaries(st.sampled_from(DECLARED), values, max_size=4))
def test_whatever_stands_at_the_declared_keys_is_judged_and_never_raises(found: dict[KeyPath, object]):
    for path, value in found.items():
        layer = nested(path, value)
        judged = misfits(layer)
        for misfit in judged:
            assert misfit.what
            assert "msgspec" not in misfit.what
        if not judged:
            msgspec.convert(layer, SettingsFile)


def test_every_key_has_a_description_for_the_schema():
    tree = ast.parse(inspect.getsource(schema))
    undocumented = [
        f"{node.name}.{item.target.id}"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for item, after in zip(node.body, [*node.body[1:], None], strict=True)
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        if not (
            isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        )
    ]
    assert undocumented == []


def test_a_json_schema_with_the_defaults_comes_from_the_type():
    made = msgspec.json.schema(SettingsFile)
    ide = made["$defs"]["IdeSettings"]["properties"]["maxOpenFiles"]
    assert (ide["default"], ide["minimum"], ide["maximum"]) == (10, 0, 100)


def test_what_is_expected_in_place_of_refused_choices_belongs_to_keys_that_exist():
    assert set(EXPECTED) <= {".".join(str(step) for step in path) for path in DECLARED}


def test_the_settings_know_the_sections_that_the_system_prompt_has():
    former = [name for name in PromptSettings.__struct_fields__ if name not in SECTIONS]
    assert PromptSettings.__struct_fields__ == (*SECTIONS, *former)
    assert set(former) <= {name for names in OLDER_NAMES.values() for name in names}

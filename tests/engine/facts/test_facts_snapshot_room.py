"""What an extractive snapshot does with its room: never more than it may take, and what must not be lost first."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.span import RECENT
from gemini_companion.engine.history.content import user_text
from tests.engine.facts.fact_sources import (
    a_run,
    call,
    chat,
    count_words,
    result,
    section,
    snapshot_of,
    sources,
    sources_of,
    texts,
)
from tests.support.examples import examples

FRAME = 500
"""Tokens that tags, labels, the goal's head and the last words can take."""


@settings(max_examples=examples(40))
@given(sources, st.integers(0, 400), st.one_of(st.none(), texts))
def test_a_snapshot_stays_within_its_budget_and_its_frame(items: list[FactSource], budget: int, previous: str | None):
    assert count_words(snapshot_of(items, budget, previous)) <= 1.1 * budget + FRAME


@pytest.mark.parametrize("rounds", [30, 200])
@pytest.mark.parametrize("share", [5, 20])
def test_where_not_everything_fits_the_newest_stand_there_and_the_rest_is_counted(rounds: int, share: int):
    items = a_run(rounds)
    hidden = sum(count_words(str(item.content.parts)) for item in items)
    snapshot = snapshot_of(items, budget=int(hidden // share) if share == 5 else 60)
    assert count_words(snapshot) < hidden
    commands = [f"pytest tests/test_case_{number}.py -q" for number in range(rounds - RECENT // 2, rounds)]
    standing = [f"$ {command}\n" in snapshot for command in commands]
    assert standing == sorted(standing), "a newer command is missing where an older one stands"
    assert standing[-1]
    missing = standing.count(False)
    if missing:
        assert f"… and {missing} more command" in snapshot


def test_a_snapshot_is_smaller_than_what_it_replaces():
    items = a_run(60)
    hidden = sum(count_words(str(item.content.parts)) for item in items)
    assert hidden > 2_000
    assert count_words(snapshot_of(items, budget=int(hidden // 5))) < hidden / 2


def test_a_command_of_many_lines_stands_whole_or_by_its_first_line_and_a_count():
    command = "edit 1:10\n" + "\n".join(f"line_{number} = {number}" for number in range(60)) + "\nend_of_edit"
    items = sources_of([user_text("go"), call(command), result("File updated.")])
    assert f"$ {command}\n→ File updated." in snapshot_of(items, budget=2_000)
    short = snapshot_of(items, budget=100)
    assert "$ edit 1:10 … (+61 lines)" in short
    assert "… and 1 more command" in short


def test_one_giant_command_does_not_push_the_rules_out():
    items = sources_of([user_text("Never push to main."), call("cat > a.txt\n" + "x " * 600), result("ok")])
    snapshot = snapshot_of(items, budget=306)
    assert "- Never push to main." in snapshot
    assert "$ cat > a.txt … (+1 line)" in snapshot
    assert "x x x x" in snapshot_of(items, budget=600)


def test_paths_that_do_not_fit_are_counted():
    items = sources_of([call("ls"), result("\n".join(f"/project/src/module_{number}.py" for number in range(300)))])
    snapshot = snapshot_of(items, budget=200)
    standing = len(set(re.findall(r"/project/src/module_\d+\.py", snapshot)))
    assert 5 < standing < 100
    assert f"… and {300 - standing} more paths" in snapshot


def test_no_kind_of_line_starves_the_others():
    turns = [
        f"Never touch module_{number}.py." if number % 2 == 0 else f"I moved item {number} to Boston on May 3."
        for number in range(200)
    ]
    snapshot = snapshot_of(chat(*turns), budget=700)
    assert len(section(snapshot, "active_constraints").split("\n")) > 12
    assert len(section(snapshot, "key_knowledge").split("\n")) > 3


def test_guidance_brings_an_old_rule_that_speaks_of_it_first():
    turns = [f"Never touch module_{number}.py." if number % 2 == 0 else "ok" for number in range(200)]
    turns[20] = "Never drop the database."
    plain, guided = (
        snapshot_of(chat(*turns), budget=300, guidance=guidance) for guidance in ("", "all about the database")
    )
    assert "Never drop the database." not in plain
    assert "Never drop the database." in section(guided, "active_constraints")


def test_guidance_brings_what_it_speaks_of():
    turns = [f"I saw the film number {number} in Paris on May {number % 28 + 1}." for number in range(200)]
    turns[101] = "The database is called orchid."
    items = chat(*turns)
    assert "orchid" in snapshot_of(items, budget=150, guidance="keep all about the database")


def test_meters_of_progress_take_no_room():
    meter = "\n".join(f"Downloading x-{n}.whl\n   ━━━━━━━━━━━━━━━━━ {n}.0/9.0 MB 3.1 MB/s" for n in range(9))
    snapshot = snapshot_of(sources_of([call("pip install x"), result(f"{meter}\nSuccessfully installed x-9")]))
    assert "$ pip install x\n→ Successfully installed x-9" in snapshot
    assert "MB/s" not in snapshot


def test_no_window_of_text_stands_twice():
    window = "\n".join(f"{number}: value_{number} = compute(value_{number})" for number in range(8))
    snapshot = snapshot_of(
        sources_of([call("open a.py"), result(window), call("open a.py 3"), result(window)]), budget=4_000
    )
    assert snapshot.count("value_5 = compute") == 1

"""What an extractive snapshot tells of calls, their outcomes and files."""

from __future__ import annotations

import json

from gemini_companion.engine.history.content import Content, user_text
from tests.engine.facts.fact_sources import (
    call,
    result,
    section,
    snapshot_of,
    sources_of,
    tool,
)


def test_what_only_looks_like_a_path_and_what_belongs_to_the_system_is_not_named():
    filler = "nothing to see here\n" * 100
    items = sources_of(
        [call("./run"), result(f"{filler}the start/end of src/app.py\ndaemon:/usr/sbin/nologin\n{filler}")]
    )
    state = section(snapshot_of(items), "file_system_state")
    assert state == "- NAMED: src/app.py"


def test_a_command_that_is_repeated_stands_in_full_once_and_every_time_by_its_first_line():
    items = sources_of(
        [
            call("edit 1\nx\nend"),
            result("no"),
            call("edit 1\nx\nend"),
            result("yes"),
            call("make"),
            result("1"),
            call("make"),
            result("2"),
        ]
    )
    actions = section(snapshot_of(items), "recent_actions")
    assert actions.count("edit 1\nx\nend") == 1
    assert "$ edit 1 … (the same 2 lines as later)\n→ no" in actions
    assert "$ make\n→ 1\n$ make\n→ 2" in actions


def test_commands_stand_with_their_outcome():
    items = sources_of(
        [
            call("python a.py"),
            result("Traceback (most recent call last):\nKeyError: 1"),
            call("ls"),
            result("a.py"),
            call("sleep 9"),
        ]
    )
    actions = section(snapshot_of(items), "recent_actions")
    assert "$ python a.py\n→ failed: KeyError: 1\n$ ls\n→ a.py\n$ sleep 9\n→ no result yet" in actions


def test_other_calls_stand_with_their_arguments():
    items = sources_of([tool("search_flight", origin="DEN", date="2024-05-27"), result("[]", "search_flight")])
    assert "- search_flight origin=DEN, date=2024-05-27\n→ []" in section(snapshot_of(items), "recent_actions")


def test_changed_files_stand_with_the_call_that_did_it_and_why():
    model = {"text": "The date format is wrong, so I fix it."}
    edit = Content(
        role="model",
        parts=(model, {"functionCall": {"name": "replace", "args": {"file_path": "/w/a.py", "old": "x", "new": "y"}}}),
    )
    trail = section(snapshot_of(sources_of([user_text("Fix it."), edit, result("ok", "replace")])), "artifact_trail")
    assert (
        trail
        == "- /w/a.py: changed by replace file_path=/w/a.py, old=x, new=y (The date format is wrong, so I fix it.)"
    )


def test_a_path_that_stands_in_a_command_or_in_a_longer_path_is_not_listed_again():
    items = sources_of([call("cat /project/src/a.py"), result("/project/src/a.py\nsrc/a.py\n/project/src/")])
    assert "NAMED" not in section(snapshot_of(items), "file_system_state")


def test_of_a_long_output_the_lines_that_the_model_spoke_of_are_shown():
    listing = "\n".join(f"{number}: value_{number} = compute(input_{number})" for number in range(900))
    spoken = Content(
        role="model",
        parts=({"text": "The wrong one is value_512, so I change it."}, {"functionCall": {"name": "x", "args": {}}}),
    )
    actions = section(
        snapshot_of(sources_of([user_text("Fix it."), call("cat a.txt"), result(listing), spoken])), "recent_actions"
    )
    assert "512: value_512 = compute(input_512)" in actions
    assert "… (+" in actions
    assert "value_200" not in actions


def test_of_a_long_line_the_part_that_was_looked_for_is_shown():
    line = json.dumps([{"flight": f"HAT{number:03}", "seats": number} for number in range(300)])
    spoken = Content(role="model", parts=({"text": "HAT222 has seats."},))
    actions = section(snapshot_of(sources_of([call("get"), result(line), spoken])), "recent_actions")
    assert '"flight": "HAT222"' in actions

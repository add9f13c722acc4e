"""Settings files and sections that cannot be used: reported, and the last good state stays."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.load import SettingsLoader
from gemini_companion.settings.reading import SIZE_LIMIT
from tests.support.examples import examples
from tests.support.settings_desk import Desk, only_problem


def test_a_fault_is_named_with_file_line_column_and_key(desk: Desk):
    desk.user('{\n  // comment\n  "model": {\n    "compressionThreshold": "half"\n  }\n}')
    problem = only_problem(desk.load())
    assert problem.message.startswith(f"{desk.user_file}:4:5: model.compressionThreshold: ")
    assert problem.hint


def test_a_broken_layer_keeps_its_last_good_state_and_the_others_go_on(desk: Desk):
    desk.user({"model": {"name": "good", "tokenLimit": 5}})
    desk.load()
    desk.user('{"model": {"name": "half')
    desk.work({"model": {"tokenLimit": 7}})
    loaded = desk.load()
    assert "not valid JSON" in only_problem(loaded).message
    assert (loaded.settings.model_name, loaded.settings.token_limit_override) == ("good", 7)
    desk.user({"model": {"name": "better"}})
    assert desk.load().settings.model_name == "better"


def test_a_file_that_breaks_while_it_holds_what_nothing_uses_yet_is_a_problem_and_no_failure(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gemini_companion.settings.load.WITHOUT_EFFECT", ("telemetry",))
    desk.user({"telemetry": {"enabled": True}})
    desk.load()
    desk.user('{"telemetry"}, "x": [,')
    loaded = desk.load()
    assert "not valid JSON" in only_problem(loaded).message
    ((_, remark),) = loaded.remarks
    assert remark.message.endswith("telemetry.enabled")  # the line of a text that is no longer there would be false


def test_a_wrong_value_costs_its_key_and_nothing_else(desk: Desk):
    desk.user({"model": {"name": "two words", "tokenLimit": 5}})
    loaded = desk.load()
    assert (loaded.settings.model_name, loaded.settings.token_limit_override) == (None, 5)
    assert "what else stands there is in force" in only_problem(loaded).hint


def test_the_last_good_state_of_a_broken_layer_loses_with_the_workspaces_trust(desk: Desk):
    desk.work({"mcpServers": {"s": {"command": "run"}}, "context": {"importFormat": "flat"}})
    assert desk.load(trusted=True).settings.mcp.servers
    desk.work("broken")
    found = desk.load(trusted=False).settings
    assert (found.mcp.servers, found.context_import_format) == ((), "flat")


def test_what_is_no_regular_file_is_refused_at_once(desk: Desk):
    os.mkfifo(desk.user_file)
    desk.workspace_file.mkdir()
    first, second = desk.load().problems
    assert "regular file" in first.message
    assert "regular file" in second.message


def test_a_file_that_is_too_large_or_not_utf8_is_refused(desk: Desk):
    desk.user(b'{"a": "' + b"x" * SIZE_LIMIT + b'"}')
    desk.work(b'{\n "a": "\xff"}')
    large, latin = desk.load().problems
    assert "larger than" in large.message
    assert latin.message.startswith(f"{desk.workspace_file}:2:")
    assert "UTF-8" in latin.message


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything may be read here")
def test_a_file_that_may_not_be_read_is_reported(desk: Desk):
    desk.user({"model": {"name": "u"}})
    desk.load()
    desk.user_file.chmod(0)
    loaded = desk.load()
    assert "cannot be read" in only_problem(loaded).message
    assert loaded.settings.model_name == "u"


@pytest.mark.parametrize("folder", ["/nowhere\0", "/nowhere\ud800", "", "relative", "/dev/null"])
def test_a_workspace_folder_that_cannot_be_is_no_obstacle(desk: Desk, folder: str):
    desk.user({"model": {"name": "u"}})
    desk.loader.move_to([folder])
    loaded = desk.load()
    assert loaded.settings.model_name == "u"
    for problem in loaded.problems:
        assert problem.message.encode()


@pytest.mark.parametrize("section", [[], "text", 3, {"model": {"name": 3}}, {"model": 3}])
def test_an_editor_section_that_cannot_be_used_is_reported_and_its_last_one_stays(desk: Desk, section: object):
    desk.load({"model": {"name": "e"}})
    loaded = desk.load(section)
    assert loaded.settings.model_name == "e"
    assert "geminiCompanion" in only_problem(loaded).message


def test_variables_that_blow_up_a_layer_leave_its_last_good_version(tmp_path: Path):
    desk = Desk(tmp_path, {"BIG": "x" * 600_000})
    desk.user({"model": {"name": "u"}})
    desk.load()
    desk.user({"model": {"name": "v"}, "x": "$BIG$BIG"})
    loaded = desk.load()
    assert "variables" in only_problem(loaded).message
    assert loaded.settings.model_name == "u"


KEYS = [
    "model",
    "name",
    "tokenLimit",
    "compressionThreshold",
    "context",
    "fileName",
    "companion",
    "ide",
    "maxOpenFiles",
    "trustedFolders",
    "hooks",
]


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["$BIG", "offline", "/a", "\ud800"])
)


anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=12,
)


contents = (
    st.binary(max_size=60) | anything.map(json.dumps) | st.text(st.sampled_from('{}[]:,"\\/*\n $1aeN'), max_size=40)
)


@settings(
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(user=contents, work=contents, editor=anything, trusted=st.booleans())
def test_whatever_the_layers_hold_there_are_settings_and_only_problems_of_ours(
    tmp_path: Path, user: Any, work: Any, editor: Any, trusted: bool
):
    desk = Desk(tmp_path, {"BIG": "x" * 300_000})
    desk.user({"model": {"name": "good"}})
    assert desk.load().settings.model_name == "good"
    desk.user(user if isinstance(user, bytes) else user.encode("utf-8", "surrogatepass"))
    desk.work(work if isinstance(work, bytes) else work.encode("utf-8", "surrogatepass"))
    for now_trusted in (trusted, not trusted):
        loaded = desk.load(editor, trusted=now_trusted)
        for problem in loaded.problems:
            assert isinstance(problem, InvalidSettings)
            assert problem.message.encode()
            assert problem.message_with_hint
        assert 0 <= loaded.settings.compression_threshold <= 1
        assert loaded.settings.context_file_names
    desk.workspace_file.unlink()
    alone = SettingsLoader(desk.home, [], {"BIG": "x" * 300_000}).reload(False)
    again = desk.load()
    assert again.settings.model_name in ({"good"} if again.problems else set()) | {alone.settings.model_name}

"""Telemetry is off unless it is asked for, by a file, the environment or the command line; and by nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gemini_companion.settings.in_force import settings_in_force
from gemini_companion.settings.telemetry import GRPC_ENDPOINT, HTTP_ENDPOINT, TelemetryOptions
from tests.support.settings_desk import Desk, only_problem


def options(tmp_path: Path, env: dict[str, str] | None = None, **telemetry: Any) -> TelemetryOptions:
    desk = Desk(tmp_path, env)
    desk.user({"telemetry": telemetry})
    return desk.load().settings.telemetry


def test_nothing_is_sent_and_no_text_by_default(tmp_path: Path) -> None:
    found = options(tmp_path)
    assert (found.enabled, found.log_prompts, found.outfile) == (False, False, None)


def test_the_variables_of_gemini_cli_go_before_files(tmp_path: Path) -> None:
    env = {
        "GEMINI_TELEMETRY_ENABLED": "true",
        "GEMINI_TELEMETRY_OTLP_ENDPOINT": "http://collector:1",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://elsewhere:2",
        "GEMINI_TELEMETRY_OTLP_PROTOCOL": "http",
        "GEMINI_TELEMETRY_LOG_PROMPTS": "0",
    }
    found = options(tmp_path, env, enabled=False, otlpEndpoint="http://file:3", logPrompts=True)
    assert (found.enabled, found.endpoint, found.protocol, found.log_prompts) == (
        True,
        "http://collector:1",
        "http",
        False,
    )


def test_the_endpoint_of_every_opentelemetry_program_counts_and_turns_nothing_on(tmp_path: Path) -> None:
    found = options(tmp_path, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://elsewhere:2"})
    assert (found.enabled, found.endpoint) == (False, "http://elsewhere:2")


def test_the_command_line_goes_before_the_environment(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"GEMINI_TELEMETRY_ENABLED": "1"}, command_line={"telemetry": {"enabled": False}})
    loaded = desk.load()
    assert loaded.settings.telemetry.enabled is False
    (setting,) = [one for one in settings_in_force(loaded) if one.key == "telemetry.enabled"]
    assert (setting.layer, setting.value) == ("commandLine", False)


def test_a_value_of_the_environment_is_shown_with_its_variable(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"GEMINI_TELEMETRY_ENABLED": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h:1"})
    found = {one.key: (one.layer, one.variable, one.value) for one in settings_in_force(desk.load())}
    assert found["telemetry.enabled"] == ("environment", "GEMINI_TELEMETRY_ENABLED", True)
    assert found["telemetry.otlpEndpoint"] == ("environment", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1")


def test_a_protocol_of_the_environment_that_is_none_is_told_and_ignored(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {"GEMINI_TELEMETRY_OTLP_PROTOCOL": "pigeon"})
    loaded = desk.load()
    assert "GEMINI_TELEMETRY_OTLP_PROTOCOL" in only_problem(loaded).message
    assert loaded.settings.telemetry.protocol == "grpc"


def test_an_untrusted_workspace_turns_nothing_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.work({"telemetry": {"enabled": True, "otlpEndpoint": "http://theirs", "logPrompts": True}})
    assert desk.load(trusted=False).settings.telemetry == TelemetryOptions()


@pytest.mark.parametrize(
    ("telemetry", "endpoint"),
    [
        ({}, GRPC_ENDPOINT),
        ({"otlpProtocol": "http"}, HTTP_ENDPOINT),
        ({"otlpEndpoint": "localhost:99"}, "http://localhost:99"),
        ({"otlpEndpoint": "https://h.example/otlp"}, "https://h.example/otlp"),
    ],
)
def test_an_address_may_be_left_out_or_short(tmp_path: Path, telemetry: dict[str, Any], endpoint: str) -> None:
    found = options(tmp_path, enabled=True, **telemetry)
    assert (found.endpoint, found.problem) == (endpoint, "")


@pytest.mark.parametrize(
    "telemetry",
    [
        {"otlpEndpoint": "ftp://h"},
        {"otlpEndpoint": "http://"},
        {"otlpEndpoint": "http://h:99999"},
        {"outfile": "relative.jsonl"},
        {"target": "gcp"},
    ],
)
def test_what_cannot_be_used_says_what_to_do_and_only_where_telemetry_is_on(
    tmp_path: Path, telemetry: dict[str, Any]
) -> None:
    assert options(tmp_path, enabled=True, **telemetry).problem.startswith("Telemetry is off: ")
    assert options(tmp_path, enabled=False, **telemetry).problem == ""


def test_the_home_folder_may_be_abbreviated(tmp_path: Path) -> None:
    found = options(tmp_path, enabled=True, outfile="~/telemetry.jsonl")
    assert (found.outfile, found.problem) == (str(tmp_path / "home" / "telemetry.jsonl"), "")

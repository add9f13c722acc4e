"""Whose key, project and endpoint are used: what a project's `.env` cannot change, by any name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gemini_companion.adapters.gemini.options import from_environment
from gemini_companion.settings.load import LoadedSettings
from tests.support.settings_desk import Desk

THEIRS: dict[str, str] = {
    "GEMINI_API_KEY": "theirs", "GOOGLE_API_KEY": "theirs", "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "true", "GOOGLE_GENAI_USE_GCA": "true", "GOOGLE_CLOUD_PROJECT": "theirs",
    "GOOGLE_CLOUD_LOCATION": "theirs", "GOOGLE_CLOUD_QUOTA_PROJECT": "theirs", "GOOGLE_CLOUD_ACCESS_TOKEN": "theirs",
    "GOOGLE_APPLICATION_CREDENTIALS": "/theirs.json", "GOOGLE_GEMINI_BASE_URL": "https://theirs.example",
    "GOOGLE_VERTEX_BASE_URL": "https://theirs.example", "GEMINI_BASE_URL": "https://theirs.example",
    "GOOGLE_GENAI_BASE_URL": "https://theirs.example", "GOOGLE_GENAI_API_VERSION": "theirs",
    "CODE_ASSIST_ENDPOINT": "https://theirs.example", "CLOUDSDK_CORE_PROJECT": "theirs", "CLOUDSDK_CONFIG": "/theirs",
    "CLOUDSDK_AUTH_ACCESS_TOKEN": "theirs", "GOOGLE_API_USE_CLIENT_CERTIFICATE": "true", "HTTP_PROXY": "http://theirs",
    "HTTPS_PROXY": "http://theirs", "https_proxy": "http://theirs", "ALL_PROXY": "http://theirs", "NO_PROXY": "*",
    "SSL_CERT_FILE": "/theirs", "SSL_CERT_DIR": "/theirs", "REQUESTS_CA_BUNDLE": "/theirs",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "https://theirs.example", "GEMINI_TELEMETRY_OTLP_ENDPOINT": "https://theirs.example",
    "GEMINI_CLI_HOME": "/theirs", "GEMINI_EXP": "/theirs", "COMPANION_DATA_DIR": "/theirs",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/theirs",
}  # fmt: skip

SETUPS: dict[str, dict[str, str]] = {
    "a key": {"GEMINI_API_KEY": "mine"},
    "a key by its other name": {"GOOGLE_API_KEY": "mine"},
    "Vertex": {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_CLOUD_LOCATION": "here"},
    "Vertex with a key": {"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_API_KEY": "mine"},
    "enterprise": {"GOOGLE_GENAI_USE_ENTERPRISE": "true", "GOOGLE_CLOUD_PROJECT": "mine"},
    "an endpoint": {"GOOGLE_GEMINI_BASE_URL": "https://mine.example", "GEMINI_API_KEY": "mine"},
    "an endpoint alone": {"GOOGLE_GEMINI_BASE_URL": "https://mine.example"},
    "a file of credentials": {"GOOGLE_APPLICATION_CREDENTIALS": "/mine.json"},
    "a login of Google's": {"GOOGLE_GENAI_USE_GCA": "true"},
    "a project": {"GOOGLE_CLOUD_PROJECT": "mine"},
    "the tool of the cloud": {"CLOUDSDK_CORE_PROJECT": "mine"},
    "a key that is empty on purpose": {"GEMINI_API_KEY": ""},
}


def loaded(root: Path, mine: Mapping[str, str], theirs: Mapping[str, str], *, in_file: bool) -> LoadedSettings:
    desk = Desk(root, {} if in_file else mine)
    for folder, variables in ((desk.home / ".gemini", mine if in_file else {}), (desk.workspace, theirs)):
        (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    return desk.load()


@pytest.mark.parametrize("in_file", [True, False], ids=["own file", "process"])
@pytest.mark.parametrize("setup", SETUPS)
def test_no_name_in_a_projects_file_changes_what_a_persons_setup_means(tmp_path: Path, setup: str, in_file: bool):
    mine = SETUPS[setup]
    for number, theirs in enumerate([*({name: value} for name, value in THEIRS.items()), THEIRS]):
        found = loaded(tmp_path / str(number), mine, theirs, in_file=in_file)
        assert from_environment(found.environment) == from_environment(mine), theirs
        assert "theirs" not in " ".join(found.environment.values()), theirs
        assert not found.settings.telemetry.enabled


@pytest.mark.parametrize("name", THEIRS)
def test_a_projects_file_never_names_an_endpoint_credentials_a_proxy_or_certificates(tmp_path: Path, name: str):
    found = loaded(tmp_path, {}, {name: THEIRS[name]}, in_file=True)
    counted = {"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"}
    counted |= {"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"}
    assert (name in found.environment and found.environment[name] == THEIRS[name]) == (name in counted)


def test_where_nothing_of_the_persons_says_so_a_trusted_project_brings_a_key_as_a_whole_and_that_is_told(
    tmp_path: Path,
):
    theirs = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_VERTEX_BASE_URL": "https://x.y"}
    found = loaded(tmp_path, {}, theirs, in_file=True)
    options = from_environment(found.environment)
    assert options is not None
    assert (options.vertex, options.project, options.base_url) == (True, "p", None)
    ((_, remark),) = found.remarks
    assert "GOOGLE_CLOUD_PROJECT" in remark.message
    assert "no key of your own" in remark.message
    assert "~/.gemini/.env" in remark.hint


def test_a_projects_key_that_is_not_used_is_told_with_what_it_gave_way_to(tmp_path: Path):
    found = loaded(tmp_path, {"GEMINI_API_KEY": "mine"}, {"GOOGLE_API_KEY": "theirs"}, in_file=False)
    ((_, remark),) = found.remarks
    assert "GOOGLE_API_KEY: not used, for you have GEMINI_API_KEY of your own" in remark.message
    assert "theirs" not in remark.message
    assert loaded(tmp_path / "b", {"GEMINI_API_KEY": "x"}, {"GEMINI_API_KEY": "y"}, in_file=False).remarks == ()

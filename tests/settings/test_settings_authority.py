"""Who may decide what: an untrusted workspace nothing that leaves the machine, costs money or stops the work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from gemini_companion.settings.authority import (
    AUTHORITY,
    PERSONAL,
    WITHOUT_EFFECT,
    Authority,
    LayerName,
    is_admitted,
    keys_of,
)
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.schema import SettingsFile
from tests.support.settings_desk import Desk, only_problem

ENDPOINT = "projects/p/locations/l/endpoints/123"
RESOURCES = [ENDPOINT, "publishers/x/models/y", "tunedModels/mine", "models/gemini-2.5-pro", "a/b"]

EXAMPLES: dict[str, Any] = {
    "general.defaultApprovalMode": "auto_edit",
    "general.maxAttempts": 7,
    "general.plan.enabled": False,
    "general.sessionRetention.enabled": False,
    "general.sessionRetention.maxAge": "2w",
    "general.sessionRetention.maxCount": 7,
    "general.sessionRetention.minRetention": "2h",
    "model.name": "gemini-9",
    "model.local": "/models/small.gguf",
    "model.compressionThreshold": 0.9,
    "model.compressionTokenCap": 7,
    "model.tokenLimit": 8,
    "model.maxSessionTurns": 9,
    "model.disableLoopDetection": True,
    "model.summarizeToolOutput": {"run": {}},
    "context.fileName": "X.md",
    "context.importFormat": "flat",
    "context.discoveryMaxDirs": 3,
    "context.memoryBoundaryMarkers": [".top"],
    "context.includeDirectoryTree": False,
    "tools.core": ["read_file"],
    "tools.allowed": ["write_file"],
    "tools.exclude": ["glob"],
    "tools.confirmationRequired": ["read_file"],
    "tools.shell.inactivityTimeout": 12,
    "tools.truncateToolOutputThreshold": 11,
    "mcpServers": {"s": {"command": "x"}},
    "mcp.allowed": ["s"],
    "mcp.excluded": ["s"],
    "hooks": {"E": ["x"]},
    "hooksConfig.enabled": False,
    "hooksConfig.disabled": ["x"],
    "hooksConfig.notifications": False,
    "agents.overrides": {"generalist": {"enabled": False}},
    "experimental.enableAgents": False,
    "skills.enabled": False,
    "skills.disabled": ["letters"],
    "telemetry.enabled": True,
    "telemetry.target": "gcp",
    "telemetry.otlpEndpoint": "http://elsewhere",
    "telemetry.otlpProtocol": "http",
    "telemetry.logPrompts": True,
    "telemetry.outfile": "/tmp/x",
    "security.disableYoloMode": True,
    "security.disableAlwaysAllow": True,
    "security.environmentVariableRedaction.allowed": ["SSH_AUTH_SOCK"],
    "security.environmentVariableRedaction.blocked": ["GOPATH"],
    "advanced.excludedEnvVars": ["X"],
    "advanced.ignoreLocalEnv": True,
    "companion.ide.maxOpenFiles": 99,
    "companion.ide.activeFileCharacters": 99,
    "companion.compression.model": "gemini-8",
    "companion.compression.gate": False,
    "companion.compression.retentionFloor": 0.25,
    "companion.compression.ownWords": 0.75,
    "companion.compression.builtInFallback": True,
    "companion.compression.strategy": "semantic",
    "companion.compression.mode": "remind",
    "companion.compression.background": "idle",
    "companion.compression.adaptive": False,
    "companion.compression.constraints": "off",
    "companion.compression.compare": "reserve",
    "companion.tools.enabled": False,
    "companion.tools.mode": "acceptEdits",
    "companion.tools.rules": [{"tool": "*", "decision": "allow"}],
    "companion.tools.sandbox": "off",
    "companion.tools.network": True,
    "companion.tools.environment": ["HTTPS_PROXY"],
    "companion.tools.sockets": ["~/agent.sock"],
    "companion.tools.commandSeconds": 13,
    "companion.tools.questionSeconds": 14,
    "companion.tools.maxRounds": 7,
    "companion.limits.modelCalls": 3,
    "companion.limits.processes": 123,
    "companion.recall.embeddings": True,
    "companion.sessions.retentionDays": 1,
    "companion.sessions.maxSessions": 5,
    "companion.sessions.maxBytes": 5_000_000,
    "companion.prompt.preamble": False,
    "companion.prompt.coreMandates": False,
    "companion.prompt.tools": False,
    "companion.prompt.subagents": False,
    "companion.prompt.skills": False,
    "companion.prompt.workflows": False,
    "companion.prompt.editorContext": False,
    "companion.prompt.compressionNotice": False,
    "companion.prompt.operationalGuidelines": False,
    "companion.prompt.trust": False,
    "companion.prompt.memory": False,
    "companion.prompt.gitState": False,
    "companion.prompt.finalReminder": False,
    "companion.prompt.identity": False,
    "companion.prompt.mandates": False,
    "companion.prompt.style": False,
    "companion.prompt.safety": False,
    "companion.routing.fallback": False,
    "companion.budget.sessionTokens": 9,
    "companion.budget.sessionCost": 9.5,
    "companion.budget.dayTokens": 9,
    "companion.budget.dayCost": 9.5,
    "companion.redaction": "off",
    "companion.trustedFolders": ["/x"],
}
"""A value of each key that is not its default."""

LAYERS: list[tuple[LayerName, bool]] = [
    ("systemDefaults", False),
    ("user", False),
    ("system", False),
    ("workspace", True),
    ("workspace", False),
    ("editor", True),
    ("editor", False),
]


def layer_of(key: str) -> Any:
    value: Any = EXAMPLES[key]
    for step in reversed(key.split(".")):
        value = {step: value}
    return value


def loaded_from(desk: Desk, layer: LayerName, content: Any, *, trusted: bool) -> Settings:
    desk.user(content if layer == "user" else {})
    desk.work(content if layer == "workspace" else {})
    desk.system_defaults(content if layer == "systemDefaults" else {})
    desk.system(content if layer == "system" else {})
    return desk.load(content if layer == "editor" else None, trusted=trusted).settings


def test_every_key_of_the_schema_has_its_class_and_an_example_here():
    keys = list(keys_of(SettingsFile))
    assert list(AUTHORITY) == keys
    assert list(EXAMPLES) == keys
    assert set(AUTHORITY.values()) == set(get_args(Authority))


@pytest.mark.parametrize("key", EXAMPLES)
@pytest.mark.parametrize(("layer", "trusted"), LAYERS)
def test_a_key_counts_from_the_layers_of_its_class_and_from_no_other(
    desk: Desk, key: str, layer: LayerName, trusted: bool
):
    default = loaded_from(desk, layer, {}, trusted=trusted)
    found = loaded_from(desk, layer, layer_of(key), trusted=trusted)
    assert (found != default) == is_admitted(key, layer, trusted=trusted)


def test_an_untrusted_workspace_decides_only_how_imports_are_put_together_and_what_is_forbidden():
    found = [key for key in AUTHORITY if is_admitted(key, "workspace", trusted=False)]
    assert found == ["context.importFormat", "tools.exclude", "security.disableYoloMode", "security.disableAlwaysAllow"]


def test_what_no_workspace_may_decide_even_a_trusted_one():
    forbidden = [key for key in AUTHORITY if not is_admitted(key, "workspace", trusted=True)]
    budget = [f"companion.budget.{limit}" for limit in ("sessionTokens", "sessionCost", "dayTokens", "dayCost")]
    assert forbidden == [
        "model.local",
        "security.environmentVariableRedaction.allowed",
        "security.environmentVariableRedaction.blocked",
        "companion.tools.environment",
        "companion.tools.sockets",
        "companion.limits.modelCalls",
        "companion.limits.processes",
        "companion.recall.embeddings",
        *budget,
        "companion.redaction",
        "companion.trustedFolders",
    ]


# --- names that choose an endpoint


@pytest.mark.parametrize("name", RESOURCES)
@pytest.mark.parametrize("key", ["model.name", "companion.compression.model"])
@pytest.mark.parametrize(("layer", "trusted"), LAYERS)
def test_a_resource_name_counts_from_a_person_and_never_from_a_repository(
    desk: Desk, key: str, name: str, layer: LayerName, trusted: bool
):
    content = layer_of(key)
    section = content["model"] if key == "model.name" else content["companion"]["compression"]
    section["name" if key == "model.name" else "model"] = name
    found = loaded_from(desk, layer, content, trusted=trusted)
    named = found.model_name if key == "model.name" else found.compression_model
    assert named == (name if layer in PERSONAL or (layer == "editor" and trusted) else None)


def test_a_resource_name_that_is_not_taken_is_told_with_its_place_and_leaves_the_rest_in_force(desk: Desk):
    desk.user({"model": {"name": "offline"}})
    desk.work(f'{{\n  "model": {{"name": "{ENDPOINT}",\n  "tokenLimit": 5}}}}')
    loaded = desk.load()
    assert (loaded.settings.model_name, loaded.settings.token_limit_override) == ("offline", 5)
    problem = only_problem(loaded)
    assert problem.message.startswith(f"{desk.workspace_file}:2:13: model.name: ")
    assert "home folder" in problem.hint


def test_a_variable_does_not_bring_a_resource_name_in(tmp_path: Path):
    desk = Desk(tmp_path, {"WHERE": ENDPOINT})
    desk.work({"model": {"name": "$WHERE"}})
    assert desk.load(trusted=True).settings.model_name is None
    desk.user({"model": {"name": "$WHERE"}})
    assert desk.load(trusted=True).settings.model_name == ENDPOINT


def test_the_environment_may_name_a_resource(tmp_path: Path):
    desk = Desk(tmp_path, {"GEMINI_MODEL": ENDPOINT})
    assert desk.load(trusted=False).settings.model_name == ENDPOINT


# --- names of models, and texts that are none


@pytest.mark.parametrize("name", ["", "  ", "none", "None", " NONE "])
def test_a_text_that_names_no_model_counts_as_not_set(tmp_path: Path, name: str):
    desk = Desk(tmp_path, {"GEMINI_MODEL": name})
    desk.user({"model": {"name": "u"}})
    desk.work({"model": {"name": name}, "companion": {"compression": {"model": name}}})
    loaded = desk.load()
    assert (loaded.settings.model_name, loaded.settings.compression_model, loaded.problems) == ("u", None, ())


def test_blanks_around_a_models_name_are_no_part_of_it(desk: Desk):
    desk.user({"model": {"name": " gemini-2.5-pro\n"}, "companion": {"compression": {"model": "\tflash "}}})
    found = desk.load().settings
    assert (found.model_name, found.compression_model) == ("gemini-2.5-pro", "flash")


def _places(value: str) -> Iterator[tuple[Any, str]]:
    yield {"model": {"name": value}}, "model.name"
    yield {"context": {"fileName": ["A.md", value]}}, "context.fileName[1]"
    yield {"hooks": {"E": [{"command": value}]}}, "hooks.E[0].command"
    yield {"telemetry": {"otlpEndpoint": value}}, "telemetry.otlpEndpoint"
    yield {"unknown": {"deep": [value]}}, "unknown.deep[0]"
    yield {"companion": {"trustedFolders": [f"/{value}"]}}, "companion.trustedFolders[0]"


@pytest.mark.parametrize("half", ["\ud800", "a\udfffb", "\0", "x\0"])
def test_a_text_that_nothing_can_hold_is_refused_with_file_line_and_key(desk: Desk, half: str):
    for layer, key in _places(half):
        desk.user(layer)
        loaded = desk.load()
        problem = only_problem(loaded)
        assert problem.message.startswith(f"{desk.user_file}:1:")
        assert f" {key}: " in problem.message
        assert half not in msgspec.json.encode(loaded.document).decode()


def test_a_key_that_nothing_can_hold_is_refused_in_words_that_can_be_sent(desk: Desk):
    desk.user({"model": {"na\ud800me": 1, "name": "m"}})
    problem = only_problem(desk.load())
    assert "model.na?me" in problem.message
    assert msgspec.json.encode(problem.message)


# --- what has no effect yet


def test_what_has_no_effect_yet_belongs_to_the_schema():
    keys = list(AUTHORITY)
    assert all(any(f"{key}.".startswith(f"{idle}.") for key in keys) for idle in WITHOUT_EFFECT)


@pytest.fixture
def idle_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing used these keys; today all are used."""
    monkeypatch.setattr("gemini_companion.settings.load.WITHOUT_EFFECT", ("telemetry",))


@pytest.mark.usefixtures("idle_telemetry")
def test_keys_that_nothing_uses_yet_are_named_with_file_and_line(desk: Desk):
    desk.user('{"model": {"name": "m"},\n"telemetry": {\n"target": "gcp",\n"enabled": true}}')
    ((_, remark),) = desk.load().remarks
    assert remark.message.startswith(f"{desk.user_file}: ")
    assert "telemetry.enabled (line 4), telemetry.target (line 3)" in remark.message


@pytest.mark.usefixtures("idle_telemetry")
def test_a_key_that_asks_for_what_is_so_anyway_is_not_remarked_on(desk: Desk):
    desk.user({"telemetry": {"enabled": False}, "context": {"fileName": "GEMINI.md"}})
    assert desk.load().remarks == ()


@pytest.mark.usefixtures("idle_telemetry")
def test_what_is_not_taken_from_a_layer_is_not_remarked_on_there(desk: Desk):
    desk.work({"telemetry": {"enabled": True}})
    assert desk.load(trusted=False).remarks == ()
    assert len(desk.load(trusted=True).remarks) == 1


@pytest.mark.usefixtures("idle_telemetry")
def test_the_editors_section_is_remarked_on_too(desk: Desk):
    ((_, remark),) = desk.load({"telemetry": {"enabled": True}}).remarks
    assert remark.message.startswith("the editor's geminiCompanion settings: ")

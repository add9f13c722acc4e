"""What the settings say of tools: rules of consent with the layer they come from, and limits.

Gemini CLI's lists (`tools.allowed`, `tools.exclude`, `tools.confirmationRequired`) become rules of the same kind.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.history.tool_entries import Decision, Mode, ToolRule
from gemini_companion.settings.objects import JsonObject, KeyPath, nested, value_at

if TYPE_CHECKING:
    from gemini_companion.settings.schema import SettingsFile

RULES: Final[KeyPath] = ("companion", "tools", "rules")

_SHELL: Final = "run_shell_command"
_CLASSES: Final[Mapping[str, str]] = {
    "EditTool": "replace",
    "GlobTool": "glob",
    "GrepTool": "grep_search",
    "LSTool": "list_directory",
    "MemoryTool": "save_memory",
    "ReadFileTool": "read_file",
    "ReadManyFilesTool": "read_many_files",
    "ShellTool": _SHELL,
    "WebFetchTool": "web_fetch",
    "WebSearchTool": "google_web_search",
    "WriteFileTool": "write_file",
}
"""Gemini CLI's older names, which its settings still take."""

NAMES: Final[frozenset[str]] = frozenset(
    {
        *_CLASSES.values(),
        "activate_skill",
        "ask_user",
        "diagnostics",
        "exit_plan_mode",
        "invoke_agent",
        "read_background_output",
        "recall",
        "search_file_content",
        "stop_background_process",
        "write_todos",
    }
)
"""The tools that are built in, by all their names."""
_OF_OTHERS: Final[Mapping[str, str]] = {
    # Claude Code
    **{"bash": _SHELL, "read": "read_file", "write": "write_file", "multiedit": "replace", "grep": "grep_search"},
    **{
        "ls": "list_directory",
        "todowrite": "write_todos",
        "task": "invoke_agent",
        "bashoutput": "read_background_output",
    },
    **{"killshell": "stop_background_process", "killbash": "stop_background_process", "askuserquestion": "ask_user"},
    # Cline and Roo Code
    **{"execute_command": _SHELL, "write_to_file": "write_file", "replace_in_file": "replace", "apply_diff": "replace"},
    **{"search_files": "grep_search", "list_files": "list_directory", "ask_followup_question": "ask_user"},
    # GitHub Copilot
    **{"run_in_terminal": _SHELL, "runinterminal": _SHELL, "create_file": "write_file", "createfile": "write_file"},
    **{"replace_string_in_file": "replace", "list_dir": "list_directory", "listdirectory": "list_directory"},
    **{"file_search": "glob", "filesearch": "glob", "fetch_webpage": "web_fetch"},
}
"""What other programs call a tool that does what one of ours does, in small letters."""
_BY_PATH: Final = frozenset({"read_file", "write_file", "replace"})
_LOOSELY: Final[Mapping[str, str]] = {
    **{name.casefold(): tool for name, tool in _CLASSES.items()},
    **{name.removesuffix("Tool").casefold(): tool for name, tool in _CLASSES.items()},
    **_OF_OTHERS,
    **{name: name for name in NAMES},
}
"""By names in small letters: what restricts is meant for a tool however it is spelled."""

_MODES: Final[Mapping[str, Mode]] = {"default": "ask", "auto_edit": "acceptEdits", "plan": "plan"}


RuleLayer: TypeAlias = Literal["user", "workspace", "system", "editor"]
"""Where a rule of the settings stands: the system's two files are one, and the command line is the editor's."""

_RULE_LAYERS: Final[Mapping[str, RuleLayer]] = {
    "systemDefaults": "system",
    "user": "user",
    "workspace": "workspace",
    "system": "system",
    "editor": "editor",
    "commandLine": "editor",
}


class SettingsRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of consent of the settings."""

    rule: ToolRule
    source: RuleLayer
    is_own: bool = True
    """It stands under `companion.tools.rules`, where it can be taken back; not in one of Gemini CLI's lists."""
    as_written: ToolRule | None = None
    """The rule as its file has it, where that spells the tool or the workspace folder otherwise; it is taken back by
    that.
    """


class ToolOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of tools, every default filled in. Times are seconds."""

    enabled: bool
    """Whether the model is offered tools at all."""
    mode: Mode
    """Of a session for which nobody chose one."""
    sandbox: Literal["auto", "required", "off"]
    network: bool
    """Whether commands in the sandbox reach the network."""
    environment: tuple[str, ...]
    """Variables that commands get beside those that all get."""
    without_environment: tuple[str, ...]
    """Variables that they do not get."""
    sockets: tuple[str, ...]
    """Sockets that they may use in the sandbox."""
    command_seconds: int | None
    """How long a command in the foreground may take; `None` for no limit."""
    inactivity_seconds: int | None
    """How long a command may put out nothing; `None` for no limit."""
    question_seconds: int
    """How long a question waits for a person."""
    core: frozenset[str] | None
    """The names of the only tools that there are, beside those that ask and keep notes; `None` for all."""
    rules: tuple[SettingsRule, ...]
    keeps_rules: bool
    """Whether a yes to a question may keep a rule."""
    may_allow_everything: bool
    """Whether a rule may let every tool run unasked."""


def tool_options(
    merged: SettingsFile, layers: Iterable[tuple[str, SettingsFile]], real_path: Callable[[str], str]
) -> ToolOptions:
    """The options that result from the merged layers; `layers` are they one by one, lowest first.

    `real_path` says where a folder is that a rule names, perhaps with a `~` or through links.
    """
    ours, theirs, variables = merged.companion.tools, merged.tools, merged.security.environment_variable_redaction
    rules = tuple(_rules(layers, real_path))
    if merged.security.disable_yolo_mode:
        rules = tuple(one for one in rules if not _allows_everything(one.rule))
    return ToolOptions(
        enabled=ours.enabled,
        mode=approval_mode(merged),
        sandbox=ours.sandbox,
        network=ours.network,
        environment=tuple(dict.fromkeys((*ours.environment, *variables.allowed))),
        without_environment=tuple(variables.blocked),
        sockets=tuple(ours.sockets),
        command_seconds=ours.command_seconds or None,
        inactivity_seconds=theirs.shell.inactivity_timeout or None,
        question_seconds=ours.question_seconds,
        core=None if theirs.core is None else frozenset(tool_rule(name, "allow").tool for name in theirs.core),
        rules=rules,
        keeps_rules=not merged.security.disable_always_allow,
        may_allow_everything=not merged.security.disable_yolo_mode,
    )


def approval_mode(merged: SettingsFile) -> Mode:
    """The mode of a session for which nobody chose one: ours, else what Gemini CLI would take."""
    wished = merged.general.default_approval_mode
    if merged.companion.tools.mode is not None:
        return merged.companion.tools.mode
    if wished is None or (wished == "plan" and not merged.general.plan.enabled):
        return "ask"
    return _MODES[wished]


def _allows_everything(rule: ToolRule) -> bool:
    return rule.decision == "allow" and rule.tool == "*" and rule.path is None and rule.command is None


def tool_rule(text: str, decision: Decision) -> ToolRule:
    """The rule of an entry as Gemini CLI has it: `write_file`, or `run_shell_command(git status)` for a prefix."""
    name, opening, rest = text.strip().partition("(")
    tool = tool_name(name, decision)
    words = rest.removesuffix(")").strip()
    if (
        decision != "allow" and tool != _SHELL
    ):  # as Claude Code has it, `Read(./.env)`; what cannot be said is all of it
        path = words.removeprefix("./") if tool in _BY_PATH and words[:1] not in ("/", "~") else ""
        return ToolRule(tool=tool, decision=decision, path=path or None)
    words = words if decision == "allow" else words.removesuffix(":*").rstrip()  # that, too
    if not opening or not words or words == "*":
        return ToolRule(tool=tool, decision=decision)
    try:
        command = tuple(shlex.split(words))
    except ValueError:
        command = tuple(words.split())
    return ToolRule(tool=tool, decision=decision, command=command)


def tool_name(text: str, decision: Decision) -> str:
    """The tool that a rule means; what allows has to spell its name exactly."""
    name = text.strip()
    return _CLASSES.get(name, name) if decision == "allow" else _LOOSELY.get(name.casefold(), name)


def unknown_names(layer: SettingsFile) -> list[str]:
    """Names of tools that a layer restricts, and that no built-in tool has: mistyped, or a server's."""
    restricted = dict.fromkeys(tool_name(text, "deny") for text in _restricted(layer))
    return [name for name in restricted if name not in (*NAMES, "*") and not name.startswith("mcp_")]


def names_of_others(layer: SettingsFile) -> dict[str, str]:
    """The tools that a layer restricts by another program's name for them, by that name."""
    return {text: _OF_OTHERS[text.casefold()] for text in _restricted(layer) if text.casefold() in _OF_OTHERS}


def _restricted(layer: SettingsFile) -> Iterator[str]:
    """The names of tools that a layer restricts, as it spells them."""
    for text in (*(layer.tools.exclude or ()), *(layer.tools.confirmation_required or ())):
        yield text.partition("(")[0].strip()
    yield from (one.tool.strip() for one in layer.companion.tools.rules if one.decision != "allow")


def denials(layer: JsonObject) -> JsonObject:
    """The part of a layer that forbids, of the rules that it may not set otherwise; what may be meant so, too."""
    rules = value_at(layer, RULES)
    kept = [one for one in cast("list[object]", rules) if _denies(one)] if isinstance(rules, list) else rules
    return cast("JsonObject", nested(RULES, kept)) if kept is not None and kept != [] else {}


def rule_json(rule: ToolRule) -> JsonObject:
    """A rule as it stands in a settings file."""
    return cast("JsonObject", msgspec.json.decode(msgspec.json.encode(rule)))


def _denies(rule: object) -> bool:
    return not isinstance(rule, dict) or cast("JsonObject", rule).get("decision") not in ("allow", "ask")


def _rules(layers: Iterable[tuple[str, SettingsFile]], real_path: Callable[[str], str]) -> Iterator[SettingsRule]:
    """Rules of all layers, and tools that any layer leaves out; of Gemini CLI's other lists the last layer's."""
    last: dict[Decision, list[SettingsRule]] = {}
    for name, layer in layers:
        source = _RULE_LAYERS[name]
        for one in layer.companion.tools.rules:
            command = None if one.command is None else tuple(one.command)
            folder = None if one.workspace is None else real_path(one.workspace)
            rule = ToolRule(
                tool=tool_name(one.tool, one.decision),
                decision=one.decision,
                path=one.path,
                command=command,
                exact=one.exact and command is not None,
                workspace=folder,
            )
            as_written = msgspec.structs.replace(rule, tool=one.tool, workspace=one.workspace)
            written = None if as_written == rule else as_written
            yield SettingsRule(rule=rule, source=source, as_written=written)
        yield from _listed(layer.tools.exclude or (), "deny", source)
        if layer.tools.allowed is not None:
            last["allow"] = list(_listed(layer.tools.allowed, "allow", source))
        if layer.tools.confirmation_required is not None:
            last["ask"] = list(_listed(layer.tools.confirmation_required, "ask", source))
    for listed in last.values():
        yield from listed


def _listed(texts: Sequence[str], decision: Decision, source: RuleLayer) -> Iterator[SettingsRule]:
    for text in texts:
        yield SettingsRule(rule=tool_rule(text, decision), source=source, is_own=False)

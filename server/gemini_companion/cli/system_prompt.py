"""`gemini-companion tokens --system`: the system prompt that a chat in this folder would have, and what it costs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import msgspec

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.adapters.watching import FileWatch
from gemini_companion.cli.progress import PhaseLine
from gemini_companion.cli.terminal import harmless
from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.system_prompt import report_for
from gemini_companion.sessions.system_prompt import SystemPromptReport
from gemini_companion.settings.service import SettingsService
from gemini_companion.wiring.places import data_directory, home_directory
from gemini_companion.wiring.services import build_services

_FROM = {"builtIn": "built in", "GEMINI_SYSTEM_MD": "of the file that GEMINI_SYSTEM_MD names"}


async def show_system_prompt(env: Mapping[str, str], *, model: str, as_json: bool) -> int:
    """Print the prompt, and to stderr a table of its sections with tokens. Returns the exit code.

    The folder is trusted if the user's settings say so; only then git is asked, and its own system prompt read.
    """
    folders = (os.getcwd(),)
    settings = SettingsService(
        home_directory(env), env, folders, on_changed=lambda keys: None, on_problem=_tell, watch_files=FileWatch
    )
    settings.set_workspace(folders, trusted=None)
    try:
        services = build_services(
            env,
            store=MemoryStore(str(data_directory(env) / "files" / "none")),
            settings=lambda: settings.current,
            system_prompt=settings.system_prompt,
            trusted=settings.is_trusted,
        )
        client = Client("command-line", PhaseLine(quiet=True), name="command line")
        client.folders = folders
        report = await report_for(services, client, model=model)
    finally:
        settings.close()
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        _print(report)
    return 0


def _print(report: SystemPromptReport) -> None:
    print(harmless(report.text))
    sys.stdout.flush()
    for section in report.sections:
        print(f"{section.name.replace('_', ' '):>24}  {section.tokens:>8,}", file=sys.stderr)
    print(f"{'total':>24}  {report.tokens:>8,}  (estimate; {_FROM.get(report.source, '')})", file=sys.stderr)


def _tell(fault: CompanionError) -> None:
    print(f"gemini-companion: {harmless(fault.message_with_hint)}", file=sys.stderr)

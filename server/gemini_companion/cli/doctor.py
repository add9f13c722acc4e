"""`gemini-companion doctor`: what works here, what does not, and how to fix it."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gemini_companion import __version__
from gemini_companion.cli.checks import Check
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.hooks.config import HookOptions
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.environment import Environment
from gemini_companion.settings.reading import shown
from gemini_companion.settings.telemetry import TelemetryOptions

if TYPE_CHECKING:
    from gemini_companion.adapters.vault.vault import Vault

CHECK_SECONDS = 20.0
"""Longest wait for the model's service."""

LOAD_SECONDS = 300.0
"""Longest wait for a model that is loaded into this machine's memory."""


async def doctor(env: Mapping[str, str], *, as_json: bool) -> int:
    """Print every check. Returns 0, or 1 if one failed."""
    checks = [_python(), *_settings(env), *await _servers(env), *await _storage(env), await _model(env)]
    if as_json:
        sys.stdout.write(msgspec.json.encode({"version": __version__, "checks": checks}).decode() + "\n")
    else:
        marks = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}
        print(f"gemini-companion {__version__}")
        for check in checks:
            print(f"  {marks[check.verdict]}  {check.name:<10}  {check.detail}")
            if check.hint:
                print(f"{'':23}{check.hint}")
    return 1 if any(check.verdict == "failed" for check in checks) else 0


def _python() -> Check:
    return Check(
        name="python",
        verdict="ok",
        detail=f"Python {platform.python_version()} on {platform.system()} ({sys.executable})",
    )


def _settings(env: Mapping[str, str]) -> list[Check]:
    from gemini_companion.cli.config import load_here, shown_value
    from gemini_companion.settings.in_force import place_of, settings_in_force

    loader, loaded, _ = load_here(env)
    if loaded.problems:
        return [
            Check(name="settings", verdict="failed", detail=problem.message, hint=problem.hint)
            for problem in loaded.problems
        ]
    found = [str(path) for path in loader.files if path.is_file()]
    files = ", ".join(found) or "no settings file; the defaults are in force"
    return [
        Check(name="settings", verdict="ok", detail=files),
        *(
            Check(name="settings", verdict="warning", detail=remark.message, hint=remark.hint)
            for _, remark in loaded.remarks
        ),
        *(
            Check(name="setting", verdict="ok", detail=f"{one.key} = {shown_value(one.value)} ({place_of(one)})")
            for one in settings_in_force(loaded)
            if one.layer != "default"
        ),
        _limits(loaded.settings),
        *_keys(loaded.environment),
        *_hooks(loaded.settings.hooks),
        *_telemetry(loaded.settings.telemetry),
    ]


def _keys(environment: Environment) -> list[Check]:
    """Keys that stand in a `.env` file, and where; never what they are."""
    places = ((name, environment.place(name)) for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"))
    return [
        Check(name="key", verdict="ok", detail=f"{name} ({shown(place[0])}:{place[1]})")
        for name, place in places
        if place
    ]


def _limits(settings: Settings) -> Check:
    """How much a daemon does at once."""
    calls, processes = settings.most_model_calls, settings.most_processes
    detail = f"at most {calls:,} requests to models and {processes:,} processes at once, over all chats"
    return Check(name="limits", verdict="ok", detail=f"{detail} (companion.limits)")


def _hooks(options: HookOptions) -> list[Check]:
    """The user's own hooks, as a workspace is not trusted here; nothing where there are none."""
    checks = [Check(name="hooks", verdict="warning", detail=problem) for problem in options.problems]
    if options.hooks:
        listed = [f"{hook.event} {hook.label}{'' if options.is_on(hook) else ' (off)'}" for hook in options.hooks]
        checks.append(Check(name="hooks", verdict="ok", detail=f"your own: {', '.join(listed)}"))
    return checks


def _telemetry(options: TelemetryOptions) -> list[Check]:
    """Where telemetry goes; nothing where it is off."""
    from importlib.util import find_spec

    if not options.enabled:
        return []
    if options.problem:
        return [Check(name="telemetry", verdict="warning", detail=options.problem)]
    if find_spec("opentelemetry") is None:
        hint = f"{sys.executable} -m pip install 'gemini-companion[telemetry]'"
        return [Check(name="telemetry", verdict="warning", detail="on, but its packages are missing", hint=hint)]
    where = options.outfile or f"{options.endpoint_shown} ({options.protocol})"
    texts = "with texts" if options.log_prompts else "without texts"
    return [Check(name="telemetry", verdict="ok", detail=f"on, {texts}, to {where}")]


async def _servers(env: Mapping[str, str]) -> list[Check]:
    """The user's own MCP servers, as a workspace is not trusted here."""
    from gemini_companion.cli.config import load_here

    _, loaded, _ = load_here(env)
    options = loaded.settings.mcp
    if not options.servers and not options.problems:
        return []
    from gemini_companion.cli.doctor_servers import server_checks

    return await server_checks(env, options)


async def _storage(env: Mapping[str, str]) -> list[Check]:
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.storage.project import project_key
    from gemini_companion.adapters.storage.store import open_store
    from gemini_companion.cli.config import load_here
    from gemini_companion.wiring.places import data_directory
    from gemini_companion.wiring.vault import build_vault

    directory: Path = data_directory(env)
    _, loaded, _ = load_here(env)
    vault = build_vault(env, lambda: loaded.settings)
    store = open_store(directory, project_key([os.getcwd()]), clock=SystemClock(), vault=vault)
    try:
        page, (secrets, left) = await store.list(limit=1), await store.secrets()
    except CompanionError as fault:
        return [Check(name="storage", verdict="failed", detail=fault.message, hint=fault.hint)]
    finally:
        await store.close()
    found = f"{directory} ({'has' if page.sessions else 'no'} sessions for this folder)"
    return [Check(name="storage", verdict="ok", detail=found), await asyncio.to_thread(_vault, vault, secrets, left)]


def _vault(vault: Vault, secrets: int, left: int) -> Check:
    """Whether secrets are kept out of what is stored, by what, and where the key is that brings them back."""
    held = f"the vault holds {secrets} secret{'' if secrets == 1 else 's'} of this folder's chats"
    places = {"keyring": "its key is in the system's keyring", "file": f"its key is a file in {vault.keys.directory}"}
    place = vault.keys.place()
    where = places[place] if place is not None else "it has no key yet"
    if not vault.is_on():
        hint = "Take companion.redaction out of your settings to keep them out of what is stored."
        return Check(name="secrets", verdict="warning", detail=f"redaction is off; {held}; {where}", hint=hint)
    if not vault.keys.is_there():
        return Check(
            name="secrets",
            verdict="warning",
            detail=f"{held}, but {where}, which does not have it now",
            hint="Earlier secrets stay hidden until it is back. Chats go on; what comes now gets a new key.",
        )
    finders = "our own patterns and Betterleaks" if vault.betterleaks.is_there else "our own patterns alone"
    detail = f"redaction is on, by {finders}; {held}; {where}"
    if left:
        detail += f"; {left:,} stored entries are still to be gone through, which the daemon does when it runs"
    return Check(name="secrets", verdict="ok", detail=detail)


async def _model(env: Mapping[str, str]) -> Check:
    from gemini_companion.cli.config import load_here
    from gemini_companion.wiring.services import build_models

    _, loaded, _ = load_here(env)
    settings = loaded.settings
    models = build_models(env, lambda: settings, loaded.environment)
    choice = models.choose(settings)
    try:
        if not choice.provider.capabilities.counts_remotely:
            wanted = f"; {choice.asked} was asked for, but {choice.reason}" if choice.is_fallback else ""
            hint = choice.remedy
            return Check(
                name="model",
                verdict="warning" if hint else "ok",
                detail=f"the built-in offline model answers{wanted}",
                hint=hint,
            )
        request = ModelRequest(model=choice.name, contents=(user_text("hi"),))
        is_here = choice.provider.capabilities.runs_here
        async with asyncio.timeout(LOAD_SECONDS if is_here else CHECK_SECONDS):
            await choice.provider.count_tokens(request)
        where = next((known.title for known in models.models if known.name == choice.name), "") if is_here else ""
        answers = f"{choice.name} answers ({choice.reason})"
        return Check(name="model", verdict="ok", detail=f"{answers}: {where}" if where else answers)
    except CompanionError as fault:
        return Check(name="model", verdict="failed", detail=fault.message, hint=fault.hint)
    except TimeoutError:
        return Check(
            name="model",
            verdict="failed",
            detail=f"{choice.name} did not answer in time.",
            hint="Check the network, or choose a smaller file if the model runs here.",
        )
    finally:
        await models.close()

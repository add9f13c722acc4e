"""`gemini-companion doctor`: what works here, what does not, and how to fix it."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gemini_companion import __version__
from gemini_companion.cli.checks import Check
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.hooks.config import HookOptions
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.settings.load import SettingsLoader

CHECK_SECONDS = 20.0
"""Longest wait for the model's service."""

LOAD_SECONDS = 300.0
"""Longest wait for a model that is loaded into this machine's memory."""


async def doctor(env: Mapping[str, str], *, as_json: bool) -> int:
    """Print every check. Returns 0, or 1 if one failed."""
    checks = [_python(), *_settings(env), *await _servers(env), await _storage(env), await _model(env)]
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
            Check(name="setting", verdict="ok", detail=f"{one.key} = {shown_value(one.value)} ({place_of(one)})")
            for one in settings_in_force(loaded, env)
            if one.layer != "default"
        ),
        *_hooks(loaded.settings.hooks),
    ]


def _hooks(options: HookOptions) -> list[Check]:
    """The user's own hooks, as a workspace is not trusted here; nothing where there are none."""
    checks = [Check(name="hooks", verdict="warning", detail=problem) for problem in options.problems]
    if options.hooks:
        listed = [f"{hook.event} {hook.label}{'' if options.is_on(hook) else ' (off)'}" for hook in options.hooks]
        checks.append(Check(name="hooks", verdict="ok", detail=f"your own: {', '.join(listed)}"))
    return checks


async def _servers(env: Mapping[str, str]) -> list[Check]:
    """The user's own MCP servers, as a workspace is not trusted here."""
    from gemini_companion.cli.config import load_here

    _, loaded, _ = load_here(env)
    options = loaded.settings.mcp
    if not options.servers and not options.problems:
        return []
    from gemini_companion.cli.doctor_servers import server_checks

    return await server_checks(env, options)


async def _storage(env: Mapping[str, str]) -> Check:
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.storage.store import open_store, project_key
    from gemini_companion.wiring.places import data_directory

    directory: Path = data_directory(env)
    store = open_store(directory, project_key([os.getcwd()]), clock=SystemClock())
    try:
        page = await store.list(limit=1)
    except CompanionError as fault:
        return Check(name="storage", verdict="failed", detail=fault.message, hint=fault.hint)
    finally:
        await store.close()
    return Check(
        name="storage",
        verdict="ok",
        detail=f"{directory} ({'has' if page.sessions else 'no'} sessions for this folder)",
    )


async def _model(env: Mapping[str, str]) -> Check:
    from gemini_companion.wiring.places import home_directory
    from gemini_companion.wiring.services import build_models

    settings = SettingsLoader(home_directory(env), (os.getcwd(),), env).reload(trusted=False).settings
    models = build_models(env, lambda: settings)
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

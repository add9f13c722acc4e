"""`gemini-companion changes`: what a session's turns did to files, and putting them back."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping

import msgspec

from gemini_companion.cli.sessions import open_application
from gemini_companion.cli.terminal import harmless, on_one_line
from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.tool_results import Change, RevertResult
from gemini_companion.sessions.tools.changes_chosen import RevertWish
from gemini_companion.sessions.tools.changes_reverted import revert, settle_all
from gemini_companion.sessions.tools.changes_shown import change_list


async def changes(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """List the changes of a session, by default of the newest one, or take some back. Returns the exit code: 1 if a
    file was left as it is. Raises `CompanionError`.
    """
    async with open_application(env) as (app, client):
        session_id = options.session or await _newest(app)
        if options.action == "revert":
            path = os.path.realpath(options.path) if options.path else None
            wish = RevertWish(
                turn_id=options.turn,
                path=path,
                since=options.since,
                change_id=options.change,
                dry_run=options.dry_run,
            )
            session = await app.hold(client, session_id)
            await settle_all(session, lambda one: app.hold(client, one), client, app.tooling)
            result = await revert(session, client, app.tooling, wish)
            _tell(result, options)
            return 1 if result.conflicts else 0
        session = await app.load(client, session_id)
        await settle_all(session, lambda one: app.hold(client, one), client, app.tooling)
        found = await change_list(session)
    if options.json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return 0
    if not found.changes:
        print("No file was changed in this session.")
    for change in found.changes:
        _show(change)
    if found.note:
        print(found.note)
    return 0


async def _newest(app: Application) -> str:
    sessions = (await app.list_sessions(limit=1)).sessions
    if not sessions:
        raise SessionNotFound("There is no session in this folder's project yet.")
    return sessions[0].session_id


def _show(change: Change) -> None:
    path = on_one_line(os.path.relpath(change.path))
    before = f" from {on_one_line(os.path.relpath(change.from_path))}" if change.from_path else ""
    by = " by a command" if change.by_command else ""
    by += f" by {on_one_line(', '.join(change.agents))}" if change.agents else ""
    state = {"made": "", "reverted": ", taken back", "kept": ", kept"}[change.state]
    print(f"{path}: {change.kind}{before}{by}, +{change.added} −{change.removed}{state}  (turn {change.turn_id})")
    if not change.can_revert and change.state != "reverted":
        print(f"   {on_one_line(change.reason)}")
    for line in harmless(change.diff).splitlines():
        print(f"   {line}")
    print()


def _tell(result: RevertResult, options: argparse.Namespace) -> None:
    if options.json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        return
    for path in result.reverted:
        print(f"{'Would put back' if options.dry_run else 'Put back'} {on_one_line(os.path.relpath(path))}")
    for conflict in result.conflicts:
        print(f"Left {on_one_line(os.path.relpath(conflict.path))}: {on_one_line(conflict.reason)}", file=sys.stderr)
    if not result.reverted and not result.conflicts:
        print("There is nothing to take back.")
    if result.note:
        print(on_one_line(result.note))
    if result.change_id is not None:
        print(f"To take that back: gemini-companion changes revert --change {result.change_id}")

"""`gemini-companion sessions`: the stored sessions of the current folder's project."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import msgspec

from gemini_companion.cli.files import write_whole
from gemini_companion.cli.gemini_cli_folder import chats_folder, file_name
from gemini_companion.cli.terminal import harmless, on_one_line
from gemini_companion.engine.errors import SessionBusy, SessionNotFound
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import visible_text
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.interchange.gemini_cli_export import gemini_cli_id
from gemini_companion.sessions.results import CompressionStatusReport, SessionInfo
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import HistoryItem
from gemini_companion.settings.load import SettingsLoader


class _NullSink:
    """A `ClientSink` that ignores everything."""

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Do nothing."""

    def status(self, report: CompressionStatusReport) -> None:
        """Do nothing."""

    def taken(self, session_id: str) -> None:
        """Do nothing."""


@asynccontextmanager
async def open_application(env: Mapping[str, str]) -> AsyncGenerator[tuple[Application, Client]]:
    """The application on the current folder's project, and the command line as its client."""
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.storage.project import project_key
    from gemini_companion.adapters.storage.store import open_store
    from gemini_companion.wiring.places import data_directory, home_directory
    from gemini_companion.wiring.services import build_services
    from gemini_companion.wiring.vault import build_vault

    folder = os.getcwd()
    loaded = SettingsLoader(home_directory(env), (), env).reload(trusted=False)
    for problem in loaded.problems:
        print(problem.message_with_hint, file=sys.stderr)
    settings = loaded.settings

    def notify(message: str) -> None:
        print(message, file=sys.stderr)

    vault = build_vault(env, lambda: settings, notify=notify)
    store = open_store(data_directory(env), project_key([folder]), clock=SystemClock(), notify=notify, vault=vault)
    services = build_services(
        env,
        store=store,
        settings=lambda: settings,
        with_environment=False,
        environment=loaded.environment,
        vault=vault,
    )
    app = Application(services)
    client = Client("command-line", _NullSink(), name="command line")
    client.folders = (folder,)
    app.attach(client)
    try:
        yield app, client
    except SessionNotFound as fault:
        hint = (
            "`gemini-companion sessions list` names those of this folder; a session belongs to the folder that it was"
            " begun in."
        )
        raise SessionNotFound(fault.message, hint=hint) from None
    except SessionBusy as fault:
        raise SessionBusy(
            fault.message, hint="Close the editor that uses it, or start a new chat there, then try again."
        ) from None
    finally:
        await app.close()


async def sessions(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Run the action in `options.action`. Returns the exit code. Raises `CompanionError`."""
    async with open_application(env) as (app, client):
        return await _act(app, client, env, options)


async def _act(app: Application, client: Client, env: Mapping[str, str], options: argparse.Namespace) -> int:
    match options.action:
        case "list":
            await _list(app, options)
        case "show":
            await _show(app, client, options)
        case "stats":
            from gemini_companion.cli.stats import print_stats

            await print_stats(app, client, options.id, as_json=options.json)
        case "export":
            if options.to_gemini_cli:
                await _to_gemini_cli(app, client, env, options.id)
            else:
                *most, last = await app.export(client, options.id, options.format)
                sys.stdout.writelines((*most, last.rstrip("\n"), "\n"))
        case "import":
            info = await app.import_session(client, os.path.abspath(options.file))
            for warning in info.warnings:
                print(on_one_line(warning), file=sys.stderr)
            print(f"Imported as {info.session_id}: {on_one_line(info.title)}")
        case "keep":
            info = await app.keep(client, options.id, on=not options.off)
            print(f"{info.session_id} {'stays' if info.is_kept else 'may go as others do'}.")
        case _:
            await app.delete(options.id)
            print(f"Deleted {options.id}.")
    return 0


async def _to_gemini_cli(app: Application, client: Client, env: Mapping[str, str], session_id: str) -> None:
    from gemini_companion.wiring.places import home_directory

    text = "".join(await app.export(client, session_id, "gemini-cli"))
    meta = (await app.load(client, session_id)).meta
    project = os.path.realpath(next(iter(meta.workspace_folders), os.getcwd()))
    known_as = gemini_cli_id(session_id)
    path = chats_folder(home_directory(env), env, project) / file_name(known_as, meta.created_at)
    write_whole(str(path), text.encode() + b"\n")
    print(f"Written to {path}\nTo go on with it: cd {shlex.quote(project)} && gemini --resume {known_as}")


async def _list(app: Application, options: argparse.Namespace) -> None:
    cursor: str | None = None
    found: list[SessionInfo] = []
    while True:
        page = await app.list_sessions(query=options.query, limit=200, cursor=cursor)
        found.extend(page.sessions)
        cursor = page.next_cursor
        if cursor is None:
            break
    if options.json:
        sys.stdout.write(msgspec.json.encode({"sessions": found}).decode() + "\n")
        return
    if not found:
        print(
            "No session of this folder's project holds these words."
            if options.query
            else "No sessions in this folder's project yet."
        )
    for info in found:
        when = datetime.datetime.fromtimestamp(info.updated_at / 1000).strftime("%Y-%m-%d %H:%M")
        held = f"  (held by process {info.held_by})" if info.held_by else ""
        turns = f"{info.turns:>4} turn " if info.turns == 1 else f"{info.turns:>4} turns"
        print(
            f"{info.session_id}  {when}  {turns}  {info.token_count:>9,} tokens"
            f"  {_room(info)}  {on_one_line(info.title) or 'untitled'}{held}"
        )


def _room(info: SessionInfo) -> str:
    """What a session takes on disk, and when it goes."""
    size = f"{_megabytes(info.size or 0):>8}"
    if info.is_kept:
        return f"{size}  is kept          "
    if info.leaves_at is None:
        return f"{size}                   "
    return f"{size}  goes {datetime.datetime.fromtimestamp(info.leaves_at / 1000):%Y-%m-%d}  "


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


async def _show(app: Application, client: Client, options: argparse.Namespace) -> None:
    session = await app.load(client, options.id)
    page = await history_page(session, "transcript", cursor=None, limit=None)
    if options.json:
        sys.stdout.write(msgspec.json.encode(page).decode() + "\n")
        return
    for item in page.contents:
        print(f"--- {item.kind}{_marks(item)}")
        print(
            harmless(
                visible_text(Content(role=item.role, parts=item.parts)) or json.dumps(item.parts, ensure_ascii=False)
            )
        )
        if item.shown is not None and item.shown.text:
            print(f"--- what came of the answer\n{harmless(item.shown.text)}")


def _marks(item: HistoryItem) -> str:
    marks = [mark for mark in (item.outcome, "hidden by a compression" if item.hidden_by else None) if mark]
    return f" ({', '.join(marks)})" if marks else ""

"""`gemini-companion report`: how good compressions were in the sessions of the current folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import msgspec

from gemini_companion.cli.files import check_writable, write_whole
from gemini_companion.cli.terminal import harmless
from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, Entry, RatingEntry, UndoEntry
from gemini_companion.evaluation.quality import quality_of
from gemini_companion.evaluation.quality_report import quality_page, quality_text
from gemini_companion.sessions.ports import SessionStore
from gemini_companion.settings.load import SettingsLoader

_READ = (CompressionEntry, AttemptEntry, UndoEntry, RatingEntry)


async def report(env: Mapping[str, str], *, as_json: bool, html: str | None) -> int:
    """Read every session's log, print the report or write it as a page. Nothing is changed. Returns the exit code."""
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.storage.project import project_key
    from gemini_companion.adapters.storage.store import open_store
    from gemini_companion.wiring.places import data_directory, home_directory
    from gemini_companion.wiring.vault import build_vault

    if html:
        check_writable(html)
    settings = SettingsLoader(home_directory(env), (), env).reload(trusted=False).settings
    store = open_store(
        data_directory(env),
        project_key([os.getcwd()]),
        clock=SystemClock(),
        notify=lambda message: print(harmless(message), file=sys.stderr),
        vault=build_vault(env, lambda: settings),
    )
    try:
        found = quality_of(await _logs(store))
    finally:
        await store.close()
    if html:
        write_whole(html, quality_page(found).encode())
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    elif html:
        print(f"The report: {html}")
    else:
        print(quality_text(found))
    return 0


async def _logs(store: SessionStore) -> list[list[Entry]]:
    """Of every session's log what a report is made of."""
    logs: list[list[Entry]] = []
    cursor: str | None = None
    while True:
        page = await store.list(limit=100, cursor=cursor)
        for meta in page.sessions:
            try:
                _, entries = await store.load(meta.session_id)
            except SessionNotFound:  # deleted meanwhile
                continue
            logs.append([entry for entry in entries if isinstance(entry, _READ)])
        cursor = page.next_cursor
        if cursor is None:
            return logs

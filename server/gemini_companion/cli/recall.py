"""`gemini-companion recall`: what was said in the sessions of the current folder's project."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Mapping

import msgspec

from gemini_companion.cli.sessions import open_application
from gemini_companion.cli.terminal import harmless, on_one_line
from gemini_companion.sessions.recall.service import recall
from gemini_companion.sessions.recalled import RecallHit
from gemini_companion.sessions.services import Services


async def recall_(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Search for `options.query`, or show what `options.call` put out.

    Returns the exit code. Raises `CompanionError`.
    """
    async with open_application(env) as (app, _):
        if options.call is not None:
            return await _show_output(app.services, options)
        store = app.services.store.recall
        if sys.stderr.isatty():
            print("Searching …", file=sys.stderr)
        await store.index()  # nobody waits for anything else here
        result = await recall(app.services, query=options.query, session_id=options.session, limit=options.limit)
    if options.json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        return 0
    if not result.hits:
        print("Nothing of the kind was said in the sessions of this folder's project.")
    for number, hit in enumerate(result.hits, start=1):
        _show(number, hit)
    return 0


async def _show_output(services: Services, options: argparse.Namespace) -> int:
    """Write all that a call put out, piece by piece, or its lines with some words. Returns the exit code."""
    offset, total = 0, 1
    while offset < total:
        result = await recall(
            services, query=options.query, tool_call_id=options.call, session_id=options.session, offset=offset
        )
        if not result.hits:
            print("The session has no call with this id.", file=sys.stderr)
            return 1
        (hit,) = result.hits
        offset, total = offset + len(hit.text), 0 if options.query else hit.characters  # lines with words come at once
        sys.stdout.write(msgspec.json.encode(hit).decode() + "\n" if options.json else harmless(hit.text))
    if not options.json:
        print()
    return 0


def _show(number: int, hit: RecallHit) -> None:
    when = datetime.datetime.fromtimestamp(hit.time / 1000).strftime("%Y-%m-%d %H:%M")
    hidden = ", hidden from the model by a compression" if hit.is_hidden else ""
    print(f"{number}. {when}  {hit.role}  “{on_one_line(hit.session_title) or 'untitled'}”{hidden}")
    print(f"   session {on_one_line(hit.session_id)}  turn {on_one_line(hit.turn_id)}")
    for line in harmless(hit.text).splitlines():
        print(f"   {line}")
    print()

"""`gemini-companion report SESSION -o FILE`: one session as a page that stands alone."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping

from gemini_companion.cli.files import check_writable, write_whole
from gemini_companion.cli.sessions import open_application
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.evaluation.session_page import session_page
from gemini_companion.evaluation.session_report import SessionReport, report_of


async def session_report(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Write the page. Nothing of the session is changed. Returns the exit code; raises `CompanionError`."""
    if options.json or options.html:
        raise InvalidInput(
            "--json and --html are for the report over all sessions.",
            hint="`gemini-companion sessions stats ID --json` has the numbers of one; -o FILE writes its page.",
        )
    if not options.output:
        raise InvalidInput("The report of a session needs a file.", hint="Name it: -o FILE.html")
    check_writable(options.output)
    async with open_application(env) as (app, client):
        session = await app.load(client, options.session)
        report = await report_of(app, session, with_text=options.with_text)
        written = await asyncio.to_thread(_page, report, app.services.exported)
    write_whole(options.output, written.encode("utf-8", "replace"))
    print(f"The report: {options.output}")
    return 0


def _page(report: SessionReport, exported: Callable[[str], str]) -> str:
    """The page as it may leave this machine."""
    return json.loads(exported(json.dumps(session_page(report))))

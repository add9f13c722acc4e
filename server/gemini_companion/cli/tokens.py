"""`gemini-companion tokens`: the token estimate for a file."""

from __future__ import annotations

import sys

import msgspec

from gemini_companion.cli.files import read_session
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import RequestParts, TokenLedger
from gemini_companion.sessions.interchange.importing import log_of


def count_file(name: str, *, as_json: bool) -> int:
    """Print `{total, byPart, source}` for the file's history and system instruction alone. Returns the exit code.

    What counts is what a model would get: a result without its call does not.
    """
    imported = read_session(name)
    ledger = TokenLedger()
    system = round(ledger.count_text(imported.system_instruction or ""))
    view = History(ledger.measure, log_of(imported, now=0))
    parts = RequestParts(system_instruction=system).with_totals(view.totals())
    report = {"total": parts.total, "byPart": parts, "source": "estimate"}
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
        return 0
    rows = [(name.replace("_", " "), getattr(parts, name)) for name in RequestParts.__struct_fields__]
    for label, tokens in rows:
        if tokens:
            print(f"{label:>20}  {tokens:>12,}")
    print(f"{'total':>20}  {parts.total:>12,}  (estimate)")
    return 0

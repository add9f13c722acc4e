"""`gemini-companion tokens`: the token estimate for a file."""

from __future__ import annotations

import sys

import msgspec

from gemini_companion.cli.files import read_session
from gemini_companion.engine.tokens.ledger import RequestParts, TokenLedger


def count_file(name: str, *, as_json: bool) -> int:
    """Print `{total, byPart, source}` for the file's history and system instruction alone. Returns the exit code."""
    imported = read_session(name)
    ledger = TokenLedger()
    system = round(ledger.count_text(imported.system_instruction or ""))
    parts = RequestParts(system_instruction=system).with_totals(ledger.totals(imported.contents))
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

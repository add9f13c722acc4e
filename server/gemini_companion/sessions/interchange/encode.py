"""Writing a session to a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.interchange.companion import encode_export
from gemini_companion.sessions.interchange.gemini_cli_export import encode_for_gemini_cli
from gemini_companion.sessions.interchange.pieces import Piece
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import ExportFormat


def encode_session(
    meta: SessionMeta,
    entries: Sequence[Entry],
    contents: Sequence[Content],
    format: ExportFormat,
    *,
    snapshots_at: Sequence[int] = (),
) -> Iterator[Piece]:
    """A session file, in pieces; see `pieces.text_of`.

    `companion` has the whole log and loses nothing; `gemini-cli` has `contents`, the curated view, in the form that
    Gemini CLI loads, and `gemini-cli-jsonl` the same in the form that it writes. `decode_session_file` reads all of
    them. `snapshots_at` are the indexes of snapshots in `contents`.
    """
    if format == "companion":
        return encode_export(meta, entries, contents)
    as_lines = format == "gemini-cli-jsonl"
    return encode_for_gemini_cli(meta, entries, contents, snapshots_at, as_lines=as_lines)

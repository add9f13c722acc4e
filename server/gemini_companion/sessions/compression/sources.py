"""Which turns the lines of a snapshot come from."""

from __future__ import annotations

from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.sessions.results import CompressionSources, SourcedLine
from gemini_companion.sessions.session import Session


async def snapshot_sources(session: Session, compression_id: str) -> CompressionSources:
    """The lines of a snapshot with the contents that they rest on; a preview's as well.

    Raises `CompressionNotFound`.
    """
    entry = _find(session, compression_id)
    items = {item.seq: item for item in session.history.sources}
    lines: list[SourcedLine] = []
    for source in entry.sources:
        found = [items[seq] for seq in source.seqs if seq in items]
        if found:
            lines.append(
                SourcedLine(
                    line=source.line,
                    turn_ids=tuple(dict.fromkeys(item.turn_id for item in found)),
                    entry_ids=tuple(item.entry_id for item in found),
                )
            )
    return CompressionSources(compression_id=compression_id, lines=tuple(lines))


def _find(session: Session, compression_id: str) -> CompressionEntry:
    history = session.history
    if history.preview is not None and history.preview.compression_id == compression_id:
        return history.preview.compression
    entry = history.compressions.get(compression_id)
    if entry is None:
        raise CompressionNotFound(
            f"There is no compression {compression_id}.", hint="gemini/compression/list names them."
        )
    return entry

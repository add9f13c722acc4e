"""Which turns the lines of a snapshot come from."""

from __future__ import annotations

from gemini_companion.engine.compression.citations import carried_sources
from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.facts.attribution import attribute, lines_to_attribute
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.retention import LineSource
from gemini_companion.engine.history.sources import Sources, within
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.compression.results import CompressionSources, SourcedLine
from gemini_companion.sessions.compression.summariser import Written
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread


def sources_of_lines(history: History, entry: CompressionEntry, written: Written) -> tuple[LineSource, ...]:
    """The sources that the author of a snapshot named; lines taken over from an earlier snapshot keep theirs."""
    sources = written.sources
    for covered in entry.covers:
        if (earlier := history.in_force.get(covered)) is not None:
            sources = carried_sources(written.snapshot, sources, earlier.result.snapshot, earlier.sources)
    return sources


async def snapshot_sources(session: Session, compression_id: str) -> CompressionSources:
    """The lines of a snapshot with the contents that they rest on; a preview's as well.

    Lines of which nobody said so are looked for in what is hidden; a line whose source cannot be told is left out.
    Raises `CompressionNotFound`.
    """
    entry = find_compression(session, compression_id)
    sources = session.history.sources.copied()

    def look(poll: Poll) -> tuple[SourcedLine, ...]:
        hidden = hidden_items(sources, entry)
        items = {item.seq: item for item in hidden}
        return tuple(
            _line(source.line, found)
            for source in _all_sources(entry, hidden, poll)
            if (found := [items[seq] for seq in source.seqs if seq in items])
        )

    return CompressionSources(compression_id=compression_id, lines=await in_thread(look, units=len(sources)))


def _all_sources(entry: CompressionEntry, hidden: list[Item], poll: Poll) -> list[LineSource]:
    lines = lines_to_attribute(entry.result.snapshot or "")
    known = {source.line: source.seqs for source in entry.sources if source.line in lines}
    unknown = {line: text for line, text in lines.items() if line not in known}
    known |= attribute(unknown, sources_of(hidden), poll=poll)
    return [LineSource(line=line, seqs=known[line]) for line in sorted(known)]


def _line(line: int, found: list[Item]) -> SourcedLine:
    return SourcedLine(
        line=line,
        turn_ids=tuple(dict.fromkeys(item.turn_id for item in found)),
        entry_ids=tuple(item.entry_id for item in found),
    )


def hidden_items(sources: Sources, entry: CompressionEntry) -> list[Item]:
    """The contents behind a snapshot, as they were, without the editor's state."""
    if entry.hides is None:
        return []
    return [item for item in within(sources, *entry.hides) if item.seq not in entry.keeps and item.kind != "ide"]


def find_compression(session: Session, compression_id: str) -> CompressionEntry:
    """A compression that was ever installed, or the preview. Raises `CompressionNotFound`."""
    history = session.history
    if history.preview is not None and history.preview.compression_id == compression_id:
        return history.preview.compression
    entry = history.compressions.get(compression_id)
    if entry is None:
        raise CompressionNotFound(
            f"There is no compression {compression_id}.", hint="gemini/compression/list names them."
        )
    return entry

"""Finding the workspace's files and folders by a part of their name."""

from __future__ import annotations

import asyncio
import heapq
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.ports import Listed, Listing, WorkspaceFiles
from gemini_companion.sessions.results import WorkspaceFile, WorkspaceFileList

_IN_A_ROW: Final = 4
_WORD_START: Final = 8
_WHOLE_IN_NAME: Final = 6
_BEGINS_NAME: Final = 20
_IS_NAME: Final = 20
_OPEN: Final = 5
_PER_SIGN: Final = 0.1
"""Cost of each character of a path: of two that match alike, the shorter one ranks first."""

_UNTYPED: Final = re.compile(r'[\s"]+|\\(?=\s)')
"""Quotes and white space of a half-typed mention."""
_BREAKS: Final = frozenset("/._- ")


class _Candidate(NamedTuple):
    entry: Listed
    label: str
    is_open: bool


async def find_files(workspace: WorkspaceFiles, client: Client, query: str, limit: int) -> WorkspaceFileList:
    """The files that match the query, best first, at most `limit`.

    Without a query: the client's open files, newest first, then those nearest to their folder.
    """
    opened = await _open_files(workspace, client)
    listing = await workspace.listing(client.folders)
    return await asyncio.to_thread(_found, listing, opened, client.folders, query, limit)


async def _open_files(workspace: WorkspaceFiles, client: Client) -> list[Listed]:
    """The editor's open files that may be shown, newest first."""
    newest_first = sorted(client.editor.files(), key=lambda file: file.last_focused_at, reverse=True)
    paths = list(dict.fromkeys(file.on_disk for file in newest_first if file.on_disk))
    verdicts = await workspace.admit(paths, client.folders)
    found = (_below(path, client.folders) for path in paths if verdicts[path] is None)
    return [entry for entry in found if entry is not None]


def _below(path: str, folders: Sequence[str]) -> Listed | None:
    for folder in folders:
        prefix = folder.rstrip(os.sep) + os.sep
        if path.startswith(prefix):
            return Listed(folder=folder, path=path[len(prefix) :].replace(os.sep, "/"))
    return None


def _found(
    listing: Listing, opened: Sequence[Listed], folders: Sequence[str], query: str, limit: int
) -> WorkspaceFileList:
    candidates = _candidates(listing, opened, folders)
    wanted = _UNTYPED.sub("", query).replace("\\", "/").lower()
    best = _best(candidates, wanted, limit + 1) if wanted else list(islice(candidates, limit + 1))
    files = tuple(_file(candidate) for candidate in best[:limit])
    return WorkspaceFileList(files=files, truncated=listing.truncated or len(best) > limit)


def _candidates(listing: Listing, opened: Sequence[Listed], folders: Sequence[str]) -> Iterator[_Candidate]:
    """Every file and folder once, the open files first."""
    names = Counter(_name(folder) for folder in folders)
    first = set(opened)
    for entry in (*opened, *(entry for entry in listing.entries if entry not in first)):
        if len(folders) < 2:
            label = entry.path
        elif names[_name(entry.folder)] == 1:
            label = f"{_name(entry.folder)}/{entry.path}"
        else:
            label = os.path.join(entry.folder, entry.path)
        yield _Candidate(entry, label, entry in first)


def _best(candidates: Iterator[_Candidate], wanted: str, count: int) -> list[_Candidate]:
    # The characters up to the next wanted one, each time: one pass, whatever was typed.
    matching = re.compile("".join(f"[^{sign}]*+{sign}" for sign in map(re.escape, wanted)))
    scored = (
        (_score(wanted, candidate), candidate) for candidate in candidates if matching.match(candidate.label.lower())
    )
    best = heapq.nsmallest(count, scored, key=lambda pair: (-pair[0], len(pair[1].label), pair[1].label))
    return [candidate for _, candidate in best]


def _score(wanted: str, candidate: _Candidate) -> float:
    """The rank of a path that has the wanted characters in their order; higher is better."""
    label = candidate.label
    plain = label.lower()
    shown = label if len(label) == len(plain) else plain
    base = plain.rfind("/") + 1
    at = plain.find(wanted, base)
    score = (_OPEN if candidate.is_open else 0) - _PER_SIGN * len(plain)
    if at >= 0:
        score += _WHOLE_IN_NAME
        score += _BEGINS_NAME if at == base else 0
        score += _IS_NAME if wanted in (plain[base:], plain[base:].rpartition(".")[0]) else 0
    before = -2
    for index in _matched(wanted, plain, shown, base):
        score += _IN_A_ROW if index == before + 1 else 0
        score += _WORD_START if _starts_word(shown, index) else 0
        before = index
    return score


def _matched(wanted: str, plain: str, shown: str, base: int) -> Sequence[int]:
    """Indexes of the matched characters.

    In this order of preference: in a row that begins a word, each at the beginning of a word, in any row, each as early
    as possible.
    """
    at = plain.find(wanted, base)
    if at >= 0 and _starts_word(shown, at):
        return range(at, at + len(wanted))
    starts = [index for index in range(base, len(plain)) if plain[index] in wanted and _starts_word(shown, index)]
    if len(indexes := _in_order(wanted, plain, starts)) == len(wanted):
        return indexes
    at = at if at >= 0 else plain.rfind(wanted)
    if at >= 0:
        return range(at, at + len(wanted))
    indexes = _in_order(wanted, plain, range(base, len(plain)))
    return indexes if len(indexes) == len(wanted) else _in_order(wanted, plain, range(len(plain)))


def _in_order(wanted: str, plain: str, indexes: Iterable[int]) -> list[int]:
    """For each wanted character in turn the first of `indexes`, past the one before, that holds it, while one does."""
    found: list[int] = []
    for index in indexes:
        if len(found) < len(wanted) and plain[index] == wanted[len(found)]:
            found.append(index)
    return found


def _starts_word(shown: str, index: int) -> bool:
    return index == 0 or shown[index - 1] in _BREAKS or (shown[index].isupper() and shown[index - 1].islower())


def _file(candidate: _Candidate) -> WorkspaceFile:
    entry = candidate.entry
    return WorkspaceFile(
        uri=Path(entry.folder, entry.path).as_uri(), path=candidate.label, is_directory=entry.is_folder
    )


def _name(folder: str) -> str:
    return os.path.basename(folder.rstrip(os.sep))

"""`TextSearch` by ripgrep, or by a slow program of our own where there is none.

ripgrep decides fast what it need not look at; which of the rest may be shown, the workspace decides, by all its rules.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final

import msgspec

from gemini_companion.adapters.files.real_names import real_path
from gemini_companion.adapters.search.commands import Wanted, exclusion, lines_of, names_of, not_utf8
from gemini_companion.adapters.search.confirming import bytes_of, has_lines
from gemini_companion.adapters.search.program import ripgrep, running
from gemini_companion.adapters.search.records import CUT, Records, Seen
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.adapters.workspace.ignore import IgnoreFiles
from gemini_companion.adapters.workspace.path_globs import Glob
from gemini_companion.engine.edits.encoding import decoded, that_have
from gemini_companion.engine.escapes import one_line
from gemini_companion.tools.documents import Buffer
from gemini_companion.tools.paths import innermost, parts_below, shown_path
from gemini_companion.tools.ports import Found, Line, Place, SearchOptions
from gemini_companion.tools.tool import ToolRefusal

SECONDS: Final = 30.0
"""A search that takes longer is ended, and what it found by then is given."""
_MOST_UNSAVED: Final = 20
_LOOK_SECONDS: Final = 3.0
"""How long ignore files are looked for that are none."""
_LOOK_AGAIN: Final = 60.0
"""After so many seconds, or after a search that was ended."""
_BATCH: Final = 256
"""Files that the workspace is asked about at once."""
_MOST_LISTED: Final = 500_000
_SECONDS_FOR_OTHERS: Final = 10.0
_MOST_OTHERS: Final = 200
"""Files in other encodings than UTF-8 that are searched for letters which these have."""
_WORDS: Final = re.compile(r"\w+")


class _File:
    """The lines of one file."""

    def __init__(self, path: str, lines: list[Seen]) -> None:
        self.path = path
        self.lines = lines


class RipgrepSearch:
    """Searches what the workspace may show. `find_program` gives ripgrep's path, `None` for the slow stand-in."""

    def __init__(
        self,
        workspace: DiskWorkspace,
        *,
        find_program: Callable[[], str | None] = ripgrep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspace = workspace
        self._find_program = find_program
        self._monotonic = monotonic
        self._looks: dict[str, tuple[float, bool]] = {}
        """By folder: when its ignore files were looked at, and whether ripgrep may open them."""

    async def grep(
        self,
        pattern: str,
        roots: Sequence[str],
        *,
        within: Place | None = None,
        unsaved: Sequence[Buffer] = (),
        options: SearchOptions,
    ) -> Found:
        """The lines that a pattern matches; see `TextSearch`."""
        if "\0" in pattern:
            raise ToolRefusal("There is a NUL in the pattern.")
        folders = await asyncio.to_thread(lambda: [real_path(root) for root in roots])
        wanted = Wanted.of(pattern, options, self._find_program())
        notes: list[str] = []
        files: list[_File] = []
        if len(unsaved) > _MOST_UNSAVED:
            notes.append(f"Of {len(unsaved)} documents with unsaved edits, {_MOST_UNSAVED} were searched as they are.")
        buffers = await self._searched_buffers(unsaved, folders, within, wanted)
        if not pattern.isascii() and wanted.program is not None:
            buffers = {**await self._other_encodings(wanted, folders, within, notes), **buffers}
        until = self._monotonic() + SECONDS
        try:
            async with asyncio.timeout(SECONDS):
                for path, text in buffers.items():
                    in_text = self._matches(wanted, folders[0], lines_of(wanted, None), _bytes(text), notes)
                    async with aclosing(in_text) as found_in_text:
                        files += [_File(path, lines) async for lines in found_in_text]
                for root in _searched_roots(folders, within):
                    files += await self._grep_root(wanted, root, folders, within, frozenset(buffers), notes)
        except TimeoutError:
            self._looks.clear()
            notes.append(f"The search was ended after {SECONDS:.0f} seconds; there may be more.")
        if options.exclude:
            await self._exclude(wanted, folders[0], files, notes)
        found = _found(files, folders, options.limit, notes)
        return found if self._monotonic() <= until else Found(lines=found.lines, is_truncated=True, note=found.note)

    async def files(
        self,
        pattern: str,
        roots: Sequence[str],
        *,
        within: Place | None = None,
        excluding: Sequence[str] = (),
        is_case_sensitive: bool = False,
        limit: int = 1000,
    ) -> list[str]:
        """Paths that a glob matches; see `TextSearch`."""
        folders = await asyncio.to_thread(lambda: [real_path(root) for root in roots])
        glob = Glob(pattern, is_anchored=True, is_case_sensitive=is_case_sensitive)
        excluded = [Glob(each, is_anchored=False, is_case_sensitive=is_case_sensitive) for each in excluding]
        found: dict[str, None] = {}
        try:
            async with asyncio.timeout(SECONDS):
                for root in _searched_roots(folders, within):
                    base = within.path if within is not None else root
                    for path in await self._listed(root, base, folders):
                        below = "/".join(parts_below(path, base))
                        if glob.matches(below) and not any(each.matches(below) for each in excluded):
                            found[path] = None
        except TimeoutError:  # what is there and was not reached must not be taken for missing
            self._looks.clear()
            raise ToolRefusal(
                f"The files could not be listed within {SECONDS:.0f} seconds. Search in a folder further down."
            ) from None
        newest = await asyncio.to_thread(lambda: sorted(found, key=_changed_at, reverse=True))
        shown: list[str] = []
        for start in range(0, len(newest), _BATCH):
            batch = newest[start : start + _BATCH]
            verdicts = await self._workspace.admit(batch, folders)
            shown += [path for path in batch if verdicts[path] is None]
            if len(shown) >= limit:
                break
        return shown[:limit]

    async def _listed(self, root: str, base: str, folders: Sequence[str]) -> list[str]:
        """Absolute paths of the files below a folder that may be worth a look."""
        program = self._find_program()
        if program is None:
            listing = await self._workspace.listing(folders)
            paths = [os.path.join(each.folder, each.path) for each in listing.entries if not each.is_folder]
            return [path for path in paths if innermost(path, [base]) is not None]
        names: list[bytes] = []
        rest = b""
        async with running(names_of(program, root, base, reads_rules=await self._reads_rules(base)), cwd=root) as run:
            async for piece in run.pieces():
                *whole, rest = (rest + piece).split(b"\0")
                names += whole
                if len(names) > _MOST_LISTED:
                    break
        return [_joined(root, name) for name in names]

    async def _reads_rules(self, base: str) -> bool:
        """Whether ripgrep may open the ignore files below a folder: of a pipe or a device it would read for ever.

        Otherwise it looks into what git ignores too, and the workspace leaves that out.
        """
        now = self._monotonic()
        known = self._looks.get(base)
        if known is None or now - known[0] > _LOOK_AGAIN:
            until = now + _LOOK_SECONDS
            found = await asyncio.to_thread(IgnoreFiles().has_strange, base, lambda: self._monotonic() > until)
            if len(self._looks) > _BATCH:
                self._looks.clear()
            known = self._looks[base] = (now, not found)
        return known[1]

    async def _grep_root(
        self,
        wanted: Wanted,
        root: str,
        folders: Sequence[str],
        within: Place | None,
        unsaved: frozenset[str],
        notes: list[str],
    ) -> list[_File]:
        base = within.path if within is not None else root
        given = None
        if wanted.program is None:
            paths = [path for path in await self._listed(root, base, folders) if wanted.includes(path, base)]
            given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        kept: list[_File] = []
        pending: list[_File] = []
        matches = 0
        reads_rules = wanted.program is None or await self._reads_rules(base)
        program = lines_of(wanted, base, root, reads_rules=reads_rules)
        async with aclosing(self._matches(wanted, root, program, given, notes)) as found:
            async for lines in found:
                path = _joined(root, lines[0].path)
                if path in unsaved or not wanted.includes(path, base):
                    continue
                pending.append(_File(path, lines))
                matches += sum(line.is_match for line in lines)
                if len(pending) >= _BATCH or matches > wanted.enough:
                    kept += await self._admitted(pending, folders, within)
                    pending.clear()
                    matches = sum(line.is_match for file in kept for line in file.lines)
                    if matches > wanted.enough:
                        break
        return kept + await self._admitted(pending, folders, within)

    async def _matches(
        self, wanted: Wanted, cwd: str, program: Sequence[str], given: bytes | None, notes: list[str]
    ) -> AsyncGenerator[list[Seen], None]:
        """The lines of each file in which there is a match."""
        records = Records()
        lines: list[Seen] = []
        if wanted.program is None:
            given = wanted.plain_options(is_text=program[-1] == "-") + b"\0" + (given or b"")
        async with running(wanted.plain() if wanted.program is None else program, cwd=cwd, given=given) as run:
            async for piece in run.pieces():
                for record in records.feed(piece):
                    if isinstance(record, Seen):
                        lines.append(record)
                    elif lines:
                        yield lines
                        lines = []
            code, complaint = await run.end()
        if code not in (0, 1) and complaint:
            if "regex" in complaint or "PCRE2" in complaint:
                raise ToolRefusal(f"The pattern is wrong: {complaint[:1_000]}")
            notes.append(f"Not everything could be read: {complaint[:300]}")

    async def _admitted(self, files: Sequence[_File], folders: Sequence[str], within: Place | None) -> list[_File]:
        if not files:
            return []
        verdicts = await self._workspace.admit([file.path for file in files], folders)
        shown = [file for file in files if verdicts[file.path] is None or _is_asked_for(file.path, within)]
        return await asyncio.to_thread(lambda: [file for file in shown if _is_confirmed(file, folders)])

    async def _searched_buffers(
        self, unsaved: Sequence[Buffer], folders: Sequence[str], within: Place | None, wanted: Wanted
    ) -> dict[str, str]:
        """The texts of unsaved documents in what is searched, by their real paths."""
        texts = {buffer.path: buffer.text for buffer in unsaved[:_MOST_UNSAVED] if buffer.is_dirty}
        real = await asyncio.to_thread(lambda: {os.path.realpath(path): text for path, text in texts.items()})
        bases = [within.path] if within is not None else list(folders)
        inside = {path: text for path, text in real.items() if (base := innermost(path, bases)) is not None
                  and wanted.includes(path, base)}  # fmt: skip
        verdicts = await self._workspace.admit(list(inside), folders)
        return {path: text for path, text in inside.items() if verdicts[path] is None or _is_asked_for(path, within)}

    async def _other_encodings(
        self, wanted: Wanted, folders: Sequence[str], within: Place | None, notes: list[str]
    ) -> dict[str, str]:
        """The texts of files that are not UTF-8, in which ripgrep would not know what is searched for, by their paths.

        Where the encoding is guessed, one in which the words of the pattern stand in the file is more likely.
        """
        paths: list[str] = []
        until = self._monotonic() + _SECONDS_FOR_OTHERS
        for root in _searched_roots(folders, within):
            base = within.path if within is not None else root
            names = b""
            reads_rules = await self._reads_rules(base)
            try:
                async with (
                    asyncio.timeout(max(0.0, until - self._monotonic())),
                    running(not_utf8(wanted, base, root, reads_rules=reads_rules), cwd=root) as run,
                ):
                    async for piece in run.pieces():
                        names += piece
                        if names.count(b"\0") > _MOST_OTHERS:
                            break
            except TimeoutError:
                notes.append("Files that are not UTF-8 were not all searched for these letters.")
            paths += [_joined(root, name) for name in names.split(b"\0")[:-1]]
        paths = [path for path in paths if wanted.includes(path, within.path if within is not None else folders[0])]
        if len(paths) > _MOST_OTHERS:
            notes.append(f"Of the files that are not UTF-8, {_MOST_OTHERS} were searched for these letters.")
            paths = paths[:_MOST_OTHERS]
        verdicts = await self._workspace.admit(paths, folders)
        shown = [path for path in paths if verdicts[path] is None or _is_asked_for(path, within)]
        words = [word for word in _WORDS.findall(wanted.pattern) if not word.isascii()]
        texts, guessed = await asyncio.to_thread(_read_otherwise, shown, folders, words)
        if guessed:
            told = ", ".join(one_line(shown_path(path, folders)) for path in guessed[:10])
            notes.append(f"The encoding of these files is guessed, so something may be missing: {told}.")
        return texts

    async def _exclude(self, wanted: Wanted, cwd: str, files: list[_File], notes: list[str]) -> None:
        """Take out the matches that another pattern matches too, and what was shown around them alone."""
        lines = [line for file in files for line in file.lines]
        if not lines:
            return
        other = exclusion(wanted)
        text = "".join(f"{line.text.replace(chr(10), ' ')}\n" for line in lines)
        dropped: set[int] = set()
        async with aclosing(self._matches(other, cwd, lines_of(other, None), _bytes(text), notes)) as unwanted:
            async for found in unwanted:
                dropped.update(line.number - 1 for line in found if line.is_match)
        left = iter(range(len(lines)))
        for file in files:
            file.lines = [line for line in file.lines if next(left) not in dropped or not line.is_match]
            if not any(line.is_match for line in file.lines):
                file.lines = []


def _is_confirmed(file: _File, folders: Sequence[str]) -> bool:
    """Whether the file has these lines. What is no UTF-8 is then read in the file's encoding. Blocks."""
    if not has_lines(file.path, [line.text for line in file.lines], folders):
        return False
    if any(line.is_bytes for line in file.lines):
        data, charset = bytes_of(file.path, folders)
        text = decoded(data, charset) if data else None
        if text is not None:
            file.lines = [_in(line, text.encoded.encoding) if line.is_bytes else line for line in file.lines]
    return True


def _in(line: Seen, encoding: str) -> Seen:
    whole = line.text.removesuffix(CUT)
    text = whole.encode("latin-1").decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    return msgspec.structs.replace(line, text=text + line.text[len(whole) :])


def _is_asked_for(path: str, within: Place | None) -> bool:
    """Whether this very file is to be searched, so that leave to show it was given or refused before."""
    return within is not None and within.kind == "file" and within.path == path


def _searched_roots(folders: Sequence[str], within: Place | None) -> Sequence[str]:
    """The folders that are searched, none twice: one may lie in another."""
    if within is not None:
        return [within.root] if within.root is not None else []
    return [
        folder for folder in dict.fromkeys(folders) if innermost(folder, [f for f in folders if f != folder]) is None
    ]


def _found(files: Sequence[_File], folders: Sequence[str], limit: int, notes: Sequence[str]) -> Found:
    lines: list[Line] = []
    matches = 0
    for file in sorted(files, key=lambda file: file.path.split(os.sep)):
        shown = shown_path(file.path, folders)
        for line in file.lines:
            matches += line.is_match
            if matches > limit:
                return Found(lines=tuple(lines), is_truncated=True, note=" ".join(notes))
            lines.append(Line(path=shown, number=line.number, text=line.text, is_match=line.is_match))
    return Found(lines=tuple(lines), note=" ".join(notes))


def _read_otherwise(
    paths: Sequence[str], folders: Sequence[str], words: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Texts by path, and the paths of those whose encoding is a guess that no word of the pattern confirms. Blocks."""
    texts: dict[str, str] = {}
    guessed: list[str] = []
    for path in paths:
        data, charset = bytes_of(path, folders)
        text = decoded(data, charset) if data else None
        if text is None or text.encoded.has_strays:
            continue  # ripgrep knows the letters around such bytes
        if text.encoded.is_guessed and not any(word in text.text for word in words):
            likelier = next(that_have(data, words), None)
            if likelier is None:
                guessed.append(path)
            text = likelier or text
        texts[path] = text.text
    return texts, guessed


def _joined(root: str, name: bytes) -> str:
    return os.path.normpath(os.path.join(root, os.fsdecode(name)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0

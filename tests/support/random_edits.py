"""Random scripts of edits: a model and a person change some files, then what the model did is taken back.

Every line that is ever written is unique and says whose it is, so that the result can be judged without a second
implementation: of what was taken back no line of the model's is left and none of the person's is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import RevertResult
from gemini_companion.sessions.tools.changes import FileChanges
from gemini_companion.sessions.tools.changes_noticed import Stamp, Stamps
from gemini_companion.sessions.tools.changes_reverted import RevertWish, revert
from gemini_companion.tools.paths import parts_below
from gemini_companion.tools.ports import FileBytes, Place, Ports
from gemini_companion.tools.tool import Proposal, ToolContext, ToolRefusal, Touched
from tests.support.sample_tools import SampleTool, allowing
from tests.support.sessions import Studio
from tests.support.tool_contexts import TableEditor

ROOT = "/w"
NAMES = ("a", "b", "c", "d")
_ENCODINGS = (("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"))


class TableFiles:
    """A `FileSystem` that is a table of bytes and modes."""

    def __init__(self) -> None:
        self.table: dict[str, tuple[bytes, int]] = {}
        self.writes = 0

    async def place(self, path: str, roots: Sequence[str]) -> Place:
        return Place(path=path, root=ROOT, shown=path, kind="file" if path in self.table else "missing")

    async def read(self, place: Place, *, limit: int) -> FileBytes:
        data, mode = self.table[place.path]
        return FileBytes(data=data[:limit], digest=_digest(data[:limit]), mode=mode, size=len(data))

    async def write(self, place: Place, data: bytes, *, expected: str | None, mode: int | None = None) -> str:
        self._expect(place, expected)
        known = self.table.get(place.path, (b"", 0o644))[1]
        self.table[place.path] = (data, known if mode is None else mode)
        return _digest(data)

    async def delete(self, place: Place, *, expected: str) -> None:
        self._expect(place, expected)
        del self.table[place.path]

    async def rename(self, place: Place, to: Place, *, expected: str) -> None:
        self._expect(place, expected)
        self._expect(to, None)
        self.table[to.path] = self.table.pop(place.path)

    def _expect(self, place: Place, expected: str | None) -> None:
        self.writes += 1
        known = self.table.get(place.path)
        if (None if known is None else _digest(known[0])) != expected or not parts_below(place.path, ROOT):
            raise ToolRefusal("It has changed.")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Script:
    """One script. `play` runs it and raises `AssertionError` where a rule is broken."""

    random: Random
    studio: Studio
    session: Session
    files: TableFiles = field(default_factory=TableFiles)
    lines: int = 0
    turns: int = 0
    edited: bool = False
    """The person edited something after the model's first change."""
    deleted: set[str] = field(default_factory=set[str])
    """Lines of the beginning that the person deleted."""
    reverts: list[str] = field(default_factory=list[str])
    shuffled: bool = False
    """Something was taken back on which later changes stand: what they did to it comes back with them."""
    conflicts: int = 0

    async def play(self) -> None:
        for name in NAMES[: self.random.randint(1, 3)]:
            self.files.table[f"{ROOT}/{name}"] = (self._beginning(), self.random.choice((0o644, 0o755)))
        start = dict(self.files.table)
        with_person = self.random.random() < 0.6
        for _ in range(self.random.randint(1, 7)):
            if with_person and self.turns and self.random.random() < 0.5:
                self._person()
                self.edited = True
            elif self.reverts and self.random.random() < 0.2:
                self.shuffled = True
                await self._revert(RevertWish(change_id=self.reverts.pop()))
            elif self.turns and self.random.random() < 0.25:
                turn_id = f"turn-{self.random.randint(1, self.turns)}"
                newest = [step.turn_id for step in self.session.tools_state.changes.steps()][-1:]
                self.shuffled = self.shuffled or newest != [turn_id]
                await self._revert(RevertWish(turn_id=turn_id))
            else:
                await self._turn()
        if not self.turns:
            await self._turn()
        result = await self._revert(RevertWish(since="turn-1"))
        if not self.edited and not self.conflicts and not self.shuffled:
            assert self.files.table == start, "the bytes are not as they were"
        if result is not None and result.change_id is not None:
            self._judge(result, start)

    async def _turn(self) -> None:
        self.turns += 1
        for number in range(self.random.randint(1, 3)):
            await self._call(f"turn-{self.turns}", f"call-{self.turns}-{number}")

    async def _call(self, turn_id: str, call_id: str) -> None:
        there, free = sorted(self.files.table), [f"{ROOT}/{name}" for name in NAMES]
        free = [path for path in free if path not in self.files.table]
        what = self.random.choice(("edit", "edit", "edit", "create", "delete", "rename"))
        if (what in ("create", "rename") and not free) or (what != "create" and not there):
            return
        path = self.random.choice(free if what == "create" else there)
        target = self.random.choice(free) if what == "rename" else None
        data = self._edited(self.files.table.get(path, (b"", 0))[0], "model", at_least=1)
        named = [path] if target is None else [path, target]
        touched = tuple(Touched(path=name, how="write") for name in named)
        proposal = Proposal(title=what, touched=touched, path=path)
        context = self.context(turn_id, call_id)
        async with self.changes.recorded(self.session, SampleTool(what, "edit"), proposal, context):
            place = await self.files.place(path, ())
            known = self.files.table.get(path)
            expected = _digest(known[0]) if known is not None else None
            if what == "delete":
                await self.files.delete(place, expected=expected or "")
            elif target is not None:
                await self.files.rename(place, await self.files.place(target, ()), expected=expected or "")
            else:
                await self.files.write(place, data, expected=expected)

    def _person(self) -> None:
        path = self.random.choice([f"{ROOT}/{name}" for name in NAMES])
        known = self.files.table.get(path)
        what = self.random.random()
        if known is None:
            if what < 0.3:
                self.files.table[path] = (self._edited(b"", "person", at_least=1), 0o644)
        elif what < 0.1:
            self.deleted |= set(lines_in(known[0]))
            del self.files.table[path]
        elif what < 0.2:
            self.files.table[path] = (_other_ends(known[0]), known[1])
        else:
            data = self._edited(known[0], "person")
            self.deleted |= set(lines_in(known[0])) - set(lines_in(data))
            self.files.table[path] = (data, known[1])

    async def _revert(self, wish: RevertWish) -> RevertResult | None:
        before = dict(self.files.table)
        try:
            result = await revert(self.session, self.studio.client, self.studio.app.tooling, wish)
        except InvalidInput:
            assert self.files.table == before
            return None
        self.conflicts += len(result.conflicts)
        after = dict(self.files.table)
        assert not ({conflict.path for conflict in result.conflicts} & set(result.reverted))
        for path in {*before, *after} - set(result.reverted):
            assert before.get(path) == after.get(path), f"{path} was not to be changed"
        if result.change_id is not None and self.random.random() < 0.5:
            again = RevertWish(change_id=result.change_id)
            back = await revert(self.session, self.studio.client, self.studio.app.tooling, again)
            assert not back.conflicts, back.conflicts
            assert self.files.table == before, "the revert of the revert is not what was there"
            third = RevertWish(change_id=back.change_id)
            await revert(self.session, self.studio.client, self.studio.app.tooling, third)
            assert self.files.table == after, "and its revert neither"
        if result.change_id is not None:
            self.reverts.append(result.change_id)
        return result

    def _judge(self, result: RevertResult, start: dict[str, tuple[bytes, int]]) -> None:
        """What was put back from the first turn on has no line of the model's; the person's stay."""
        if self.conflicts or self.shuffled:
            return
        left = {line for data, _ in self.files.table.values() for line in lines_in(data)}
        assert not {line for line in left if line.startswith("model")}, "a line of the model's is left"
        begun = {line for data, _ in start.values() for line in lines_in(data)}
        assert begun - self.deleted <= left, "a line of the beginning is missing"

    def _beginning(self) -> bytes:
        encoding, mark = self.random.choice(_ENCODINGS)
        end = self.random.choice(("\n", "\n", "\r\n"))
        text = "".join(self._line("start") + end for _ in range(self.random.randint(0, 12)))
        if self.random.random() < 0.3:
            text = text.removesuffix(end)
        return mark + text.encode(encoding)

    def _edited(self, data: bytes, whose: str, *, at_least: int = 0) -> bytes:
        encoding, mark = next(
            (each for each in reversed(_ENCODINGS) if each[1] and data.startswith(each[1])), _ENCODINGS[0]
        )
        text = data[len(mark) :].decode(encoding)
        end = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(end)
        last = lines.pop()
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(lines))
            if self.random.random() < 0.4 and at < len(lines):
                del lines[at]
            else:
                lines.insert(at, self._line(whose))
                at_least -= 1
        lines += [self._line(whose)] * (at_least > 0)
        return mark + (end.join([*lines, last])).encode(encoding)

    def _line(self, whose: str) -> str:
        self.lines += 1
        return f"{whose} {self.lines} ü\u2028\x0c"

    @property
    def changes(self) -> FileChanges:
        return cast("FileChanges", self.studio.app.tooling.changes)

    def context(self, turn_id: str, call_id: str) -> ToolContext:
        ports = self.studio.services.ports
        assert ports is not None
        return ToolContext(
            call_id=call_id, turn_id=turn_id, session_id=self.session.session_id, roots=(ROOT,), trusted=True, mode="ask",
            ports=ports,
        )  # fmt: skip


def lines_in(data: bytes) -> list[str]:
    """The lines of a text, without their ends and without a byte order mark."""
    encoding, mark = next(
        (each for each in reversed(_ENCODINGS) if each[1] and data.startswith(each[1])), _ENCODINGS[0]
    )
    return [line for line in data[len(mark) :].decode(encoding).replace("\r\n", "\n").split("\n") if line]


def _other_ends(data: bytes) -> bytes:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data
    return data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")


async def no_scan(folders: Sequence[str]) -> Stamps:
    """No files."""
    return Stamps(dict[str, Stamp]())


def make_studio(folder: Path) -> Studio:
    """Where scripts are played: nothing but settings is on the disk."""
    tooling = allowing(changes=FileChanges(no_scan))
    studio = Studio(folder, store=MemoryStore(str(folder)), tooling=tooling)
    studio.client.folders = (ROOT,)
    return studio


async def play(random: Random, studio: Studio) -> Script:
    """Play one script."""
    script = Script(random, studio, await studio.app.create(studio.client))
    nothing: Any = None
    studio.services.ports = Ports(
        files=cast("Any", script.files), search=nothing, commands=nothing, editor=TableEditor()
    )
    await script.play()
    return script

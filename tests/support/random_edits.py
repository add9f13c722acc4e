"""Random scripts of edits: a model and a person change some files, then what the model did is taken back.

Every line that is ever written is unique and says whose it is, so that the result can be judged without a second
implementation: of what was taken back no line of the model's is left and none of the person's is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import RevertResult
from gemini_companion.sessions.tools.changes import FileChanges
from gemini_companion.sessions.tools.changes_chosen import RevertWish
from gemini_companion.sessions.tools.changes_reverted import revert
from gemini_companion.sessions.tools.changes_shown import change_list
from gemini_companion.tools.ports import Ports
from gemini_companion.tools.tool import Proposal, ToolContext, Touched
from tests.support.sample_tools import SampleTool, allowing
from tests.support.sessions import Studio
from tests.support.table_files import (
    ENCODINGS,
    FOLDER,
    ROOT,
    Named,
    TableFiles,
    TableScan,
    digest_of,
    encoding_of,
    lines_in,
    other_ends,
)
from tests.support.tool_contexts import TableEditor

NAMES = ("a", "b", "c", "sub/d", "sub/deep/e")
FOLDERS = ("sub", "sub/deep", "more")


@dataclass
class Script:
    """One script. `play` runs it and raises `AssertionError` where a rule is broken."""

    random: Random
    studio: Studio
    session: Session
    files: TableFiles = field(default_factory=TableFiles)
    lines: int = 0
    persons: set[str] = field(default_factory=set[str])
    """Lines of the person's that they did not delete themselves."""
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
            self._put(f"{ROOT}/{name}", Named(self._beginning(), self.random.choice((0o644, 0o755))))
        if self.random.random() < 0.4:
            self._put(f"{ROOT}/link", Named(b"a", 0o777, "link"))
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
                await self._turn(with_person=with_person)
        if not self.turns:
            await self._turn(with_person=with_person)
        result = await self._revert(RevertWish(since="turn-1"))
        if not self.edited and not self.conflicts and not self.shuffled:
            assert self.files.table == start, "the bytes are not as they were"
        if result is not None and result.change_id is not None:
            self._judge(result, start)

    async def _turn(self, *, with_person: bool) -> None:
        self.turns += 1
        for number in range(self.random.randint(1, 3)):
            if number and with_person and self.random.random() < 0.4:
                self._person()
                self.edited = True
            if self.random.random() < 0.35:
                await self._command(f"turn-{self.turns}", f"call-{self.turns}-{number}")
            else:
                await self._call(f"turn-{self.turns}", f"call-{self.turns}-{number}")
        if self.random.random() < 0.3:
            await self._take_a_place_back(f"turn-{self.turns}")

    async def _command(self, turn_id: str, call_id: str) -> None:
        context = self.context(turn_id, call_id)
        tool = SampleTool("run_shell_command", "command")
        async with self.changes.recorded(self.session, tool, Proposal(title="Run"), context):
            for _ in range(self.random.randint(0, 4)):
                self._do_something()

    def _do_something(self) -> None:
        """One thing that a command does to the workspace."""
        table, random = self.files.table, self.random
        of = {
            kind: sorted(path for path, one in table.items() if one.kind == kind) for kind in ("file", "link", "folder")
        }
        free = [path for path in (f"{ROOT}/{name}" for name in (*NAMES, "link", "A")) if self._can_be_made(path)]
        what = random.choice(
            ("edit", "delete", "create", "move", "copy", "mode", "link", "unlink", "swap", "make", "tree")
        )
        path = random.choice(of["file"]) if of["file"] else None
        match what:
            case "edit" if path:
                self._put(path, table[path]._replace(data=self._edited(table[path].data, "model", at_least=1)))
            case "delete" if path:
                del table[path]
            case "create" if free:
                self._put(random.choice(free), Named(self._edited(b"", "model", at_least=1)))
            case "move" if path and free:
                self._put(random.choice(free), table.pop(path))
            case "copy" if path and free and random.random() < 0.2:
                self._put(random.choice(free), table[path])
            case "mode" if path:
                self._put(path, table[path]._replace(mode=random.choice((0o644, 0o755, 0o600))))
            case "link" if free:
                self._put(random.choice(free), Named(random.choice((b"a", b"nowhere")), 0o777, "link"))
            case "unlink" if of["link"]:
                del table[random.choice(of["link"])]
            case "swap" if path or of["link"]:
                other = random.choice([*of["file"], *of["link"]])
                is_file = table.pop(other).kind == "file"
                self._put(
                    other, Named(b"b", 0o777, "link") if is_file else Named(self._edited(b"", "model", at_least=1))
                )
            case "make":
                folder = f"{ROOT}/{random.choice(FOLDERS)}"
                if self._can_be_made(folder):
                    self._put(folder, FOLDER)
            case "tree" if of["folder"]:
                folder = random.choice(of["folder"])
                for name in [name for name in table if name == folder or name.startswith(folder + "/")]:
                    del table[name]
                if random.random() < 0.3:
                    self._put(folder, Named(self._edited(b"", "model", at_least=1)))
            case _:
                pass

    async def _take_a_place_back(self, turn_id: str) -> None:
        """One place of the turn's newest changes; no line of the person's may go with it."""
        found = await change_list(self.session)
        change = next(
            (one for one in found.changes if one.turn_id == turn_id and one.state == "made" and one.hunks), None
        )
        if change is None:
            return
        before = set(lines_in(self.files.table.get(change.path, Named(b"")).data))
        wish = RevertWish(turn_id=turn_id, path=change.path, hunks=(self.random.randrange(change.hunks),))
        result = await revert(self.session, self.studio.client, self.studio.app.tooling, wish)
        if result.change_id is not None:
            after = set(lines_in(self.files.table[change.path].data))
            lost = {line for line in before - after if line.startswith("person")}
            assert not lost, "a line of the person's went with a place of the model's"

    def _can_be_made(self, path: str) -> bool:
        """Nothing has the name, and all above it are folders, or nothing yet."""
        above = [path[:at] for at in range(len(ROOT) + 1, len(path)) if path[at] == "/"]
        return path not in self.files.table and all(
            self.files.table.get(folder, FOLDER).kind == "folder" for folder in above
        )

    def _put(self, path: str, one: Named) -> None:
        self.files.make_folders(path)
        self.files.table[path] = one

    async def _call(self, turn_id: str, call_id: str) -> None:
        there = sorted(path for path, one in self.files.table.items() if one.kind == "file")
        free = [path for path in (f"{ROOT}/{name}" for name in NAMES) if self._can_be_made(path)]
        what = self.random.choice(("edit", "edit", "edit", "create", "delete", "rename"))
        if (what in ("create", "rename") and not free) or (what != "create" and not there):
            return
        path = self.random.choice(free if what == "create" else there)
        target = self.random.choice(free) if what == "rename" else None
        data = self._edited(self.files.table.get(path, Named(b"")).data, "model", at_least=1)
        named = [path] if target is None else [path, target]
        touched = tuple(Touched(path=name, how="write") for name in named)
        proposal = Proposal(title=what, touched=touched, path=path)
        context = self.context(turn_id, call_id)
        async with self.changes.recorded(self.session, SampleTool(what, "edit"), proposal, context):
            place = await self.files.place(path, ())
            known = self.files.table.get(path)
            expected = digest_of(known.data) if known is not None else None
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
        before = self._persons_text(known)
        if known is None:
            if what < 0.3 and self._can_be_made(path):
                self._put(path, Named(self._edited(b"", "person", at_least=1)))
        elif known.kind != "file":
            return
        elif what < 0.1:
            del self.files.table[path]
        elif what < 0.2:
            self._put(path, known._replace(data=other_ends(known.data)))
        else:
            self._put(path, known._replace(data=self._edited(known.data, "person")))
        after = self._persons_text(self.files.table.get(path))
        self.deleted |= before - after
        self.persons = {line for line in self.persons | after if line.startswith("person")} - self.deleted

    def _persons_text(self, known: Named | None) -> set[str]:
        return set(lines_in(known.data)) if known is not None and known.kind == "file" else set()

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
            kinds = {one.kind for one in (before.get(path), after.get(path)) if one is not None}
            assert before.get(path) == after.get(path) or kinds == {"folder"}, f"{path} was not to be changed"
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

    def _judge(self, result: RevertResult, start: dict[str, Named]) -> None:
        """What was put back from the first turn on has no line of the model's; the person's stay."""
        if self.conflicts or self.shuffled:
            return
        left = _lines_of(self.files.table)
        assert not {line for line in left if line.startswith("model")}, "a line of the model's is left"
        assert _lines_of(start) - self.deleted <= left, "a line of the beginning is missing"
        assert self.persons <= left, "a line of the person's is missing"

    def _beginning(self) -> bytes:
        encoding, mark = self.random.choice(ENCODINGS)
        end = self.random.choice(("\n", "\n", "\r\n"))
        text = "".join(self._line("start") + end for _ in range(self.random.randint(0, 12)))
        if self.random.random() < 0.3:
            text = text.removesuffix(end)
        return mark + text.encode(encoding)

    def _edited(self, data: bytes, whose: str, *, at_least: int = 0) -> bytes:
        encoding, mark = encoding_of(data)
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


def _lines_of(table: Mapping[str, Named]) -> set[str]:
    return {line for one in table.values() if one.kind == "file" for line in lines_in(one.data)}


class Table(NamedTuple):
    """Where scripts are played."""

    studio: Studio
    scan: TableScan


def make_studio(folder: Path) -> Table:
    """Where scripts are played: nothing but settings is on the disk."""
    scan = TableScan()
    studio = Studio(folder, store=MemoryStore(str(folder)), tooling=allowing(changes=FileChanges(scan)))
    studio.client.folders = (ROOT,)
    return Table(studio, scan)


async def play(random: Random, table: Table) -> Script:
    """Play one script."""
    studio = table.studio
    script = Script(random, studio, await studio.app.create(studio.client))
    table.scan.files = script.files
    nothing: Any = None
    studio.services.ports = Ports(
        files=cast("Any", script.files), search=nothing, commands=nothing, editor=TableEditor()
    )
    await script.play()
    return script

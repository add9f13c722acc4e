"""A workspace that is a table of names in memory: its file system, and how commands' changes are noticed in it."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from typing import Literal, NamedTuple

from gemini_companion.sessions.tools.changes_noticed import Held, Stamp, Stamps
from gemini_companion.tools.paths import parts_below
from gemini_companion.tools.ports import FileBytes, Place
from gemini_companion.tools.tool import ToolRefusal

ROOT = "/w"
ENCODINGS = (
    ("utf-8", b""),
    ("utf-8", b"\xef\xbb\xbf"),
    ("utf-16-le", b"\xff\xfe"),
    ("utf-16-be", b"\xfe\xff"),
    ("utf-16-le", b""),
)


class Named(NamedTuple):
    """What has a name."""

    data: bytes
    mode: int = 0o644
    kind: Literal["file", "link", "folder"] = "file"


FOLDER = Named(b"", 0o755, "folder")


class TableFiles:
    """A `FileSystem` that is a table of names. A folder has no bytes, a link has its target's."""

    def __init__(self) -> None:
        self.table: dict[str, Named] = {}
        self.writes = 0

    async def place(self, path: str, roots: Sequence[str]) -> Place:
        return await self.spot(path, roots)

    async def spot(self, path: str, roots: Sequence[str]) -> Place:
        known = self.table.get(path)
        return Place(path=path, root=ROOT, shown=path, kind="missing" if known is None else known.kind)

    async def read(self, place: Place, *, limit: int) -> FileBytes:
        data, mode, kind = self.table[place.path]
        assert kind == "file"
        return FileBytes(data=data[:limit], digest=digest_of(data[:limit]), mode=mode, size=len(data))

    async def charset(self, place: Place) -> str:
        return ""

    async def write(self, place: Place, data: bytes, *, expected: str | None, mode: int | None = None) -> str:
        self._expect(place, expected)
        known = self.table.get(place.path)
        self.make_folders(place.path)
        self.table[place.path] = Named(data, (known.mode if known else 0o644) if mode is None else mode)
        return digest_of(data)

    async def delete(self, place: Place, *, expected: str) -> None:
        self._expect(place, expected)
        del self.table[place.path]

    async def rename(self, place: Place, to: Place, *, expected: str) -> None:
        self._expect(place, expected)
        self._expect(to, None)
        self.make_folders(to.path)
        self.table[to.path] = self.table.pop(place.path)

    async def read_link(self, place: Place) -> str:
        return self.table[place.path].data.decode()

    async def make_link(self, place: Place, target: str) -> None:
        self._expect(place, None)
        self.make_folders(place.path)
        self.table[place.path] = Named(target.encode(), 0o777, "link")

    async def delete_link(self, place: Place, *, target: str) -> None:
        assert self.table[place.path] == Named(target.encode(), 0o777, "link")
        del self.table[place.path]

    async def make_folder(self, place: Place, *, mode: int) -> None:
        known = self.table.get(place.path)
        assert known is None or known.kind == "folder"
        self.make_folders(place.path)
        self.table[place.path] = Named(b"", mode, "folder")

    async def delete_folder(self, place: Place) -> bool:
        assert self.table[place.path].kind == "folder"
        if any(path.startswith(place.path + "/") for path in self.table):
            return False
        del self.table[place.path]
        return True

    async def mode_of_folder(self, place: Place) -> int:
        return self.table[place.path].mode

    def make_folders(self, path: str) -> None:
        above = [path[:at] for at in range(len(ROOT) + 1, len(path)) if path[at] == "/"]
        if any(self.table.get(folder, FOLDER).kind != "folder" for folder in above):
            raise ToolRefusal("A name on the way is not a folder.")
        for folder in above:
            self.table.setdefault(folder, FOLDER)

    def _expect(self, place: Place, expected: str | None) -> None:
        self.writes += 1
        known = self.table.get(place.path)
        if (None if known is None else digest_of(known.data)) != expected or not parts_below(place.path, ROOT):
            raise ToolRefusal("It has changed.")


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class TableScan:
    """A `Scan` of the files of a script."""

    def __init__(self) -> None:
        self.files = TableFiles()

    async def __call__(self, folders: Sequence[str]) -> Stamps:
        files: dict[str, Stamp] = {}
        bits: dict[str, int] = {}
        for path, one in self.files.table.items():
            if one.kind == "folder":
                bits[path] = one.mode
                continue
            kind = stat.S_IFLNK if one.kind == "link" else stat.S_IFREG
            changed = int(digest_of(one.data)[:12], 16)
            link = one.data.decode() if one.kind == "link" else None
            files[path] = Stamp(len(one.data), changed, hash(path), kind | one.mode, link=link)
        return Stamps(files, folders=bits)

    async def hold(self, stamps: Stamps) -> Held:
        table = {path: one.data for path, one in self.files.table.items() if one.kind == "file"}
        return Held(table.get, {path: digest_of(data) for path, data in table.items()})


def lines_in(data: bytes) -> list[str]:
    """The lines of a text, without their ends and without a byte order mark."""
    encoding, mark = encoding_of(data)
    return [line for line in data[len(mark) :].decode(encoding).replace("\r\n", "\n").split("\n") if line]


def encoding_of(data: bytes) -> tuple[str, bytes]:
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16-le", b""
    return next((each for each in ENCODINGS if each[1] and data.startswith(each[1])), ENCODINGS[0])


def other_ends(data: bytes) -> bytes:
    if b"\0" in data:
        return data
    return data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")

"""`lsprotocol.types`, built name by name.

Importing that module builds all of LSP, over 500 classes, which takes most of a start; a daemon uses two dozen of them.
Here each top-level statement of the very same file is compiled and run when its name is first asked for, after the
statements whose names it uses. A file that is not known, of another version for example, is imported as ever: slower,
and never wrong.
"""

from __future__ import annotations

import re
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Final

NAME: Final = "lsprotocol.types"
KNOWN: Final = frozenset({(476_733, 0x2C1ACE50)})
"""Length and CRC-32 of the files whose statements were compared with the plain module's: lsprotocol 2025.0.0."""
TABLES: Final = frozenset({"ALL_TYPES_MAP", "METHOD_TO_TYPES"})
"""Dictionaries of every class. pygls imports them and hardly ever looks into them."""

_HEADS: Final = rb"\n(?:(@)|class (\w+)|def (\w+)|([A-Za-z_]\w*)(?:: [^\n=]+)? = )"
"""Where a top-level class, function or assignment begins, or a decorator of one."""


def install() -> None:
    """Have `lsprotocol.types` built on demand if it is imported from now on. Nothing is imported here."""
    if NAME not in sys.modules and not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds that one module where it always is, and gives it another loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = OnDemandLoader(fullname, spec.loader.path)
        return spec


class OnDemandLoader(SourceFileLoader):
    """Runs what stands above the first definition, and leaves the rest for the module's `__getattr__`."""

    def exec_module(self, module: ModuleType) -> None:
        """Take a known file apart; run any other one whole."""
        text = self.get_data(self.path)
        if (len(text), zlib.crc32(text)) in KNOWN:
            _Statements(module, text).prepare()
        else:
            super().exec_module(module)


class Table(dict[str, Any]):
    """A dictionary that fills itself when it is first looked into or changed."""

    def __init__(self, fill: Callable[[Table], None]) -> None:
        super().__init__()
        self._fill: Callable[[Table], None] | None = fill

    def filled(self) -> Table:
        """Itself, with its entries."""
        if (fill := self._fill) is not None:
            fill(self)
            self._fill = None
        return self


def _filling_first(name: str) -> Callable[..., Any]:
    plain = getattr(dict, name)

    def method(self: Table, *arguments: Any, **named: Any) -> Any:
        return plain(self.filled(), *arguments, **named)

    method.__name__ = name
    return method


for _name in (
    *("__contains__", "__delitem__", "__eq__", "__getitem__", "__ior__", "__iter__", "__len__", "__ne__", "__or__"),
    *("__repr__", "__reversed__", "__ror__", "__setitem__", "clear", "copy", "get", "items", "keys", "pop", "popitem"),
    *("setdefault", "update", "values"),
):
    setattr(Table, _name, _filling_first(_name))


class _Statements:
    """The statements of one file that were not run yet, and the module that they are run in. Safe in threads."""

    def __init__(self, module: ModuleType, text: bytes) -> None:
        self._space = module.__dict__
        self._file = str(module.__file__)
        self._text = text
        self._lock = threading.RLock()
        names, starts = _heads(text)
        ends = [*starts[1:], len(text)]
        self._above = text[: starts[0]]
        self._waiting = dict(zip(names, zip(starts, ends, strict=True), strict=True))
        self._names = tuple(self._waiting)

    def prepare(self) -> None:
        """Run the imports, and have the module ask here for what it does not have."""
        self._space["__getattr__"] = self._missing
        self._space["__dir__"] = lambda: sorted({*self._space, *self._names})
        exec(compile(self._above, self._file, "exec", dont_inherit=True), self._space)

    def _missing(self, name: str) -> Any:
        """The value of a name; `AttributeError` if the file does not define it."""
        with self._lock:
            if name == "__all__":  # `import *` asks for it first, and takes whatever is there once there is none
                for other in self._names:
                    self._value(other)
            return self._value(name)

    def _value(self, name: str) -> Any:
        if name not in self._space:
            if name not in self._waiting:
                raise AttributeError(f"module {NAME!r} has no attribute {name!r}")
            if name in TABLES:
                self._space[name] = Table(lambda table: self._fill(table, name))
            else:
                self._run(name)
        return self._space[name]

    def _fill(self, table: Table, name: str) -> None:
        with self._lock:
            if name in self._waiting:
                try:
                    self._run(name)
                    dict[str, Any].update(table, self._space[name])
                finally:
                    self._space[name] = table

    def _run(self, name: str) -> None:
        """Run the statement that defines a name, after those of all names in it: more than it needs, never fewer."""
        span = self._waiting.pop(name)  # now, for statements may name each other
        try:
            code = compile(self._text[slice(*span)], f"<{NAME}.{name}>", "exec", dont_inherit=True)
            for used in _names(code):
                if used in self._waiting:
                    self._value(used)
            exec(code, self._space)
        except BaseException:  # Ctrl-C, or no memory: whoever asks next may have more luck
            self._waiting[name] = span
            raise


def _heads(text: bytes) -> tuple[list[str], list[int]]:
    """The names that top-level statements define, and where these begin: with their first decorator."""
    names: list[str] = []
    starts: list[int] = []
    first, behind = 0, -1  # of the newest lines that begin with `@`, one upon the other: their ends
    for head in re.finditer(_HEADS, text):
        at, *defined = head.groups()
        if at is not None:
            first = first if behind == head.start() else head.start()
            behind = text.find(b"\n", head.end())
            continue
        names.append(str(next(filter(None, defined)), "ascii"))
        starts.append(first if behind == head.start() else head.start())
    return names, starts


def _names(code: CodeType) -> set[str]:
    """The names that code uses, and the code inside it: functions' are looked up when they run, by whoever calls."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found

"""Modules of the standard library that are run when they are first looked into, not when they are imported.

`asyncio` imports `ssl`, and what makes ids `hashlib`: with OpenSSL the two take five megabytes and a tenth of a start,
for connections and digests that an idle daemon has none of. Whoever looks into such a module has the real one, run at
that moment. `importlib.util.LazyLoader` does the same, but is not safe for threads before Python 3.12.3.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any, Final, cast

ON_DEMAND: Final = frozenset({"asyncio.sslproto", "hashlib", "hmac", "secrets", "ssl"})
"""What they import looks into none of them, but for each other one way: so two threads never wait for each other."""

_NEEDS_OPENSSL: Final = frozenset({"asyncio.sslproto", "ssl"})
_OF_IMPORTS: Final = frozenset(
    {"__class__", "__spec__", "__loader__", "__name__", "__package__", "__path__", "__file__", "__cached__"}
)
"""Attributes that importing sets, and asks every module for."""
_WAITING: Final = "_waiting_to_be_run"


def install() -> None:
    """Have these modules run on demand if they are imported from now on. Nothing is imported here."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds these modules where they always are, and gives them another loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in ON_DEMAND or (fullname in _NEEDS_OPENSSL and not _has_openssl()):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


def _has_openssl() -> bool:
    """Where Python was built without it, importing `ssl` fails at once, as those expect who can do without."""
    if "_ssl" in sys.modules:
        return cast("ModuleType | None", sys.modules["_ssl"]) is not None  # `None` says that it must not be imported
    return "_ssl" in sys.builtin_module_names or PathFinder.find_spec("_ssl") is not None


class _Loader(SourceFileLoader):
    """Leaves a module's file for the first who looks into the module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module with nothing in it."""
        return OnDemand(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Put it off; what is imported once more (`importlib.reload`) is run at once."""
        if type(module) is OnDemand:
            _fields_of(module)[_WAITING] = _Waiting(super().exec_module)
        else:
            super().exec_module(module)


class _Waiting:
    """How a module is run that was not yet."""

    __slots__ = ("is_running", "lock", "run")

    def __init__(self, run: Callable[[ModuleType], None]) -> None:
        self.run = run
        self.lock = threading.RLock()
        self.is_running = False


class OnDemand(ModuleType):
    """A module that runs its file when anything of it is asked for, set or deleted, and is a plain one from then on."""

    def __getattribute__(self, name: str) -> Any:
        if name not in _OF_IMPORTS:
            _run(self)
        return ModuleType.__getattribute__(self, name)  # not `super()`: it is none of this class any more

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _OF_IMPORTS:
            _run(self)
        ModuleType.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _run(self)
        ModuleType.__delattr__(self, name)


def _run(module: OnDemand) -> None:
    """Run the module's file, if nobody did; another thread waits until all names are there."""
    fields = _fields_of(module)
    waiting: _Waiting | None = fields.get(_WAITING)
    if waiting is None:  # it is being imported at this moment, or has been run
        return
    with waiting.lock:
        if waiting.is_running or type(module) is not OnDemand:  # by this very thread, or by the one before
            return
        waiting.is_running = True
        before = fields.copy()
        try:
            waiting.run(module)
        except BaseException:  # the next one tries again, and is told as well
            fields.clear()
            fields.update(before)
            raise
        finally:
            waiting.is_running = False
        fields.pop(_WAITING, None)
        module.__class__ = cast("Any", ModuleType)


def _fields_of(module: ModuleType) -> dict[str, Any]:
    return cast("dict[str, Any]", object.__getattribute__(module, "__dict__"))

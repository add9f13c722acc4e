"""Modules of the standard library that are run when they are first looked into, not when they are imported.

`asyncio` imports `ssl`, and what makes ids `hashlib`: with OpenSSL the two take five megabytes and a tenth of a start,
for connections and digests that an idle daemon has none of. Whoever looks into such a module has the real one, run at
that moment. `importlib.util.LazyLoader` does the same, but is not safe for threads before Python 3.12.3.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any, Final

ON_DEMAND: Final = frozenset({"asyncio.sslproto", "hashlib", "hmac", "secrets", "ssl"})
"""What they import looks into none of them, but for each other one way: so two threads never wait for each other."""


def install() -> None:
    """Have these modules run on demand if they are imported from now on. Nothing is imported here."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds these modules where they always are, and gives them another loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in ON_DEMAND:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Leaves a module's file for the first who looks into the module."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module with nothing in it."""
        return OnDemand(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Put it off; what is imported once more (`importlib.reload`) is run at once."""
        if isinstance(module, OnDemand) and "_run" not in vars(module):
            vars(module).update(_run=super().exec_module, _running=threading.RLock(), _is_waiting=True)
        else:
            super().exec_module(module)


class OnDemand(ModuleType):
    """A module that runs its file when a name is asked for that it does not have yet, or is set."""

    def __getattr__(self, name: str) -> Any:
        if name != "__path__" and _is_run(self) and name in vars(self):  # the import system asks for that of everything
            return vars(self)[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):  # those are the import system's
            _is_run(self)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(vars(self)) if _is_run(self) else []


def _is_run(module: ModuleType) -> bool:
    """Run the module's file if that was not done yet. False while it is still being imported."""
    fields = vars(module)
    if "_run" not in fields:
        return False
    with fields["_running"]:  # another thread waits until all names are there
        if fields["_is_waiting"]:
            fields["_is_waiting"] = False
            try:
                fields["_run"](module)
            except BaseException:
                fields["_is_waiting"] = True  # the next one tries again, and is told as well
                raise
    return True

"""One benchmark in a process of its own: `python -m tests.performance.one MODULE FOLDER [--quick] [--thorough]`.

Prints JSON, an object a line: `{"tell": …}`, each finding with the share that others had of the machine, at last `{}`.
So no benchmark has another's garbage, one that takes too long can be ended, and one of an earlier commit runs as it was
then.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.performance.load import OthersWork
from tests.performance.options import Options

_KNOWN: Final = frozenset(inspect.signature(Options).parameters)
"""An earlier commit's options, where it runs by its own, may be fewer."""


def main(module: str, folder: str, *flags: str) -> None:
    """Measure. Whatever goes wrong ends the process with what was found until then printed."""
    asked: dict[str, Any] = {
        "scratch": Path(folder),
        "quick": "--quick" in flags,
        "thorough": "--thorough" in flags,
        "tell": lambda what: _print({"tell": what}),
    }
    options = Options(**{name: value for name, value in asked.items() if name in _KNOWN})
    _share_interpreter()
    others = OthersWork()
    for finding in import_module(f"tests.performance.{module}").run(options):
        _print({**msgspec.to_builtins(finding), "others": others.share()})
    _print({})


def _share_interpreter() -> None:
    """As the daemon does, where it does: an earlier commit's need not."""
    entry = import_module("gemini_companion.__main__")
    getattr(entry, "share_interpreter", lambda: None)()


def _print(line: dict[str, Any]) -> None:
    print(msgspec.json.encode(line).decode(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

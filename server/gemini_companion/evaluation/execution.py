"""Running cells: here, over processes, or on a Ray cluster; every result is a file, so nothing is measured twice."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion import __version__
from gemini_companion.engine.errors import CompanionError, InvalidInput
from gemini_companion.evaluation.cell import Cell, CellResult, Workbench
from gemini_companion.evaluation.conversations import Conversation

_AT_ONCE: Final = 4
"""Cells for each worker that a cluster is given ahead."""

_bench: list[Workbench] = []
"""The worker's own, made once in each process."""


class ResultFolder:
    """The results of cells in files, named by their keys."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, cell: Cell) -> CellResult | None:
        """The result of a cell, `None` if there is none that can be read."""
        try:
            found = msgspec.json.decode((self._folder / f"{cell.key}.json").read_bytes(), type=CellResult)
        except (OSError, msgspec.DecodeError):
            return None
        return found if found.cell == cell and not found.fault else None

    def write(self, result: CellResult) -> None:
        """Keep a result, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{result.cell.key}.json"
        partial = path.with_suffix(".partial")
        partial.write_bytes(msgspec.json.encode(result))
        partial.replace(path)


def run_cell(bench: Workbench, cell: Cell) -> CellResult:
    """A cell's result; a fault of the model or of the input is told in it, so that the others go on."""
    try:
        return bench.run(cell)
    except CompanionError as fault:
        return CellResult(cell=cell, passes=(), fault=fault.message_with_hint)


def run_here(cells: Iterable[Cell], corpus: Sequence[Conversation], env: Mapping[str, str]) -> Iterator[CellResult]:
    """One after the other, in this process."""
    bench = Workbench(corpus, env)
    for cell in cells:
        yield run_cell(bench, cell)


def run_over_processes(
    cells: Sequence[Cell], corpus: Sequence[Conversation], env: Mapping[str, str], processes: int
) -> Iterator[CellResult]:
    """In so many processes, in the order in which they are done. Ended early, it ends them."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _begin, (msgspec.msgpack.encode(list(corpus)), dict(env))) as pool:
        for data in pool.imap_unordered(_work, [msgspec.msgpack.encode(cell) for cell in cells]):
            yield msgspec.msgpack.decode(data, type=CellResult)


def run_on_ray(
    cells: Sequence[Cell], corpus: Sequence[Conversation], env: Mapping[str, str], address: str
) -> Iterator[CellResult]:
    """On a Ray cluster, or for `local` on one that is started here. Raises `InvalidInput` without the package."""
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InvalidInput(
            "Ray is not installed.", hint="Install it with: pip install 'gemini-companion[ray]'."
        ) from None
    yield from _on_ray(ray, cells, corpus, env, address)


def _on_ray(
    ray: Any, cells: Sequence[Cell], corpus: Sequence[Conversation], env: Mapping[str, str], address: str
) -> Iterator[CellResult]:
    local = address == "local"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report the cluster to its makers
    try:
        ray.init(
            address=None if local else address,
            num_cpus=os.cpu_count() if local else None,
            include_dashboard=False if local else None,
            configure_logging=False,
            log_to_driver=False,
        )
    except (OSError, RuntimeError, ValueError) as error:  # ConnectionError is an OSError
        raise CompanionError(
            f"The Ray cluster at {address} cannot be used: {str(error)[:300]}",
            hint="Give the address of its head, such as 10.0.0.5:6379, or `local`.",
        ) from None
    try:
        shared = ray.put((__version__, msgspec.msgpack.encode(list(corpus)), dict(env)))
        work = ray.remote(_work_on_ray)
        waiting = list(reversed(cells))
        pending: list[Any] = []
        width = _AT_ONCE * max(1, round(ray.cluster_resources().get("CPU", 1)))
        while waiting or pending:
            while waiting and len(pending) < width:
                pending.append(work.remote(shared, msgspec.msgpack.encode(waiting.pop())))
            done, pending = ray.wait(pending)
            for data in ray.get(done):
                yield msgspec.msgpack.decode(data, type=CellResult)
    finally:
        ray.shutdown()


def _begin(corpus: bytes, env: Mapping[str, str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _bench[:] = [Workbench(msgspec.msgpack.decode(corpus, type=list[Conversation]), env)]


def _end_with_parent() -> None:
    """However the parent ends: nobody else would stop what this process does."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work(data: bytes) -> bytes:
    return msgspec.msgpack.encode(run_cell(_bench[0], msgspec.msgpack.decode(data, type=Cell)))


def _work_on_ray(shared: tuple[str, bytes, Mapping[str, str]], data: bytes) -> bytes:
    version, corpus, env = shared
    if version != __version__:
        cell = msgspec.msgpack.decode(data, type=Cell)
        told = f"A machine of the cluster has version {__version__}, this one {version}."
        return msgspec.msgpack.encode(CellResult(cell=cell, passes=(), fault=told))
    if not _bench:
        _bench[:] = [Workbench(msgspec.msgpack.decode(corpus, type=list[Conversation]), env)]
    return _work(data)


def run_cells(
    cells: Sequence[Cell],
    corpus: Sequence[Conversation],
    env: Mapping[str, str],
    *,
    kept: ResultFolder | None,
    resume: bool,
    processes: int = 1,
    ray: str | None = None,
    tell: Callable[[int, CellResult | None], None] = lambda done, result: None,
) -> Iterator[CellResult]:
    """Every cell's result: those that are kept first, then the others as they are done, each kept at once.

    `tell` is called with how many are done, and with each new result.
    """
    if not any(cell.summariser.startswith("live") for cell in cells):
        env = {}  # keys go nowhere where nobody needs them
    done = 0
    missing: list[Cell] = []
    for cell in cells:
        found = kept.read(cell) if kept is not None and resume else None
        if found is None:
            missing.append(cell)
        else:
            done += 1
            yield found
    tell(done, None)
    if ray is not None:
        running = run_on_ray(missing, corpus, env, ray) if missing else iter(())
    elif processes > 1 and len(missing) > 1:
        running = run_over_processes(missing, corpus, env, min(processes, len(missing)))
    else:
        running = run_here(missing, corpus, env)
    for result in running:
        done += 1
        if kept is not None:
            kept.write(result)
        tell(done, result)
        yield result

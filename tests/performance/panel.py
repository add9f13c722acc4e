"""The panel's page alone in Chromium, as `client-vscode/test/browser/bench.mjs` measures it, with the limits that it has there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.gemini_cli import Unavailable, node
from tests.performance.options import ROOT, Options

NAME: Final = "panel"
CLIENT: Final = ROOT / "client-vscode"
IN_VS_CODE: Final = "first paint, and a stored session from the click, in VS Code"

_LIMITS: Final = 'import("./test/browser/figures.mjs").then(({ LIMITS }) => console.log(JSON.stringify(LIMITS)))'


def run(options: Options) -> Iterator[Finding]:
    """Everything that it says; what needs a real VS Code is named."""
    try:
        yield from _measured(options)
    except Unavailable as error:
        yield Skipped(bench=NAME, name="the page in Chromium", reason=str(error))
    yield Skipped(
        bench=NAME, name=IN_VS_CODE, reason="`make bench-client` packs the extension, starts VS Code and measures it"
    )


def _measured(options: Options) -> Iterator[Figure]:
    if options.quick:
        raise Unavailable("left out in a hurry (--quick)")
    command = node()
    if not (CLIENT / "node_modules").is_dir():
        raise Unavailable("what npm installs is not here (npm ci in client-vscode)")
    limits = _json(command, "-e", _LIMITS)
    yield from figures(_json(command, "test/browser/bench.mjs"), limits)


def figures(results: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[Figure]:
    """Of `{scene: {values: {what: number}}}`, with `{scene: {what: limit}}`. Raises `Unavailable` if it is anything else."""
    try:
        for scene, result in results.items():
            for what, value in result["values"].items():
                unit = "ms" if what.endswith("Ms") or what == "ms" else ""
                yield Figure(
                    bench=NAME,
                    name=f"{scene}: {what.removesuffix('Ms')}",
                    value=float(value),
                    unit=unit,
                    target=limits.get(scene, {}).get(what),
                )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Unavailable("the page's bench said something else than figures") from None


def _json(*command: str) -> Any:
    """The last line that it prints. Raises `Unavailable`."""
    run = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=False)
    for line in reversed(run.stdout.splitlines()):
        try:
            return json.loads(line)
        except ValueError:
            continue
    said = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
    raise Unavailable(f"the page could not be measured: {said[:200]}")

"""Gemini CLI's own answers, case by case: reading the vectors, spelling out their shorthand, comparing with their
digests.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_GOLDEN = Path(os.environ.get("COMPANION_GOLDEN") or Path(__file__).resolve().parents[3] / "shared" / "golden")


def golden_cases(family: str, function: str, *, prefix: str = "") -> list[Any]:
    """Test parameters: every case of one function, its shorthand not spelled out yet; one skipped parameter where the
    vectors are missing.
    """
    if not (_GOLDEN / f"{family}.json").exists():
        reason = f"no golden vectors {family}.json: set COMPANION_GOLDEN to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="missing")]
    return [
        pytest.param(case, id=case["id"])
        for case in _family(family)
        if case["fn"] == function and case["id"].startswith(prefix)
    ]


@cache
def _family(name: str) -> list[dict[str, Any]]:
    return json.loads((_GOLDEN / f"{name}.json").read_text("utf-8"))["cases"]


def expand(value: Any) -> Any:
    """Spell out `{"$rep": [text, times]}`, `{"$cat": [texts]}` and `{"$lines": [count, format]}`, in which `{i}` is the
    line's number.
    """
    match value:
        case {"$rep": [text, times]}:
            return expand(text) * times
        case {"$cat": pieces}:
            return "".join(map(expand, pieces))
        case {"$lines": [count, text]}:
            return "\n".join(text.replace("{i}", str(number)) for number in range(1, count + 1))
        case dict():
            return {key: expand(each) for key, each in value.items()}
        case list():
            return [expand(each) for each in value]
        case _:
            return value


def digested(value: Any) -> Any:
    """The value as the vectors' results hold it: strings of more than 600 UTF-16 units as length and hash alone."""
    match value:
        case {"$len": length, "$sha": sha}:
            return {"$len": length, "$sha": sha}
        case str():
            data = value.encode("utf-16-le", "surrogatepass")
            return value if len(data) <= 1200 else {"$len": len(data) // 2, "$sha": hashlib.sha256(data).hexdigest()}
        case dict():
            return {key: digested(each) for key, each in value.items()}
        case list() | tuple():
            return [digested(each) for each in value]
        case _:
            return value

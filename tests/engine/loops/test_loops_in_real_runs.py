"""Real conversations have no loops: nothing of them is one here, each taken as one long turn."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.loops.chanting import Chanting
from gemini_companion.engine.loops.cycles import CallCycles, digest_of
from tests.support.loops import each, listen

_CORPUS = Path(os.environ.get("COMPANION_CORPUS") or Path(__file__).resolve().parents[4] / "shared" / "corpus")


def conversations() -> list[Any]:
    files = sorted(_CORPUS.glob("*/**/*.json"))
    if not files:
        reason = "no corpus: set COMPANION_CORPUS to its folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="missing")]
    return [pytest.param(file, id=file.stem) for file in files]


@pytest.mark.parametrize("file", conversations())
def test_a_real_conversation_is_no_loop(file: Path) -> None:
    history: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["history"]
    chanting, cycles, asked = Chanting(), CallCycles(), list[dict[str, Any]]()
    for content in history:
        for part in content["parts"]:
            if "functionResponse" in part and asked:
                call = asked.pop(0)
                keys = digest_of(call["name"], call.get("args")), digest_of(part["functionResponse"]["response"])
                assert cycles.add(*keys) is None, call
                assert chanting.mark(" ".join(keys)) is None
            elif content["role"] == "model":
                chant, _ = listen(part.get("text", ""), each([4]), chanting)
                assert chant is None, chant.excerpt
                asked += [part["functionCall"]] if "functionCall" in part else []
        if content["role"] == "model":
            assert chanting.end_answer() is None

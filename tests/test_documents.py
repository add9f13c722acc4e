"""What the documents say is so: links lead somewhere, samples are well formed, commands exist."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from gemini_companion.cli.editor import CONFIGURATIONS
from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.protocol.sink import EVENT
from gemini_companion.protocol.table import REQUESTS

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "server/ARCHITECTURE.md",
    "server/PERFORMANCE.md",
    "server/USAGE.md",
)
USAGE = ROOT / "server" / "USAGE.md"


def blocks(file: Path, language: str) -> list[str]:
    """The fenced samples in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", file.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def anchors(file: Path) -> set[str]:
    """What `#…` can name in a Markdown file."""
    headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    document = ROOT / name
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text("utf-8")):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_python_sample_runs() -> None:
    for sample in blocks(USAGE, "python"):
        exec(compile(sample, str(USAGE), "exec"), {})


def test_samples_of_configuration_are_well_formed() -> None:
    for sample in blocks(USAGE, "json"):
        json.loads(sample)
    for sample in blocks(USAGE, "toml"):
        tomllib.loads(sample)


def test_every_editor_whose_configuration_is_shipped_stands_in_the_readme() -> None:
    named = set(re.findall(r"`editor (\w+)`", (ROOT / "README.md").read_text("utf-8")))
    assert named == set(CONFIGURATIONS)


def test_every_command_is_described_and_exists() -> None:
    described = set(re.findall(r"`(gemini\.\w+)`", USAGE.read_text("utf-8")))
    assert described == set(COMMANDS)


def test_the_methods_that_are_described_exist() -> None:
    table = USAGE.read_text("utf-8").partition("| method | what it does |")[2].partition("\n\n")[0]
    methods = set(re.findall(r"`(gemini/[a-z][\w/]*\w)`", table))
    assert len(methods) > 5
    assert methods <= {method.name for method in REQUESTS} | {EVENT}


def test_every_target_that_the_documents_name_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in DOCUMENTS:
        for target in re.findall(r"`make ([a-z][a-z0-9-]*)", (ROOT / name).read_text("utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{name}: make {target}"

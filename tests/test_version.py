"""One version in one place: whatever must repeat it agrees, and a release changes all of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from gemini_companion import __version__
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
COPIES = (
    "server/gemini_companion/__init__.py",
    "client-vscode/package.json",
    "client-vscode/package-lock.json",
    "client-vscode/CHANGELOG.md",
    "CHANGELOG.md",
)


def headings(changelog: Path) -> list[str]:
    """The sections of a changelog, newest first: `Unreleased` or a version."""
    return re.findall(r"^## \[?(Unreleased|\d+\.\d+\.\d+)\b", changelog.read_text("utf-8"), re.MULTILINE)


def stated(root: Path) -> dict[str, str | None]:
    """The version that each file states."""
    package = json.loads((root / "client-vscode/package.json").read_text("utf-8"))
    lock = json.loads((root / "client-vscode/package-lock.json").read_text("utf-8"))
    return {
        "package.json": package["version"],
        "package-lock.json": lock["version"],
        "package-lock.json, the package": lock["packages"][""]["version"],
        "CHANGELOG.md": next((name for name in headings(root / "CHANGELOG.md") if name != "Unreleased"), None),
        "the extension's CHANGELOG.md": next(
            (name for name in headings(root / "client-vscode/CHANGELOG.md") if name != "Unreleased"), None
        ),
    }


def release(root: Path, new: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "release.py"), new, "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that state the version, with something to release."""
    for name in COPIES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    entry = re.sub(r"^(## \[?Unreleased\]?\n)", r"\1\n- Something new.\n", text, count=1, flags=re.MULTILINE)
    changelog.write_text(entry, "utf-8")
    return tmp_path


def test_the_installed_package_the_extension_and_the_changelogs_state_the_one_version() -> None:
    assert version("gemini-companion") == __version__, "run make setup again"
    assert {name: found for name, found in stated(ROOT).items() if found != __version__} == {}


def test_the_schema_states_the_one_version() -> None:
    assert json.loads((ROOT / "schemas/openrpc.json").read_text("utf-8"))["info"]["version"] == __version__


@pytest.mark.process
def test_a_release_writes_the_new_version_everywhere_and_opens_new_sections(copy: Path) -> None:
    done = release(copy, "99.0.0")
    assert done.returncode == 0, done.stderr
    assert set(stated(copy).values()) == {"99.0.0"}
    assert '__version__ = "99.0.0"\n' in (copy / COPIES[0]).read_text("utf-8")
    for name in ("CHANGELOG.md", "client-vscode/CHANGELOG.md"):
        assert headings(copy / name)[:2] == ["Unreleased", "99.0.0"]
    changelog = (copy / "CHANGELOG.md").read_text("utf-8")
    assert changelog.index("99.0.0") < changelog.index("Something new.") < changelog.index(__version__)


@pytest.mark.process
@pytest.mark.parametrize("new", ["0.0.1", "1.0", "next", __version__])
def test_a_version_that_is_none_or_not_newer_is_refused(copy: Path, new: str) -> None:
    before = {name: (copy / name).read_bytes() for name in COPIES}
    done = release(copy, new)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert {name: (copy / name).read_bytes() for name in COPIES} == before


def test_both_changelogs_have_a_section_for_what_comes_next() -> None:
    for name in ("CHANGELOG.md", "client-vscode/CHANGELOG.md"):
        assert headings(ROOT / name)[0] == "Unreleased", name


@pytest.mark.process
def test_a_release_of_nothing_is_refused(copy: Path) -> None:
    assert release(copy, "99.0.0").returncode == 0
    done = release(copy, "99.0.1")
    assert done.returncode == 1
    assert "nothing under Unreleased" in done.stderr
    assert set(stated(copy).values()) == {"99.0.0"}

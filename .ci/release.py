"""Writes a new version wherever one stands: `python .ci/release.py 0.2.0 [--root DIR]`. `make release` does the rest.

The version's one place is `server/gemini_companion/__init__.py`; the others are copies that their formats demand, and
`tests/test_version.py` compares them.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from pathlib import Path

SOURCE = "server/gemini_companion/__init__.py"
CHANGELOGS = ("CHANGELOG.md", "client-vscode/CHANGELOG.md")
VERSION = re.compile(r"\d+\.\d+\.\d+")
_ASSIGNED = re.compile(r'(?<=^__version__ = ")[^"]+(?="$)', re.MULTILINE)
_IN_JSON = re.compile(r'(?<="version": ")[^"]+(?=")')
_UNRELEASED = re.compile(r"^## \[?Unreleased\]?\n+(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class Refused(Exception):
    """The release cannot be made; the message says why."""


def current_version(root: Path) -> str:
    """The version that stands in the one place."""
    found = _ASSIGNED.search((root / SOURCE).read_text("utf-8"))
    if found is None:
        raise Refused(f"{SOURCE} has no __version__.")
    return found[0]


def release(root: Path, version: str, date: str) -> list[str]:
    """Write the version into every file, and return their names. Nothing is written if anything is amiss."""
    if not VERSION.fullmatch(version):
        raise Refused(f"{version!r} is no version like 1.2.3.")
    before = current_version(root)
    if _numbers(version) <= _numbers(before):
        raise Refused(f"{version} is not newer than {before}.")
    changes = {
        SOURCE: (_ASSIGNED, 1),
        "client-vscode/package.json": (_IN_JSON, 1),
        "client-vscode/package-lock.json": (_IN_JSON, 2),  # of the file, and of the package in it
    }
    written = {
        name: pattern.sub(version, (root / name).read_text("utf-8"), count=count)
        for name, (pattern, count) in changes.items()
    }
    changelog, extension = ((root / name).read_text("utf-8") for name in CHANGELOGS)
    written[CHANGELOGS[0]] = _closed(changelog, f"[{version}] - {date}")
    written[CHANGELOGS[1]] = _closed(extension, version, otherwise="The daemon changed, the extension did not.\n\n")
    for name, text in written.items():
        (root / name).write_text(text, "utf-8")
    return list(written)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


def _closed(changelog: str, heading: str, *, otherwise: str = "") -> str:
    """The changelog with what was unreleased under a heading of its own, and a new, empty section above it."""
    section = _UNRELEASED.search(changelog)
    body = (section["body"].strip() and section["body"]) or otherwise if section else ""
    if section is None or not body:
        raise Refused(f"{CHANGELOGS[0]} has nothing under Unreleased: write down what changed first.")
    title = changelog[section.start() : section.start("body")].strip()
    return f"{changelog[: section.start()]}{title}\n\n## {heading}\n\n{body}{changelog[section.end() :]}"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    try:
        names = release(options.root, options.version, datetime.date.today().isoformat())
    except Refused as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1
    sys.stdout.write(f"Version {options.version} stands in {', '.join(names)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

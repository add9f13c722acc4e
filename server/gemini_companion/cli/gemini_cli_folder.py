"""Where Gemini CLI keeps the sessions of a project, so that one of ours can be put beside them.

As Gemini CLI 0.61 has it: `~/.gemini/tmp/<slug>/chats/session-<time>-<first eight of the id>.json`, the slug being the
project's in `~/.gemini/projects.json`, or that of the folder whose `.project_root` names the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

import msgspec

from gemini_companion.engine.errors import CompanionError

_OWNER: Final = ".project_root"
_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,255}")
_LARGEST: Final = 4 * 1024 * 1024
"""Bytes of Gemini CLI's list of projects at most."""


def chats_folder(home: Path, env: Mapping[str, str], project: str) -> Path:
    """The folder of the project's sessions, made if it is not there. Raises `CompanionError` if that fails.

    `GEMINI_CLI_HOME` in `env` stands for `home`, as in Gemini CLI. `project` is an absolute path.
    """
    root = Path(env.get("GEMINI_CLI_HOME") or home) / ".gemini"
    try:
        folder = root / "tmp" / _slug(root, project)
        (folder / "chats").mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (folder / _OWNER).exists():
            (folder / _OWNER).write_text(project, encoding="utf-8")
    except OSError as error:
        raise CompanionError(
            f"Gemini CLI's folder in {root} cannot be used: {error.strerror or error}.",
            hint="Without --to-gemini-cli the session is printed, to be saved anywhere.",
        ) from None
    return folder / "chats"


def file_name(session_id: str, created_at: int) -> str:
    """The name under which Gemini CLI lists and deletes a session; `session_id` is the one in the file."""
    moment = datetime.fromtimestamp(min(max(created_at, 0), 253_402_300_799_999) // 1000, UTC)
    return f"session-{moment:%Y-%m-%dT%H-%M}-{re.sub(r'[^A-Za-z0-9_-]', '_', session_id)[:8]}.json"


def _slug(root: Path, project: str) -> str:
    """The project's slug: the listed one, the one whose folder names the project as its owner, else a free one."""
    listed = _listed(root / "projects.json")
    if (slug := listed.get(project)) is not None and _owner(root, slug) in (None, project):
        return slug
    known = sorted(path.parent.name for path in (root / "tmp").glob(f"*/{_OWNER}"))
    if (slug := next((slug for slug in known if _owner(root, slug) == project), None)) is not None:
        return slug
    base = re.sub(r"[^a-z0-9]+", "-", os.path.basename(project).lower()).strip("-") or "project"
    taken = set(listed.values())
    number = 0
    while (slug := f"{base}-{number}" if number else base) in taken or _owner(root, slug) not in (None, project):
        number += 1
    return slug


def _listed(path: Path) -> dict[str, str]:
    """The slug of each project; those that are none are left out, and so is a list that cannot be read."""
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        document: object = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}
    projects = cast("dict[str, object]", document).get("projects") if isinstance(document, dict) else None
    if not isinstance(projects, dict):
        return {}
    slugs = cast("dict[str, object]", projects).items()
    return {project: slug for project, slug in slugs if isinstance(slug, str) and _SLUG.fullmatch(slug)}


def _owner(root: Path, slug: str) -> str | None:
    """The project that owns a slug, `None` if none does. Raises `OSError` if that cannot be read."""
    for kind in ("tmp", "history"):
        path = root / kind / slug / _OWNER
        try:
            with path.open("rb") as file:
                return file.read(_LARGEST).decode("utf-8", "replace").strip()
        except FileNotFoundError:
            continue
    return None

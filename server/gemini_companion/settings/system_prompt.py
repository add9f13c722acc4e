"""The file that replaces the system prompt, if GEMINI_SYSTEM_MD names one, and the one that gets a copy of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gemini_companion.engine.errors import InvalidSettings, StorageFault, UntrustedWorkspace
from gemini_companion.settings.reading import Aside, put_in_place, read_text, shown, unnoted

DEFAULT_FILE: Final = Path(".gemini", "system.md")
"""Below the first workspace folder; the file if GEMINI_SYSTEM_MD is `1` or `true`."""

REPLACING: Final = "GEMINI_SYSTEM_MD"
WRITING: Final = "GEMINI_WRITE_SYSTEM_MD"

_HINT: Final = "Correct GEMINI_SYSTEM_MD, or unset it; until then the built-in system prompt is used."
_HINT_WRITING: Final = "Correct GEMINI_WRITE_SYSTEM_MD, or unset it; nothing was written."
_YES: Final = ("1", "true")


def system_prompt_override(
    env: Mapping[str, str], *, home: Path, workspace_folders: Sequence[str], trusted: bool
) -> str | None:
    """The text that replaces the system prompt, `None` for the built-in one.

    GEMINI_SYSTEM_MD is unset, `0` or `false` for the built-in prompt; `1` or `true` for the workspace's own
    `.gemini/system.md`; else a path, `~` for the home folder, relative to the first workspace folder. Raises
    `InvalidSettings` for a file that is missing or cannot be used, `UntrustedWorkspace` for a relative path in an
    untrusted workspace. Blocks on a small file.
    """
    wish = _wish(env, REPLACING)
    if not wish:
        return None
    named = _named(wish, home)
    if not named.is_absolute():
        if not workspace_folders:
            raise InvalidSettings(
                f"GEMINI_SYSTEM_MD: {shown(named)} is relative, and no workspace folder is open", hint=_HINT
            )
        if not trusted:
            raise UntrustedWorkspace(
                f"GEMINI_SYSTEM_MD: {shown(named)} belongs to a workspace that is not trusted",
                hint="Trust the workspace, or name a file of your own; until then the built-in system prompt is used.",
            )
    path = Path(workspace_folders[0], named) if workspace_folders else named
    try:
        text = read_text(path)
    except InvalidSettings as fault:
        raise InvalidSettings(f"GEMINI_SYSTEM_MD: {fault.message}", hint=_HINT) from None
    if text is None:
        raise InvalidSettings(f"GEMINI_SYSTEM_MD: {shown(path)}: there is no such file", hint=_HINT)
    return text


def write_system_prompt(
    text: Callable[[], str],
    env: Mapping[str, str],
    *,
    home: Path,
    workspace_folders: Sequence[str],
    trusted: bool,
    aside: Aside = unnoted,
) -> Path | None:
    """Write a prompt where GEMINI_WRITE_SYSTEM_MD says, in place of what is there; `None` if it says nothing.

    It is read as GEMINI_SYSTEM_MD is; `1` or `true` is the file that GEMINI_SYSTEM_MD names by a path, else
    `.gemini/system.md`. The file that replaces the prompt now is not written over. Raises `InvalidSettings`,
    `StorageFault`, and `UntrustedWorkspace` for any place in a workspace that is not trusted: a link in it may lead
    anywhere. Blocks on a small file.
    """
    wish = _wish(env, WRITING)
    if not wish:
        return None
    in_use = _wish(env, REPLACING)
    own = in_use if wish.lower() in _YES and in_use.lower() not in _YES and in_use else wish
    named = _named(own, home)
    if not named.is_absolute() and not workspace_folders:
        raise InvalidSettings(
            f"{WRITING}: {shown(named)} is relative, and no workspace folder is open", hint=_HINT_WRITING
        )
    path = Path(workspace_folders[0], named) if workspace_folders else named
    try:
        real = Path(os.path.realpath(path.parent), path.name)
        if not trusted and any(
            place.is_relative_to(root)
            for folder in workspace_folders
            for place, root in ((Path(os.path.abspath(path)), folder), (real, os.path.realpath(folder)))
        ):
            raise UntrustedWorkspace(
                f"{WRITING}: {shown(path)} belongs to a workspace that is not trusted",
                hint="Trust the workspace, or name a place of your own; nothing was written.",
            )
        if in_use and _is_same(Path(workspace_folders[0] if workspace_folders else "", _named(in_use, home)), real):
            raise InvalidSettings(
                f"{WRITING}: {shown(path)} is the file that replaces the system prompt now",
                hint="Unset GEMINI_SYSTEM_MD for as long as the built-in prompt is written there; nothing was written.",
            )
        _replace(real, text(), aside)
    except ValueError:
        raise InvalidSettings(f"{WRITING}: its path is not valid", hint=_HINT_WRITING) from None
    except OSError as fault:
        raise StorageFault(f"{WRITING}: {shown(path)} could not be written ({fault.strerror or fault}).") from None
    return path


def _wish(env: Mapping[str, str], variable: str) -> str:
    wish = env.get(variable, "").strip()
    return "" if wish.lower() in ("0", "false") else wish


def _named(wish: str, home: Path) -> Path:
    if wish.lower() in _YES:
        return DEFAULT_FILE
    return Path(str(home) + wish[1:] if wish == "~" or wish.startswith("~/") else wish)


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and os.path.realpath(one) == os.path.realpath(other)


def _replace(path: Path, text: str, aside: Aside) -> None:
    """Whole or not at all. A link there is replaced, not followed."""
    if path.is_dir():
        raise IsADirectoryError(21, "it is a folder")
    from gemini_companion.engine.redaction import mask  # slow, and seldom needed

    path.parent.mkdir(parents=True, exist_ok=True)
    put_in_place(path, (mask(text) + "\n").encode("utf-8"), aside)

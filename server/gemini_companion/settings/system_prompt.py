"""The file that replaces the system prompt, if GEMINI_SYSTEM_MD names one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gemini_companion.engine.errors import InvalidSettings, UntrustedWorkspace
from gemini_companion.settings.reading import read_text, shown

DEFAULT_FILE: Final = Path(".gemini", "system.md")
"""Below the first workspace folder; the file if GEMINI_SYSTEM_MD is `1` or `true`."""

_HINT: Final = "Correct GEMINI_SYSTEM_MD, or unset it; until then the built-in system prompt is used."


def system_prompt_override(
    env: Mapping[str, str], *, home: Path, workspace_folders: Sequence[str], trusted: bool
) -> str | None:
    """The text that replaces the system prompt, `None` for the built-in one.

    GEMINI_SYSTEM_MD is unset, `0` or `false` for the built-in prompt; `1` or `true` for the workspace's own
    `.gemini/system.md`; else a path, `~` for the home folder, relative to the first workspace folder. Raises
    `InvalidSettings` for a file that is missing or cannot be used, `UntrustedWorkspace` for a relative path in an
    untrusted workspace. Blocks on a small file.
    """
    wish = env.get("GEMINI_SYSTEM_MD", "").strip()
    if wish.lower() in ("", "0", "false"):
        return None
    named = (
        DEFAULT_FILE
        if wish.lower() in ("1", "true")
        else Path(str(home) + wish[1:] if wish == "~" or wish.startswith("~/") else wish)
    )
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

"""`gemini-companion editor`: the shipped configurations, each one complete file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent.parent / "editors"
CONFIGURATIONS: Final = {
    "neovim": "neovim.lua",
    "emacs": "emacs.el",
    "vim": "vim.vim",
    "vscode": "vscode.jsonc",
    "helix": "helix.toml",
    "zed": "zed.jsonc",
}
"""The file in `FOLDER` for each editor's name."""


def show_configuration(name: str | None, *, as_path: bool) -> int:
    """Print the editor's configuration to stdout, or with `as_path` its file's path; without a name, the names."""
    if name is None:
        print("\n".join(CONFIGURATIONS))
        return 0
    file = FOLDER / CONFIGURATIONS[name]
    sys.stdout.write(f"{file}\n" if as_path else file.read_text("utf-8"))
    return 0

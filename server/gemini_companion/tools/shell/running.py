"""Options by which programs run what their words say: no rule opens them that does not name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gemini_companion.tools.shell.programs import words_of

_TAR: Final = words_of(
    "-I -F --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script"
)
_TAR_PROGRESS: Final = "--check"
"""The beginning of the one by which `tar` runs something as it goes on."""
_COMPILER: Final = words_of("-wrapper -fplugin -specs -B @")
_MAKE: Final = words_of("-f --file --makefile --eval -E SHELL= MAKEFLAGS=")
_SCRIPTS: Final = words_of("--script-shell --node-options --shell --init-script --onload-script")
_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "bsdtar": _TAR,
    "cargo": words_of("--config"),
    "cc": _COMPILER,
    "clang": _COMPILER,
    "cmake": words_of("-P -E"),
    "curl": words_of("-K --config"),
    "g++": _COMPILER,
    "gcc": _COMPILER,
    "git": words_of("--receive-pack --upload-pack --exec -x --open-files-in-pager -O --extcmd --tool"),
    "gmake": _MAKE,
    "go": words_of("-exec -toolexec -vettool -overlay"),
    "gtar": _TAR,
    "install": words_of("--strip-program"),
    "ld": words_of("-plugin @"),
    "make": _MAKE,
    "man": words_of("-P -H --pager --html"),
    "ninja": words_of("-f"),
    "npm": _SCRIPTS,
    "pip": words_of("--python --config-settings -C"),
    "pnpm": _SCRIPTS,
    "rsync": words_of("-e --rsh --rsync-path"),
    "scp": words_of("-S -o -F"),
    "sftp": words_of("-S -o -F -D"),
    "split": words_of("--filter"),
    "tar": _TAR,
    "tcpdump": words_of("-z"),
    "wget": words_of("--use-askpass -e --execute --config"),
    "yarn": _SCRIPTS,
    "zip": words_of("-TT --unzip-command"),
}
_CLUSTERED: Final = frozenset(("tar", "gtar", "bsdtar", "rsync"))
"""Their short options stand together, those of `tar` without a dash too if they come first."""


def running_option(name: str, words: Sequence[str], accepted: int) -> str:
    """The word by which a program runs something of its caller's choice; empty if there is none.

    `words` are all that the command has, of which a rule names the first `accepted`.
    """
    options = _OPTIONS.get(name)
    if options is None:
        return ""
    for at, word in enumerate(words[1:], 1):
        if at >= accepted and _is_one(name, word, options, is_first=at == 1):
            return word
    return ""


def _is_one(name: str, word: str, options: frozenset[str], *, is_first: bool) -> bool:
    if name.endswith("tar") and word.startswith(_TAR_PROGRESS):
        return True
    if word.startswith("--"):
        given = word.partition("=")[0]
        return len(given) > 2 and any(option.startswith(given) or option == given[1:] for option in options)
    if name in _CLUSTERED and (word.startswith("-") or (is_first and name != "rsync")):
        letters = {option[1] for option in options if len(option) == 2}
        return any(letter in letters for letter in word.lstrip("-"))
    return any(not option.startswith("--") and word.startswith(option) for option in options)

"""What words have programs run what their caller likes, and of which programs it is known that none does.

No rule that allows opens a word that it does not name, if by that word the program may run something. Of a kind of
command in `KINDS` that is known of every option; "always" is offered for these kinds, and else for the exact words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gemini_companion.tools.shell.programs import INTERPRETERS, MAKERS, OBEYING, STARTERS, words_of
from gemini_companion.tools.shell.spellings import is_option


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of command that runs nothing its words name, whatever operands it gets, with these options."""

    flags: frozenset[str]
    """Options without a value, or with an attached one; short ones may stand together."""
    valued: frozenset[str] = frozenset()
    """Options with a value."""
    texts: frozenset[str] = frozenset()
    """Of `valued`, those whose value is a text and no file."""


_LINTING: Final = words_of(
    "-q -v -s --quiet --verbose --check --diff --fix --no-fix --fix-only --statistics --show-files --show-fixes "
    "--no-cache --color --exit-zero --line-length --output-format --preview --safe --fast"
)
KINDS: Final[Mapping[tuple[str, ...], Kind]] = {
    ("mkdir",): Kind(words_of("-p -v --parents --verbose")),
    ("touch",): Kind(words_of("-a -c -m --no-create")),
    ("git", "add"): Kind(
        words_of(
            "-A -u -v -n -N -f --all --update --verbose --dry-run --intent-to-add --force --ignore-errors "
            "--ignore-removal --refresh --renormalize --chmod"
        )
    ),
    ("git", "commit"): Kind(
        words_of(
            "-a -q -v -s -n -o -i --all --quiet --verbose --signoff --no-signoff --allow-empty --allow-empty-message "
            "--amend --no-edit --no-verify --only --include --no-status --status --reset-author --no-gpg-sign "
            "--porcelain --short --dry-run"
        ),
        words_of("-m -C -F --file --message --author --date --fixup --squash --reuse-message --cleanup --trailer"),
        words_of("-m --message --author --date --trailer"),
    ),
    ("ruff", "check"): Kind(_LINTING, words_of("--select --ignore --extend-select --target-version")),
    ("ruff", "format"): Kind(_LINTING, words_of("--target-version")),
    ("black",): Kind(_LINTING, words_of("-l -t --target-version")),
    ("gofmt",): Kind(words_of("-d -e -l -s -w")),
}
"""Kinds of commands of which everything is known. `git commit` runs the hooks of the repository, whatever its words."""

_TAR: Final = words_of(
    "-I -F --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script"
)
_TAR_PROGRESS: Final = "--check"
"""The beginning of the one by which `tar` runs something as it goes on."""
_COMPILER: Final = words_of("-wrapper -fplugin -specs -B @")
_MAKE: Final = words_of("-f --file --makefile --eval -E SHELL= MAKEFLAGS=")
_SCRIPTS: Final = words_of("--script-shell --node-options --shell --init-script --onload-script")
_TESTING: Final = words_of(
    "-c -r --config --custom-reporter --environment --globalSetup --loader --reporter --require --resolver --rootDir "
    "--runner --setupFiles --setupFilesAfterEnv --transform --testRunner -i --import"
)
_GIT_RUNS: Final[Mapping[str, frozenset[str]]] = {
    "am": words_of("-i"),
    "bisect": words_of("run visualize view"),
    "checkout": words_of("-p"),
    "clone": words_of("-c -u --config --template --recurse-submodules --recursive --upload-pack"),
    "config": frozenset(("",)),
    "credential": frozenset(("",)),
    "difftool": frozenset(("",)),
    "fast-import": frozenset(("",)),
    "filter-branch": frozenset(("",)),
    "hook": frozenset(("",)),
    "init": words_of("--template"),
    "maintenance": words_of("run start register"),
    "mergetool": frozenset(("",)),
    "merge": words_of("-s --strategy"),
    "pull": words_of("-s --strategy"),
    "rebase": words_of("-i -s -x --exec --interactive --strategy"),
    "remote": words_of("add set-url"),
    "send-email": frozenset(("",)),
    "submodule": words_of("add foreach init update"),
    "worktree": words_of("add"),
}
"""By which words behind a subcommand `git` runs something else; an empty one: by any. Kinds are not among them."""
_HARMLESS_VALUE: Final = re.compile(r"[0-9]{0,9}")
_RUNNING_NAME: Final = re.compile(
    r"--(?!no-|ignore-|skip-|without-|disable-)[a-z0-9-]*(?:exec|command|cmd|shell|eval|hook|plugin|require|preload"
    r"|loader|import|bootstrap|pager|editor|rulesdir|wrapper|askpass|helper|launcher|browser|interpreter)",
    re.IGNORECASE,
)
"""What the name of an option has that runs something, most likely. `--no-pager` and the like do not."""
_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "bsdtar": _TAR,
    "cargo": words_of("--config"),
    "cc": _COMPILER,
    "clang": _COMPILER,
    "cmake": words_of("-P -E"),
    "curl": words_of("-K --config"),
    "g++": _COMPILER,
    "gcc": _COMPILER,
    "eslint": words_of(
        "-c -f --config --format --parser --plugin --resolve-plugins-relative-to --rulesdir --stdin --flag"
    ),
    "git": words_of("--receive-pack --upload-pack --exec -x --open-files-in-pager -O --extcmd --tool"),
    "gmake": _MAKE,
    "go": words_of("-exec -toolexec -vettool -overlay"),
    "gtar": _TAR,
    "hg": words_of("--config --config-file --debugger -R --repository --cwd --ssh --remotecmd --tool"),
    "install": words_of("--strip-program"),
    "ld": words_of("-plugin @"),
    "make": _MAKE,
    "jest": _TESTING,
    "man": words_of("-P -H --pager --html"),
    "mocha": _TESTING,
    "mypy": words_of("--config-file --python-executable --custom-typeshed-dir --python"),
    "ninja": words_of("-f"),
    "nmap": words_of("--script -s --datadir --servicedb -iL"),
    "npm": _SCRIPTS,
    "pip": words_of("--python --config-settings -C"),
    "pnpm": _SCRIPTS,
    "prettier": words_of("--plugin --config --find-config-path --plugin-search-dir"),
    "pytest": words_of(
        "-c -o -p --config-file --confcutdir --cov-config --import-mode --override-ini --pdbcls --pyargs --rootdir"
    ),
    "rsync": words_of("-e --rsh --rsync-path"),
    "scp": words_of("-S -o -F"),
    "sftp": words_of("-S -o -F -D"),
    "ssh-keygen": words_of("-D -w -P"),
    "split": words_of("--filter"),
    "svn": words_of("--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd --merge-cmd"),
    "tar": _TAR,
    "tcpdump": words_of("-z"),
    "tox": words_of("-c --conf -x --override --override-env --runner --workdir"),
    "tshark": words_of("-X"),
    "vitest": _TESTING,
    "webpack": words_of("-c --config --require"),
    "wget": words_of("--use-askpass -e --execute --config"),
    "yarn": _SCRIPTS,
    "zip": words_of("-TT --unzip-command"),
}
_CLUSTERED: Final = frozenset(("tar", "gtar", "bsdtar", "rsync"))
"""Any letter of theirs counts, those of `tar` without a dash too if they come first."""
_LONG_WITH_ONE_DASH: Final = words_of("cc clang cmake g++ gcc go ld nmap tcpdump tshark")
"""Their options with one dash are words. Those of all others are letters that may stand together: `make -sf other`."""
_VALUED: Final[Mapping[str, str]] = {
    "curl": "AbCcDdEeFHhmMoPQrTtUuwXxYyz",
    "gmake": "CIWjloO",
    "make": "CIWjloO",
    "ninja": "CdjklwtW",
    "pip": "ceirt",
    "pytest": "Wkmnr",
    "ssh-keygen": "bCEfFImnNORtVYz",
    "tox": "e",
    "wget": "aABDiIlOoPQRtTUwX",
}
"""Letters behind which the rest of a word is their value."""


def running_word(name: str, words: Sequence[str], accepted: int) -> str:
    """The word by which a program may run something of its caller's choice; empty if there is none.

    `words` are all that the command has, of which a rule names the first `accepted`.
    """
    if name in INTERPRETERS and (at := _module_at(words)):
        name, words, accepted = words[at], words[at:], accepted - at
    if name in STARTERS:  # `uv run pytest` is as careful as `pytest`
        known = (at for at in range(1, accepted) if words[at] in _OPTIONS or words[at] in OBEYING | MAKERS)
        for at in known:
            if word := running_word(words[at], words[at:], accepted - at):
                return word
    more = words[max(accepted, 1) :]
    if name in OBEYING:
        return next(iter(more), "")
    if (kind := kind_of(words)) and accepted >= len(kind):  # all of its options are known, and what they are given
        return _not_of(KINDS[kind], more)
    options = _OPTIONS.get(name, frozenset[str]())
    for at, word in enumerate(words[1:], 1):
        if at >= accepted and (_is_one(name, word, options, is_first=at == 1) or _RUNNING_NAME.match(word)):
            return word
    if name in MAKERS:
        return next((word for word in more if _changes_what_is_made(word, is_whole=accepted < 2)), "")
    if name == "git":
        return _of_git(words, accepted)
    return ""


def kind_of(words: Sequence[str]) -> tuple[str, ...]:
    """The kind of a command, its first words; empty if it is of none that is known."""
    return next((kind for kind in KINDS if tuple(words[: len(kind)]) == kind), ())


def is_of_kind(words: Sequence[str]) -> bool:
    """Whether a command is of a kind that is known, with every option that it has."""
    kind = kind_of(words)
    return bool(kind) and not _not_of(KINDS[kind], words[len(kind) :])


def without_texts(words: Sequence[str]) -> list[str]:
    """The words of a command but for those that are texts, such as a message, and name no file."""
    kind = KINDS.get(kind_of(words), Kind(frozenset()))
    kept: list[str] = []
    at = 0
    while at < len(words):
        if words[at] == "--":
            return [*kept, *words[at:]]
        option, is_attached = _with_value(kind, words[at])
        if not (option in kind.texts and is_attached):
            kept.append(words[at])
        at += 1
        if option and not is_attached:
            kept += [] if option in kind.texts else words[at : at + 1]
            at += 1
    return kept


def _with_value(kind: Kind, word: str) -> tuple[str, bool]:
    """The option of a word that takes a value, and whether that is attached; empty if there is none."""
    if word.startswith("--"):
        name, equals, _ = word.partition("=")
        return (name, bool(equals)) if name in kind.valued else ("", False)
    if is_option(word):
        for at, letter in enumerate(word[1:], 1):
            if f"-{letter}" in kind.valued:
                return f"-{letter}", at < len(word) - 1
    return "", False


def _not_of(kind: Kind, words: Sequence[str]) -> str:
    """The option that a kind of command is not known to have; empty if there is none."""
    at = 0
    while at < len(words) and words[at] != "--":
        word = words[at]
        option, is_attached = _with_value(kind, word)
        at += 2 if option and not is_attached else 1
        if word.startswith("--"):
            if word.partition("=")[0] not in kind.flags | kind.valued:
                return word
        elif is_option(word):
            letters = word[1:].partition(option[1])[0] if option else word[1:]
            if any(f"-{letter}" not in kind.flags for letter in letters):
                return word
    return ""


def _module_at(words: Sequence[str]) -> int:
    """Where the name of a module stands that an interpreter runs; 0 if there is none."""
    return next((at for at in range(1, len(words)) if words[at - 1] == "-m"), 0)


def _changes_what_is_made(word: str, *, is_whole: bool) -> bool:
    """Whether a word behind a rule's has something else be made, or with other means. A rule for the program as a whole
    is about everything that it makes.
    """
    if word.startswith(("-D", "-P", "--define", "--project-prop", "--system-prop")):
        return True
    name, equals, text = word.partition("=")
    if not is_option(word) and equals and name:
        return _HARMLESS_VALUE.fullmatch(text) is None
    return not is_whole and not is_option(word) and not word.isdigit()


def _of_git(words: Sequence[str], accepted: int) -> str:
    wanted = _GIT_RUNS.get(words[1] if len(words) > 1 else "", frozenset[str]())
    for word in words[max(accepted, 2) :]:
        if re.match(r"\w+::", word):  # a helper's address: `ext::sh -c …`
            return word
        for one in wanted:
            given = word.partition("=")[0]
            is_long = one.startswith("--") and len(given) > 2 and one.startswith(given)
            is_short = len(one) == 2 and is_option(word) and not word.startswith("--") and one[1] in word[1:]
            if not one or word == one or is_long or is_short:
                return word
    kind = kind_of(words)
    return _not_of(KINDS[kind], words[max(accepted, len(kind)) :]) if kind else ""


def _is_one(name: str, word: str, options: frozenset[str], *, is_first: bool) -> bool:
    if name.endswith("tar") and word.startswith(_TAR_PROGRESS):
        return True
    if word.startswith("--"):
        given = word.partition("=")[0]
        return len(given) > 2 and any(option.startswith(given) or option == given[1:] for option in options)
    if name in _CLUSTERED and (word.startswith("-") or (is_first and name != "rsync")):
        letters = {option[1] for option in options if len(option) == 2}
        return any(letter in letters for letter in word.lstrip("-"))
    if any(not option.startswith("--") and word.startswith(option) for option in options):
        return True
    if not is_option(word) or name in _LONG_WITH_ONE_DASH:
        return False
    letters = word[1 : 1 + next((at for at, one in enumerate(word[1:]) if one in _VALUED.get(name, "")), len(word))]
    return any(len(option) == 2 and option[1] in letters for option in options)

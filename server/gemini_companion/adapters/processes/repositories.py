"""What a git repository's own settings have `git` run when it merely looks.

Somebody who makes a repository decides its `.git/config`: a diff driver, a filter, a program for signatures. What the
person's own settings name is theirs to run, so only what comes with the repository is read. Of it, only what is known
to run nothing counts as harmless.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from typing import Final

from gemini_companion.adapters.processes.folders import MOST_BELOW
from gemini_companion.tools.shell.programs import words_of

_MOST: Final = 256_000
"""Characters of a file of settings."""
_MOST_MODULES: Final = 100
"""Submodules, whose settings count as well: `git status` looks into them."""
_MOST_OF_INDEX: Final = 64_000_000
_OTHER: Final = (0o160000).to_bytes(4, "big")
"""The mode of a repository within a repository. By chance other bytes of an index may be the same: no harm."""
_PLAIN_FOLDER: Final = re.compile(r'(?=[^"]*$|"[^"]*"$)"?([\w./~ -]*)"?')
_SECTION: Final = re.compile(r"""\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]""")
_KEY: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$")
_HARMLESS: Final = words_of(
    """advice alias am apply branch browser color column commit credential fetch format gc github gitlab gui http https
    i18n index init interactive lfs maintenance merge mergetool notes pack pager pretty protocol pull push rebase
    receive rerere safe sendemail sequence ssh stash status tag transfer url user versionsort worktree"""
)
"""Sections of which nothing runs when `git` looks, or only on a terminal."""
_CORE: Final = words_of(
    """abbrev autocrlf bare bigfilethreshold checkstat commentchar compression deltabasecachelimit eol excludesfile
    filemode fscache fsmonitor fsync hidedotfiles ignorecase ignorestat logallrefupdates longpaths multipackindex
    packedgitlimit packedgitwindowsize pager precomposeunicode preloadindex protecthfs protectntfs quotepath
    repositoryformatversion safecrlf sharedrepository sparsecheckout sparsecheckoutcone splitindex symlinks trustctime
    untrackedcache warnambiguousrefs whitespace"""
)
"""`fsmonitor` and `pager` would run something: commands run with variables that take their place."""
_DIFF: Final = words_of(
    """algorithm autorefreshindex colormoved colormovedws context dirstat ignoresubmodules indentheuristic
    interhunkcontext mnemonicprefix noprefix relative renamelimit renames statgraphwidth suppressblankempty
    wserrorhighlight xfuncname binary funcname tool guitool"""
)
_LARGE_FILES: Final = frozenset(
    ("git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "git-lfs filter-process", "true")
)


def runs(folder: str) -> str:
    """The setting, of the repository that a folder is in, by which `git` may run something; empty if there is none."""
    top = _top(folder)
    return "" if not top else _of_repository(top) or _of_those_within(top)


def _of_repository(top: str) -> str:
    git = _git_folder(top)
    common = _named_in(os.path.join(git, "commondir"), "", git) or git
    for one in dict.fromkeys((git, common)):
        if found := _hook(os.path.join(one, "hooks")):
            return found
    for path in _settings_files(git, common):
        try:
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                text = file.read(_MOST + 1)
        except FileNotFoundError:
            continue
        except OSError:
            return "they cannot be read"
        if len(text) > _MOST:
            return "they are too long to be read"
        if found := _running(text, top):
            return found
    return ""


def _of_those_within(top: str) -> str:
    """The same of the repositories within a repository, which `git` enters where its index has them."""
    if not _has_others(_git_folder(top)):
        return ""
    left = MOST_BELOW
    for path, folders, files in os.walk(top):
        left -= len(folders) + len(files)
        if left < 0:
            return "too many files to see what its submodules have it run"
        if path != top and (".git" in folders or ".git" in files) and (found := _of_repository(path)):
            return found
        folders[:] = [name for name in folders if name != ".git"]
    return ""


def _has_others(git: str) -> bool:
    """Whether the index may have repositories in it: their mode stands there in four bytes."""
    indexes = [os.path.join(git, "index"), *glob.glob(os.path.join(glob.escape(git), "sharedindex.*"))]
    for path in indexes:
        try:
            with open(path, "rb") as file:
                data = file.read(_MOST_OF_INDEX + 1)
        except FileNotFoundError:
            continue
        except OSError:
            return True
        if len(data) > _MOST_OF_INDEX or _OTHER in data:
            return True
    return False


def repository_of(folder: str) -> tuple[str, str] | None:
    """The top folder of the work tree that a folder is in, and the folder with git's own files; `None` if in none."""
    top = _top(folder)
    return (top, _git_folder(top)) if top else None


def _hook(folder: str) -> str:
    """The hook that runs when `git` writes down what it saw, as `git diff` does; empty if there is none."""
    path = os.path.join(folder, "post-index-change")
    return "the hook post-index-change" if os.path.lexists(path) else ""


def _top(folder: str) -> str:
    """The folder of the repository that a folder is in; empty if it is in none."""
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def _git_folder(top: str) -> str:
    """The folder with the settings. A file `.git` names it."""
    path = os.path.join(top, ".git")
    return (_named_in(path, "gitdir:", top) or path) if os.path.isfile(path) else path


def _named_in(path: str, prefix: str, folder: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
    except OSError:
        return ""
    return os.path.join(folder, text.removeprefix(prefix).strip()) if text.startswith(prefix) else ""


def _settings_files(git: str, common: str) -> Iterator[str]:
    for folder in dict.fromkeys((git, common)):
        yield os.path.join(folder, "config")
        yield os.path.join(folder, "config.worktree")
    modules = os.path.join(common, "modules")
    count = 0
    for folder, _, files in os.walk(modules):
        if "config" in files:
            count += 1
            yield os.path.join(folder, "config") if count <= _MOST_MODULES else modules


def _running(text: str, top: str) -> str:
    section = name = ""
    text = text.replace("\r\n", "\n")
    if "\\\n" in text or "\r" in text:  # whether a line goes on in the next depends on what is a comment
        return "a line that is not plain"
    for line in text.split("\n"):
        rest = line
        if head := _SECTION.match(line):
            section, _, dotted = head[1].lower().partition(".")
            name = head[2] or dotted
            rest = line[head.end() :]
        rest = rest.strip()
        if not rest or rest[0] in "#;":
            continue
        key = _KEY.match(rest)
        if key is None:
            return "a line that cannot be read"
        if (section, key[1].lower()) == ("core", "hookspath"):
            named = _PLAIN_FOLDER.fullmatch((key[2] or "").strip())
            if named is None:
                return "core.hooksPath"
            if found := _hook(os.path.join(top, os.path.expanduser(named[1]))):
                return found
            continue
        if not _is_harmless(section, name, key[1].lower(), (key[2] or "").strip()):
            return ".".join(piece for piece in (section, name, key[1]) if piece)
    return ""


def _is_harmless(section: str, name: str, key: str, value: str) -> bool:
    match section:
        case "core":
            return key in _CORE
        case "diff":
            return key in _DIFF
        case "filter":
            return key == "required" or (name == "lfs" and value in _LARGE_FILES)
        case "log":
            return key != "showsignature"
        case "extensions":
            return key in {"objectformat", "refstorage", "worktreeconfig", "noop", "preciousobjects"}
        case "remote":
            return key not in {"promisor", "partialclonefilter"}
        case "submodule":
            return key in {"active", "url", "path", "branch", "ignore", "recurse", "fetchjobs", "shallow", "update"}
        case _:
            return section in _HARMLESS

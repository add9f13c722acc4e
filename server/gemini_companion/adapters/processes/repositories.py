"""Git asked without anything of a repository's own running.

Whoever makes a repository decides its settings, and with them what git runs when it merely looks: filters, converters,
monitors, hooks. What the person's own settings name is theirs to run.

Git itself says where the repository of a folder is and what its settings are: to say either runs nothing, and a second
reader of git's files would read some of them in another way than git does. Only settings that are known to run nothing
are harmless. What looks then has a folder of ours in place of the one with the settings (`GIT_COMMON_DIR`): it holds
the harmless ones as they were listed, and no hooks. So it does not matter what the repository's settings say by then.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gemini_companion.tools.shell.programs import words_of

SECONDS: Final = 2.0
"""Longest wait for one answer of git."""
_MOST: Final = 256_000
"""Bytes of settings."""
_MOST_NAMES: Final = 8_000_000
"""Bytes of names of files."""
_MOST_WITHIN: Final = 100
"""Repositories within a repository, whose settings count as well: `git status` looks into them."""
_MOST_OF_INDEX: Final = 64_000_000
_OTHER: Final = (0o160000).to_bytes(4, "big")
"""The mode of a repository within a repository. By chance other bytes of an index may be the same: no harm."""
SHADOW: Final = "gemini-companion-git-"
"""How the names of folders begin that stand in for a repository's own."""
_QUIET: Final = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")

ANY: Final = frozenset(("*",))
_BOOLEAN: Final = words_of("true false yes no on off 1 0")
_HARMLESS: Final[Mapping[str, frozenset[str]]] = {
    "advice": ANY,
    "alias": ANY,  # no alias takes the place of a command of git's own
    "am": words_of("keepcr threeway"),
    "apply": words_of("ignorewhitespace whitespace"),
    "author": words_of("name email"),
    "blame": words_of("blankboundary coloring date showemail showroot"),
    "branch": ANY,
    "checkout": words_of("defaultremote guess workers thresholdforparallelism"),
    "clean": words_of("requireforce"),
    "clone": words_of("defaultremotename filtersubmodules rejectshallow"),
    "color": ANY,
    "column": ANY,
    "commit": words_of("cleanup gpgsign status template verbose"),
    "committer": words_of("name email"),
    "core": words_of(
        """abbrev autocrlf bare bigfilethreshold checkroundtripencoding checkstat commentchar commentstring
        commitgraph compression deltabasecachelimit eol excludesfile filemode fscache fsync fsyncmethod
        fsyncobjectfiles hidedotfiles ignorecase ignorestat logallrefupdates longpaths maxtreedepth multipackindex
        notesref packedgitlimit packedgitwindowsize pager precomposeunicode preferredsymlinkrefs preloadindex protecthfs
        protectntfs quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout sparsecheckoutcone
        splitindex symlinks trustctime untrackedcache usereplacerefs warnambiguousrefs whitespace"""
    ),
    "credential": words_of("username usehttppath"),
    "diff": words_of(
        """algorithm autorefreshindex colormoved colormovedws context dirstat ignoresubmodules indentheuristic
        interhunkcontext mnemonicprefix noprefix relative renamelimit renames statgraphwidth suppressblankempty
        wserrorhighlight xfuncname binary funcname tool guitool"""
    ),
    "extensions": words_of(
        "compatobjectformat objectformat refstorage worktreeconfig noop preciousobjects relativeworktrees"
    ),
    "feature": words_of("experimental manyfiles"),
    "fetch": words_of(
        """all fsckobjects negotiationalgorithm output parallel prune prunetags recursesubmodules showforcedupdates
        unpacklimit writecommitgraph"""
    ),
    "format": words_of("pretty"),
    "gc": ANY,
    "github": ANY,
    "gitlab": ANY,
    "grep": words_of("column extendedregexp fullname linenumber patterntype threads"),
    "gui": words_of("wmstate geometry encoding spellingdictionary"),
    "http": words_of("postbuffer sslverify version lowspeedlimit lowspeedtime followredirects maxrequests"),
    "i18n": ANY,
    "index": ANY,
    "init": words_of("defaultbranch"),
    "lfs": words_of(
        """access allowincompletepush batch concurrenttransfers fetchexclude fetchinclude locksverify pushurl
        repositoryformatversion skipdownloaderrors url"""
    ),
    "log": words_of("abbrevcommit date decorate diffmerges excludedecoration follow graphcolors mailmap showroot"),
    "maintenance": words_of("auto autodetach strategy repo"),
    "merge": words_of("branchdesc conflictstyle ff log renamelimit renames stat suppressdest verbosity"),
    "notes": words_of("displayref mergestrategy"),
    "pack": ANY,
    "pretty": ANY,
    "pull": words_of("ff octopus rebase twohead"),
    "push": words_of("autosetupremote default followtags gpgsign pushoption recursesubmodules useforceifincludes"),
    "rebase": words_of(
        "abbreviatecommands autosquash autostash forkpoint missingcommitscheck rebasemerges stat updaterefs"
    ),
    "receive": words_of("autogc denycurrentbranch denydeletecurrent denydeletes denynonfastforwards fsckobjects"),
    "remote": words_of(
        "fetch gh-resolved mirror prune prunetags push pushdefault pushurl skipdefaultupdate skipfetchall tagopt url"
    ),
    "rerere": words_of("autoupdate enabled"),
    "safe": ANY,  # git heeds these nowhere but in the person's own settings
    "stash": words_of("showincludeuntracked showpatch showstat"),
    "status": words_of(
        """aheadbehind branch displaycommentprefix relativepaths renamelimit renames short showstash
        showuntrackedfiles submodulesummary"""
    ),
    "submodule": words_of("active branch fetchjobs ignore path propagatebranches recurse shallow update url"),
    "tag": words_of("forcesignannotated gpgsign sort"),
    "transfer": words_of("fsckobjects hiderefs unpacklimit"),
    "url": words_of("insteadof pushinsteadof"),
    "user": words_of("email name signingkey useconfigonly"),
    "versionsort": ANY,
    "worktree": words_of("guessremote userelativepaths"),
}
"""Keys, by their section, by which nothing runs when git looks and of which no helper of git's makes anything run."""
_NOT_TAKEN: Final = frozenset(
    (
        *("core.fsmonitor", "core.hookspath", "core.pager", "core.worktree", "core.bare", "core.untrackedcache"),
        "extensions.worktreeconfig",
    )
)
"""Harmless where they stand, and of no use among settings of ours."""
_UNHEEDED: Final[Mapping[str, frozenset[str]]] = {
    "core": words_of("askpass editor gitproxy sshcommand"),
    "credential": ANY,
    "difftool": ANY,
    "format": ANY,
    "http": ANY,
    "imap": ANY,
    "init": ANY,
    "interactive": ANY,
    "merge": ANY,
    "mergetool": ANY,
    "pager": ANY,  # none is started where the output is no terminal
    "protocol": ANY,
    "pull": ANY,
    "rebase": ANY,
    "remote": words_of("proxy proxyauthmethod receivepack uploadpack"),
    "sendemail": ANY,
    "sequence": ANY,
}
"""What is heeded by no `git` that merely looks: by those that fetch, merge, send, or ask a person something. What is
missing is never fetched, or these would count. Nor does `git-lfs` heed them where it
only cleans, and it is not given them where the whole line looks.
"""
_LARGE_FILES: Final = frozenset(
    ("git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "git-lfs filter-process", "true")
)
_SHARED: Final = ("HEAD", "objects", "refs", "packed-refs", "reftable", "logs", "shallow", "worktrees")
"""What of a repository's folder has data and decides nothing."""
_SHARED_INFO: Final = ("exclude", "attributes", "grafts")


_LISTED: Final = ("config", "--file", "-", "--no-includes", "--list", "-z")
_RUNS_IN_USE: Final[Mapping[str, frozenset[str]]] = {
    "alias": ANY,
    "core": words_of("hookspath pager"),
    "gc": words_of("recentobjectshook repackfilterto"),
}
"""What is harmless only where git looks, as the daemon has it look."""
STRATEGIES: Final = words_of("octopus ort ours recursive resolve subtree")
"""Ways of merging that are git's own."""
_A_NAME: Final = re.compile(r"[\w+-]*")
"""A name of a tool that is no path: git reads the script of one from a folder of its own."""
_OF_USE: Final[Mapping[str, frozenset[str]]] = {
    "extensions": words_of("partialclone"),
    "remote": words_of("partialclonefilter promisor"),
    "submodule": words_of("alternateerrorstrategy alternatelocation"),
}
"""What clones need, and runs nothing by itself."""


_RUN: Final = "the repository has `git` run what its settings say ({})"


class Strange(Exception):
    """Git may run something of a repository's own, or does not say. `reason` is for people, `git` its folder."""

    def __init__(self, reason: str, git: str = "", top: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.git = git
        self.top = top


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with a work tree in which nothing runs when git looks. Absolute paths."""

    top: str
    """Of the work tree."""
    git: str
    """The folder with what is this work tree's own."""
    common: str
    """The folder with what all its work trees share."""
    settings: tuple[tuple[bytes, bytes | None], ...] = ()
    """Its own, those that are of use; a key alone stands for `true`."""


class Repositories:
    """Asks git about repositories. `environment` is what commands get, `find_program` what their shell would start."""

    def __init__(self, environment: Mapping[str, str], find_program: Callable[[str], str | None]) -> None:
        self._environment = {**environment, **_WITHOUT_OTHERS, "LC_ALL": "C"}
        self._find = find_program
        self._persons: dict[str, tuple[list[object], tuple[list[str], list[str]]]] = {}

    def around(self, folder: str) -> Repository | None:
        """The repository that a folder, by its real path, is in; `None` if it is in none.

        Raises `Strange` where git could run something of the repository's own if it merely looked.
        """
        if not _may_be_in_one(folder) or self._find("git") is None:
            return None
        repository = self._plain(folder)
        self._check_those_within(repository, [_MOST_WITHIN])
        return repository

    def aliases(self, folder: str) -> Mapping[str, str] | None:
        """What the person's settings of git and the repository's call commands; `None` if git does not say."""
        listed = self._said(("config", "--list", "--includes", "-z"), folder)
        if listed is None:
            return None
        found: dict[str, str] = {}
        for entry in listed.split(b"\0"):
            key, newline, text = os.fsdecode(entry).partition("\n")
            if newline and key.startswith("alias."):
                found[key.removeprefix("alias.").removesuffix(".command").casefold()] = text
        return found

    def settings_in(self, data: bytes) -> list[tuple[bytes, bytes | None]] | None:
        """The settings in the text of a file, without those of files that it includes; `None` if git reads none."""
        for _ in range(2):  # a busy machine may be too slow once
            listed = self._asked(_LISTED, "/", self._environment, given=data, most=_MOST)
            if listed is not None:
                entries = (entry.partition(b"\n") for entry in listed.split(b"\0") if entry)
                return [(key, value if behind else None) for key, behind, value in entries]
        return None

    def names_in_index(self, git: str) -> bytes | None:
        """The names of files in the index of a repository, by its folder, with a NUL behind each; `None` if git does
        not say.
        """
        until = time.monotonic() + SECONDS
        # Of folders that a sparse index leaves out the name is enough: git checks the names of what is read into them.
        # A git that knows none knows no such option either, and says so at once.
        for options in (("--sparse",), ()):
            words = (f"--git-dir={git}", "--work-tree=/", "ls-files", "-z", *options)
            said = self._said(words, "/", most=_MOST_OF_INDEX)
            if said is not None or time.monotonic() >= until:
                return None if said is None else said.replace(b"/\0", b"\0")
        return None

    def persons(self, folder: str) -> tuple[list[str], list[str]]:
        """Where the person's own settings, for a folder, say that hooks are, and the template of new repositories; and
        the files that these settings are in, those that are not there yet among them.
        """
        known = self._persons.get(folder)
        if known is not None and known[0] == _stamps(known[1][1]):
            return known[1]
        home = self._environment.get("HOME", "")
        outer = self._environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        hooks: list[str] = []
        files = dict.fromkeys(
            ("/etc/gitconfig", os.path.join(home, ".gitconfig"), os.path.join(outer, "git", "config")), None
        )
        listed = self._said(("config", "--list", "--includes", "--show-scope", "--show-origin", "-z"), folder)
        fields = (listed or b"").split(b"\0")
        is_plain = listed is not None
        for scope, origin, entry in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
            if scope not in {b"system", b"global"} or not origin.startswith(b"file:"):
                continue
            file = os.path.join(folder, os.fsdecode(origin.removeprefix(b"file:")))
            files[os.path.realpath(file)] = None
            key, _, value = entry.partition(b"\n")
            path = os.path.expanduser(os.fsdecode(value))
            # What is in a template is copied into new repositories, hooks and settings among it.
            if key in {b"core.hookspath", b"init.templatedir"} and path:
                hooks.append(path)
            elif key == b"include.path" or (key.startswith(b"includeif.") and key.endswith(b".path")):
                files[os.path.normpath(os.path.join(os.path.dirname(file), path))] = None
                is_plain = is_plain and key == b"include.path"  # others depend on more than these files
        said = (hooks, list(files))
        if is_plain:
            self._persons[folder] = (_stamps(said[1]), said)
        return said

    def template(self) -> str:
        """The folder that the person's settings have copied into new repositories; empty if they name none."""
        return os.fsdecode(self._said(("config", "--type=path", "--get", "init.templatedir"), "/") or b"").strip()

    def ignored(self, folder: str, paths: Sequence[str]) -> set[str]:
        """Those of the paths that the repository of a folder ignores; none if git does not say."""
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        said = self._asked(
            ("check-ignore", "-z", "--stdin"), folder, self._environment, given=given, most=_MOST_NAMES, fine=(0, 1)
        )
        return {os.fsdecode(path) for path in (said or b"").split(b"\0") if path}

    def names(
        self, repository: Repository, folder: str, arguments: Sequence[str], *, fine: Sequence[int] = (0,)
    ) -> list[str] | None:
        """What git prints with NULs between, or behind; `None` if it takes too long, or ends with a code that is not
        `fine`.
        """
        said = self._shadowed(repository, folder, arguments, fine=fine)
        return None if said is None else [os.fsdecode(name) for name in said.split(b"\0") if name]

    def shown(self, repository: Repository, folder: str, arguments: Sequence[str]) -> bytes | None:
        """What git shows, whatever it ends with; `None` if that is too much, or takes too long."""
        return self._shadowed(repository, folder, arguments, fine=range(256))

    def names_nothing(self, repository: Repository, folder: str, words: Sequence[str], *, needs_revision: bool) -> bool:
        """Whether git stops at words that name neither a revision nor a file, before it shows anything. With
        `needs_revision` it stops as well where there is none: in a repository without a commit.
        """
        if needs_revision:
            found = self._shadowed(repository, folder, ("rev-parse", "--revs-only", "--default", "HEAD", *words))
            if found == b"":
                return True
        return self._shadowed(repository, folder, ("rev-parse", *words), fine=(128,)) is not None

    def kinds(self, repository: Repository, folder: str, words: Sequence[str]) -> list[str] | None:
        """What kind of object each word names, as `blob` or `commit`; empty where it names none."""
        asked = b"".join(os.fsencode(word) + b"\n" for word in words)
        said = self._shadowed(repository, folder, ("cat-file", "--batch-check=%(objecttype)"), asked)
        lines = [] if said is None else said.decode("ascii", "replace").splitlines()
        if said is None or len(lines) != len(words):
            return None
        return [line if line in {"blob", "tree", "commit", "tag"} else "" for line in lines]

    def _plain(self, folder: str) -> Repository:
        """The repository that git finds for a folder, those within not looked at yet. Raises `Strange`."""
        paths = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "hooks")
        said = self._said(("rev-parse", *paths), folder)
        lines = [] if said is None else said.split(b"\n")
        if len(lines) != 5 and (owned := self._of_another(folder)):
            raise Strange(owned)
        if len(lines) != 5:
            raise Strange("git does not say plainly which repository this is, or cannot read its settings")
        top, git, common, hooks = (os.path.normpath(os.path.join(folder, os.fsdecode(line))) for line in lines[:4])
        listed = self._said(("config", "--list", "--show-scope", "-z"), folder)
        if listed is None:
            raise Strange("the repository's settings cannot be read, or are too long", git, top)
        settings = tuple(_own_settings(listed))
        is_large, has_hooks_elsewhere = b"filter.lfs." in listed.lower(), False
        for key, value in settings:
            why = "" if _is_unheeded(os.fsdecode(key)) else _why_not(key, value)
            if why:
                raise Strange(_RUN.format(why), git, top)
            has_hooks_elsewhere = has_hooks_elsewhere or key == b"core.hookspath"
        if not os.path.lexists(os.path.join(top, ".git")) or not (folder + "/").startswith(top.rstrip("/") + "/"):
            raise Strange("the repository's core.worktree leads elsewhere", git, top)
        if is_large and (why := self._why_not_large(top)):
            raise Strange(_RUN.format(why), git, top)
        # Of hooks, this alone runs when git writes down what it saw, as `git diff` does.
        by_itself = os.path.join(common, "hooks")
        if any(
            os.path.lexists(os.path.join(one, "post-index-change"))
            for one in {by_itself, hooks if has_hooks_elsewhere else by_itself}
        ):
            raise Strange(_RUN.format("the hook post-index-change"), git, top)
        taken = tuple(
            (key, value) for key, value in settings if not _why_not(key, value) and os.fsdecode(key) not in _NOT_TAKEN
        )
        return Repository(top, git, common, taken)

    @staticmethod
    def _of_another(folder: str) -> str:
        """Why git does not look into a repository of another owner, and what the person may do; empty if it is none."""
        top = folder
        while not os.path.lexists(os.path.join(top, ".git")) and top != os.path.dirname(top):
            top = os.path.dirname(top)
        try:
            owners = {os.lstat(path).st_uid for path in (top, os.path.join(top, ".git"))}
        except OSError:
            return ""
        if os.name == "nt" or owners == {os.geteuid()}:
            return ""
        return (
            f"the repository {top} belongs to another user, so git does not look into it; if you trust it, run"
            f" `git config --global --add safe.directory {shlex.quote(top)}` yourself"
        )

    def _why_not_large(self, top: str) -> str:
        """Why not the settings that `git-lfs` reads from a work tree are harmless; empty if they are."""
        path = os.path.join(top, ".lfsconfig")
        if not os.path.lexists(path):
            return ""
        said = self._said(("config", "--file", path, "--no-includes", "--list", "-z"), top)
        if said is None:
            return ".lfsconfig cannot be read"
        keys = [os.fsdecode(entry.partition(b"\n")[0]) for entry in said.split(b"\0") if entry]
        strange = (key for key in keys if not (key.startswith("lfs.") and _is_listed(key)))
        return next((f"{key} in .lfsconfig" for key in strange if not key.endswith(".lfsurl")), "")

    def _check_those_within(self, repository: Repository, left: list[int]) -> None:
        """Raise `Strange` where something may run in a repository that the index has a place for."""
        if not _has_others(repository.git):
            return
        listed = self._said(("ls-files", "--stage", "-z"), repository.top, most=_MOST_OF_INDEX)
        if listed is None:
            raise Strange("too many files to see what its submodules have it run", repository.git, repository.top)
        for entry in listed.split(b"\0"):
            about, _, name = entry.partition(b"\t")
            folder = os.path.join(repository.top, os.fsdecode(name))
            if not about.startswith(b"160000 ") or not os.path.lexists(os.path.join(folder, ".git")):
                continue
            left[0] -= 1
            if left[0] < 0:
                raise Strange("too many submodules to see what they have it run", repository.git, repository.top)
            try:
                within = self._plain(os.path.realpath(folder))
                if within.git != repository.git:
                    self._check_those_within(within, left)
            except Strange as strange:
                raise Strange(strange.reason, repository.git, repository.top) from strange

    def _said(self, arguments: Sequence[str], folder: str, *, most: int = _MOST) -> bytes | None:
        return self._asked(arguments, folder, self._environment, most=most)

    def _shadowed(
        self,
        repository: Repository,
        folder: str,
        arguments: Sequence[str],
        given: bytes = b"",
        *,
        fine: Sequence[int] = (0,),
    ) -> bytes | None:
        """What git says that has settings of ours in place of the repository's."""
        import tempfile

        with suppress(OSError), tempfile.TemporaryDirectory(prefix=SHADOW, ignore_cleanup_errors=True) as shadow:
            environment = {**self._environment, **shadow_of(repository, shadow)}
            return self._asked(arguments, folder, environment, given=given, most=_MOST_NAMES, fine=fine)
        return None

    def _asked(
        self,
        arguments: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        *,
        most: int,
        given: bytes = b"",
        fine: Sequence[int] = (0,),
    ) -> bytes | None:
        """The output of git; `None` if it ends with another code, takes too long, or says more than `most`."""
        program = self._find("git")
        if program is None:
            return None
        try:
            process = subprocess.Popen(
                [program, *_QUIET, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return None
        timer = threading.Timer(SECONDS, _end, (process,))
        timer.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(OSError):
                process.stdin.write(given)
                process.stdin.close()
            said = process.stdout.read(most + 1)
            if len(said) > most:
                return None
            return said if process.wait() in fine else None
        finally:
            _end(process)
            timer.cancel()
            with process.stdout:
                process.wait()


_WITHOUT_OTHERS: Final = {
    "GIT_ALLOW_PROTOCOL": "none",  # what is missing would be fetched, by programs that the repository names
    "GIT_NO_LAZY_FETCH": "1",
}


def shadow_of(repository: Repository, folder: str) -> dict[str, str]:
    """Fill a folder with what git is to read in place of a repository's own settings and hooks: the variables for it.

    They are for programs that look and for nothing else: git that is started in another repository would look there.
    """
    own = {"GIT_DIR": repository.git, "GIT_WORK_TREE": repository.top, **_WITHOUT_OTHERS}
    if os.name == "nt":  # links need a right there that few have: what was judged is what there is
        return own
    os.makedirs(os.path.join(folder, "info"), exist_ok=True)
    for name in _SHARED:
        if os.path.lexists(path := os.path.join(repository.common, name)):
            os.symlink(path, os.path.join(folder, name))
    for name in _SHARED_INFO:
        if os.path.lexists(path := os.path.join(repository.common, "info", name)):
            os.symlink(path, os.path.join(folder, "info", name))
    with open(os.path.join(folder, "config"), "wb") as file:
        file.writelines(_written(key, value) for key, value in repository.settings)
        file.write(b"[core]\n\tbare = false\n\tfsmonitor = false\n[diff]\n\tignoreSubmodules = dirty\n")
    return {**own, "GIT_COMMON_DIR": folder}


def _written(key: bytes, value: bytes | None) -> bytes:
    section, _, rest = key.partition(b".")
    name, _, last = rest.rpartition(b".")
    inner = b' "' + name.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"' if name else b""
    if value is None:
        return b"[%s%s]\n\t%s\n" % (section, inner, last)
    quoted = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\t", b"\\t")
    return b'[%s%s]\n\t%s = "%s"\n' % (section, inner, last, quoted)


def _own_settings(listed: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Those that come with the repository, of a list with their scopes."""
    fields = listed.split(b"\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        if scope in {b"system", b"global", b"command"}:
            continue
        key, behind, value = entry.partition(b"\n")
        yield key, value if behind else None


def _stamps(files: Sequence[str]) -> list[object]:
    found: list[object] = []
    for file in files:
        try:
            status = os.stat(file)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns))
    return found


def may_run(key: bytes, value: bytes | None) -> bool:
    """Whether a person's own git, that does not only look, could run something by a setting of a repository."""
    section, _, rest = os.fsdecode(key).partition(".")
    name = rest.rpartition(".")[2]
    if name in _OF_USE.get(section, ()):
        return False
    heeded = _RUNS_IN_USE.get(section, frozenset[str]())
    return heeded is ANY or name in heeded or bool(_why_not(key, value))


def written(settings: Sequence[tuple[bytes, bytes | None]]) -> bytes:
    """A file with these settings."""
    return b"".join(_written(key, value) for key, value in settings)


def _why_not(key: bytes, value: bytes | None) -> str:
    """The key, if something may run by it; empty if nothing does."""
    name = os.fsdecode(key)
    section, _, rest = name.partition(".")
    text = "" if value is None else os.fsdecode(value)
    match section, rest.rpartition(".")[0], rest.rpartition(".")[2]:
        case "core", "", "fsmonitor" if text.lower() in _BOOLEAN | {""}:
            return ""
        case "core", "", "hookspath" | "worktree":
            return ""  # it is looked at where it leads
        case "filter", _, "required":
            return ""
        case "merge", _, "driver" if text == "true":  # as people have it keep a file as it is
            return ""
        case "pull", "", "twohead" | "octopus" if not STRATEGIES.issuperset(text.split(" ")):
            return _shown(name)  # a rebase runs `git-merge-NAME`, also of a folder below
        case "diff", "", "tool" | "guitool" if not _A_NAME.fullmatch(text):
            return _shown(name)
        case "extensions", "", "refstorage" if text.lower() not in {"files", "reftable"}:
            return _shown(name)  # branches are written where it says
        case "submodule", _, "update" if text.startswith("!"):
            return _shown(name)
        case "filter", "lfs", "clean" | "smudge" | "process" if text in _LARGE_FILES:
            return ""
        case _:
            return "" if _is_listed(name) else _shown(name)


def _is_unheeded(key: str) -> bool:
    section, _, rest = key.partition(".")
    name = rest.rpartition(".")[2]
    known = _UNHEEDED.get(section, frozenset[str]())
    # To show a merge once more, git may merge once more, with drivers.
    return (known is ANY or name in known) and (section, name) != ("merge", "driver")


def _is_listed(key: str) -> bool:
    section, _, rest = key.partition(".")
    within, _, name = rest.rpartition(".")
    known = _HARMLESS.get(section, frozenset[str]())
    if section in {"core", "extensions"} and within:
        return False
    return known is ANY or name in known


def _shown(key: str) -> str:
    return key if key.isprintable() and len(key) < 200 else "a setting with an odd name"


def _may_be_in_one(folder: str) -> bool:
    """Whether git could find a repository there, that it has not been told of: a `.git`, or a folder that is one."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        if all(os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


def _has_others(git: str) -> bool:
    """Whether the index may have repositories in it: their mode stands there in four bytes."""
    indexes = [os.path.join(git, "index"), *glob.glob(os.path.join(glob.escape(git), "sharedindex.*"))]
    for path in indexes:
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            with open(descriptor, "rb") as file:
                is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)  # a pipe has no end
                data = file.read(_MOST_OF_INDEX + 1) if is_file else _OTHER
        except FileNotFoundError:
            continue
        except OSError:
            return True
        if len(data) > _MOST_OF_INDEX or _OTHER in data:
            return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(OSError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)

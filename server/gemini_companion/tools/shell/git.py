"""Git's subcommands that only look, and the options with which that is so.

Git takes any unambiguous beginning of a long option, so options are compared as a whole and others are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gemini_companion.tools.shell.programs import Reader, words_of

LOG_OPTIONS: Final = words_of(
    "abbrev abbrev-commit all author after before branches cached cc color date decorate diff-filter exit-code "
    "first-parent follow format full-index function-context graph grep histogram ignore-all-space "
    "ignore-blank-lines ignore-space-change inter-hunk-context left-right max-count merge-base merges minimal "
    "name-only name-status no-abbrev-commit no-color no-decorate no-ext-diff no-merges no-patch no-renames "
    "no-textconv numstat oneline patch patch-with-stat patience pickaxe-regex pretty raw relative remotes reverse "
    "shortstat simplify-by-decoration since skip staged stat summary tags topo-order unified until word-diff"
)
_COMMANDS: Final[Mapping[str, Reader]] = {
    "blame": Reader("cefnpstw", "L", words_of("date porcelain show-email root"), shows="lines"),
    "branch": Reader(
        "aqrv",
        long=words_of("all remotes verbose show-current list contains merged no-merged color no-color"),
        operands="none",
        shows="lines",
    ),
    "describe": Reader(
        long=words_of("all always tags long dirty abbrev exact-match match"), operands="words", shows="nothing"
    ),
    "diff": Reader("abBpRsuwzM", "GS", LOG_OPTIONS, attached="U", shows="lines", forms=words_of("word-diff color")),
    "grep": Reader(
        "EFGPWchIilLnqvwz",
        "ABCem",
        words_of(
            "after-context basic-regexp before-context break cached column context count extended-regexp "
            "files-with-matches files-without-match fixed-strings full-name function-context heading ignore-case "
            "invert-match line-number max-count name-only no-color only-matching perl-regexp quiet show-function "
            "word-regexp and or not"
        ),
        operands="pattern",
        numbers=True,
        enters=words_of("*"),
        separate=words_of("after-context before-context context max-count"),
        shows="lines",
        forms=words_of("only-matching"),
        silent=words_of("c q l L count quiet name-only files-with-matches files-without-match"),
    ),
    "log": Reader(
        "aBbcgimpsuwzM",
        "GLSn",
        LOG_OPTIONS,
        files="L",
        numbers=True,
        attached="U",
        shows="lines",
        forms=words_of("word-diff color"),
    ),
    "merge-base": Reader("a", long=words_of("all is-ancestor fork-point octopus"), shows="nothing"),
    "ls-tree": Reader("dlrtz", long=words_of("abbrev full-name full-tree long name-only object-only"), shows="nothing"),
    "ls-files": Reader(
        "cdkmostuz", "x", words_of("cached deleted modified others stage exclude-standard full-name"), shows="nothing"
    ),
    "remote": Reader("v", long=words_of("verbose"), operands="none", shows="lines"),
    "rev-list": Reader(
        long=words_of("all count max-count merges no-merges since until author"), numbers=True, shows="nothing"
    ),
    "rev-parse": Reader(
        "q",
        long=words_of(
            "abbrev-ref git-dir is-inside-work-tree short show-prefix show-toplevel symbolic-full-name verify"
        ),
        shows="nothing",
    ),
    "shortlog": Reader("ens", long=words_of("summary numbered email all no-merges since until"), shows="lines"),
    "show": Reader(
        "abcmpsuwzM", "GS", LOG_OPTIONS, numbers=True, attached="U", shows="lines", forms=words_of("word-diff color")
    ),
    "status": Reader(
        "bsuz",
        long=words_of("ahead-behind branch column ignored long no-renames porcelain short show-stash untracked-files"),
        shows="nothing",
    ),
    "tag": Reader(
        "l", long=words_of("list contains merged no-merged sort"), operands="none", attached="n", shows="lines"
    ),
}
_GLOBAL: Final = frozenset(("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"))


_PRINT_FILES: Final = frozenset(("diff", "grep", "log", "show"))
"""Subcommands that print what is in files which no word names. `blame` names its file."""
_PATCH: Final = words_of("p u U c W L patch unified cc patch-with-stat word-diff function-context")
"""Options with which a patch is printed, whatever others say."""
_NO_PATCH: Final = words_of("s name-only name-status no-patch numstat raw shortstat stat summary")
_SELECTING: Final = words_of(
    "all after author before branches cached cc date diff-filter first-parent follow grep left-right max-count "
    "merge-base merges no-merges pickaxe-regex remotes reverse simplify-by-decoration since skip staged tags "
    "topo-order until S G n m c g i"
)
"""Options that say of what something is shown. The others of those that are known say how."""
TAKES_NEXT: Final = words_of(
    "after author before date diff-filter grep inter-hunk-context max-count since skip until S G n L"
)
"""Options that take the next word for their value, whatever it is."""
_REVISIONS: Final = words_of("all branches glob remotes tags g")
"""Options by which revisions are shown that no word names."""
_BY_CONTENT: Final = words_of("S G diff-filter")
"""Options by which of what is changed not everything is shown."""
_RENAMING: Final = words_of("B M no-renames")
_HARMLESS_LOG: Final = words_of("textconv no-textconv no-ext-diff")


@dataclass(frozen=True, slots=True)
class Prints:
    """What is asked of git to know which files a line prints the content of."""

    names: tuple[str, ...] | None
    """Arguments by which it says all their names, with NULs between; empty if there are none, `None`: not known."""
    objects: tuple[str, ...] = ()
    """Words that may name a file's content by itself."""
    operands: tuple[str, ...] = ()
    subcommand: str = ""
    behind: tuple[str, ...] = ()
    """A `--`, and the words behind it."""
    needs_revision: bool = False
    """Whether it shows nothing where there is neither a revision among its words nor `HEAD`."""


def prints(argv: Sequence[str]) -> Prints | None:
    """How to find out what a line that only looks prints of files; `None` if it prints nothing of any but by name."""
    at = next((at for at in range(1, len(argv)) if argv[at] not in _GLOBAL), len(argv))
    if at >= len(argv) or argv[at] not in _PRINT_FILES:
        return None
    before, subcommand = tuple(argv[1:at]), argv[at]
    if subcommand == "grep":
        return _of_grep(before, argv[at + 1 :])
    kept: list[str] = []
    operands: list[str] = []
    behind: list[str] = []
    given: set[str] = set()
    renaming: list[str] = []
    is_known = True
    words = list(argv[at + 1 :])
    while words:
        word = words.pop(0)
        if word == "--":
            behind = ["--", *words]
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            kept.append(word)
            continue
        name = word[2:].partition("=")[0] if word.startswith("--") else word[1:2]
        if word[1:].isdigit():
            kept.append(word)
            continue
        given.add(name)
        if word.startswith("--"):
            is_known = is_known and name in LOG_OPTIONS
            takes_next = name in TAKES_NEXT and "=" not in word
        else:
            is_known = is_known and (len(word) == 2 or name in "SGnLU")
            takes_next = name in TAKES_NEXT and len(word) == 2
        value = [words.pop(0)] if takes_next and words else []
        if name in _SELECTING:
            kept += [word, *value]
        if name in _RENAMING:
            renaming.append(word)
    if (
        subcommand == "log"
        and given.isdisjoint(_PATCH)
        and (is_known or given - LOG_OPTIONS - _SELECTING <= _HARMLESS_LOG)
    ):
        return None
    objects = tuple(operands) if subcommand in ("diff", "show") else ()
    if given.isdisjoint(_PATCH) and not given.isdisjoint(_NO_PATCH):
        return Prints((), objects if subcommand == "show" else (), tuple(operands), subcommand)
    # `show` is asked as `log`, which prints nothing of tags, and of merges as much as `show` does with this.
    by_parent = given & {"first-parent", "m"}
    merges = "-m" if by_parent else "--cc"
    asked = ("log", "--no-walk", merges) if subcommand == "show" else (subcommand,)
    how = ["--name-only", "--no-renames"]
    if given & _BY_CONTENT:
        # A change is chosen together with its other name, which is shown too.
        how = ["--name-status", *renaming]
        combines = (subcommand == "show" and not by_parent) or given & {"c", "cc"}
        how += ["--combined-all-paths"] if combines else []
    shown = () if subcommand == "diff" else ("--format=",)
    # Behind a file's name git takes no option.
    names = (*before, *asked, *how, "-z", *shown, "--no-ext-diff", "--no-textconv", *kept)
    needs_revision = subcommand != "diff" and given.isdisjoint(_REVISIONS)
    asks = (*names, *behind) if is_known else None
    return Prints(asks, objects, tuple(operands), subcommand, tuple(behind), needs_revision)


def _of_grep(before: Sequence[str], words: Sequence[str]) -> Prints:
    reader = _COMMANDS["grep"]
    has_pattern = is_cached = False
    operands: list[str] = []
    behind: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            behind = ["--", *words[at:]]
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            is_cached = is_cached or word == "--cached"
            at += word[2:] in reader.separate
        elif not word[1:].isdigit():
            valued = next((place for place, flag in enumerate(word[1:], 1) if flag in reader.valued), 0)
            has_pattern = has_pattern or (valued > 0 and word[valued] == "e")
            at += valued == len(word) - 1
    asked = ("grep", "--files-with-matches", "--full-name", "--no-color", "-z", "-e", "", *(("--cached",) * is_cached))
    places = operands if has_pattern else operands[1:]
    return Prints((*before, *asked, *places, *behind), (), tuple(places), "grep", tuple(behind))


def looking(argv: Sequence[str]) -> tuple[Reader, Sequence[str]] | None:
    """What is known of a `git` line that only looks, and the words after its subcommand; `None` if it does more."""
    at = 1
    while at < len(argv) and argv[at] in _GLOBAL:
        at += 1
    if at >= len(argv) or (reader := _COMMANDS.get(argv[at])) is None:
        return None
    return reader, argv[at + 1 :]

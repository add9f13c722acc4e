"""Git's subcommands that only look, and the options with which that is so.

Git takes any unambiguous beginning of a long option, so options are compared as a whole and others are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gemini_companion.tools.shell.programs import Reader, words_of

_LOG: Final = words_of(
    "abbrev abbrev-commit all author after before branches cached cc color date decorate diff-filter exit-code "
    "first-parent follow format full-index function-context graph grep histogram ignore-all-space "
    "ignore-blank-lines ignore-space-change inter-hunk-context left-right max-count merge-base merges minimal "
    "name-only name-status no-abbrev-commit no-color no-decorate no-ext-diff no-merges no-patch no-renames "
    "no-textconv numstat oneline patch patch-with-stat patience pickaxe-regex pretty raw relative remotes reverse "
    "shortstat simplify-by-decoration since skip staged stat summary tags topo-order unified until word-diff"
)
_COMMANDS: Final[Mapping[str, Reader]] = {
    "blame": Reader("cefnpstw", "L", words_of("date porcelain show-email root")),
    "branch": Reader(
        "aqrv",
        long=words_of("all remotes verbose show-current list contains merged no-merged color no-color"),
        operands="none",
    ),
    "describe": Reader(long=words_of("all always tags long dirty abbrev exact-match match"), operands="words"),
    "diff": Reader("abBpRsuwzM", "GS", _LOG, attached="U"),
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
    ),
    "log": Reader("aBbcgimpsuwzM", "GLSn", _LOG, files="L", numbers=True, attached="U"),
    "merge-base": Reader("a", long=words_of("all is-ancestor fork-point octopus")),
    "ls-tree": Reader("dlrtz", long=words_of("abbrev full-name full-tree long name-only object-only")),
    "ls-files": Reader("cdkmostuz", "x", words_of("cached deleted modified others stage exclude-standard full-name")),
    "remote": Reader("v", long=words_of("verbose"), operands="none"),
    "rev-list": Reader(long=words_of("all count max-count merges no-merges since until author"), numbers=True),
    "rev-parse": Reader(
        "q",
        long=words_of(
            "abbrev-ref git-dir is-inside-work-tree short show-prefix show-toplevel symbolic-full-name verify"
        ),
    ),
    "shortlog": Reader("ens", long=words_of("summary numbered email all no-merges since until")),
    "show": Reader("abcmpsuwzM", "GS", _LOG, numbers=True, attached="U"),
    "status": Reader(
        "bsuz",
        long=words_of("ahead-behind branch column ignored long no-renames porcelain short show-stash untracked-files"),
    ),
    "tag": Reader("l", long=words_of("list contains merged no-merged sort"), operands="none", attached="n"),
}
_GLOBAL: Final = frozenset(("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"))


def looking(argv: Sequence[str]) -> tuple[Reader, Sequence[str]] | None:
    """What is known of a `git` line that only looks, and the words after its subcommand; `None` if it does more."""
    at = 1
    while at < len(argv) and argv[at] in _GLOBAL:
        at += 1
    if at >= len(argv) or (reader := _COMMANDS.get(argv[at])) is None:
        return None
    return reader, argv[at + 1 :]

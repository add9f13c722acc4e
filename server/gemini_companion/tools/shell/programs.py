"""What is known of programs: which only look, and with which options; which run others; which the shell has built in.

A program is in `READERS` only if, with the options named there, it writes nothing, runs nothing and asks no network.
`is_default` are those whose output is no more than what `read_file` and `list_directory` may show: they run unasked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Shows: TypeAlias = Literal["whole", "lines", "forms", "nothing"]
"""What a program shows of what is in files, or of what it is given: all of it as it is; some or all of its lines, maybe
with something before or behind each; it in another form, or parts of lines; numbers and names alone.
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that only looks, and the options with which that is so."""

    flags: str = ""
    """Short options without a value."""
    valued: str = ""
    """Short options with a value."""
    long: frozenset[str] = frozenset()
    """Long options, without the dashes; a value may follow an `=`."""
    files: str = ""
    """Of `valued`, those whose value is a file."""
    operands: Literal["files", "words", "pattern", "none"] = "files"
    """`pattern`: the first one is no file, unless `-e` gave it."""
    most: int | None = None
    """As many operands as only look; another would be written."""
    numbers: bool = False
    """`-5` is an option."""
    is_default: bool = True
    attached: str = ""
    """Short options whose value can only be attached: what follows as a word of its own is an operand."""
    enters: frozenset[str] = frozenset()
    """Options with which it reads all that is below a folder; with `*` among them it always does."""
    separate: frozenset[str] = frozenset(("regexp", "max-depth", "max-count"))
    """Of `long`, those whose value is the next word where no `=` follows."""
    shows: Shows = "forms"
    forms: frozenset[str] = frozenset()
    """Options with which it shows what it reads in another form, though it shows lines without them."""
    silent: frozenset[str] = frozenset()
    """Options with which it shows nothing of it."""


def words_of(names: str) -> frozenset[str]:
    """A set of words, written with blanks between."""
    return frozenset(names.split())


_SUMS: Final = Reader("btz", long=words_of("binary text tag zero"), shows="nothing")

READERS: Final[Mapping[str, Reader]] = {
    "basename": Reader("az", "s", words_of("multiple suffix zero"), operands="words", shows="nothing"),
    "cat": Reader(
        "AbeEnstTuv",
        long=words_of("number show-all number-nonblank show-ends show-tabs show-nonprinting squeeze-blank"),
        shows="whole",
        forms=words_of("A e t T v show-all show-ends show-tabs show-nonprinting E"),
    ),
    "cmp": Reader(
        "bls",
        "n",
        words_of("print-bytes verbose silent quiet"),
        most=2,
        shows="nothing",
        forms=words_of("b l print-bytes verbose"),
    ),
    "comm": Reader("123z", long=words_of("check-order nocheck-order total zero-terminated"), shows="lines"),
    "cut": Reader(
        "nsz", "bcdf", words_of("bytes characters delimiter fields complement only-delimited output-delimiter")
    ),
    "diff": Reader(
        "abBcdeEinpqstuwyZ",
        "CUW",
        words_of(
            "brief unified context side-by-side ignore-all-space ignore-space-change ignore-blank-lines color width"
        ),
        most=2,
        shows="lines",
        forms=words_of("y W side-by-side width color"),
        silent=words_of("q brief"),
    ),
    "dirname": Reader("z", long=words_of("zero"), operands="words", shows="nothing"),
    "du": Reader(
        "abchHkmsSx0",
        "d",
        words_of("all human-readable summarize max-depth total apparent-size bytes one-file-system"),
        shows="nothing",
    ),
    "echo": Reader(operands="words", shows="nothing"),
    "expr": Reader(operands="words", shows="nothing"),
    "false": Reader(operands="words", shows="nothing"),
    "file": Reader("bhikLNr", long=words_of("brief mime mime-type mime-encoding"), shows="nothing"),
    "grep": Reader(
        "EFGPabcHhiIlLnoqrRsTvVwxyzZ",
        "efABCm",
        words_of(
            "recursive dereference-recursive include exclude exclude-dir line-buffered initial-tab null byte-offset "
            "extended-regexp fixed-strings perl-regexp ignore-case invert-match word-regexp line-regexp count "
            "files-with-matches files-without-match line-number only-matching quiet no-messages max-count "
            "with-filename no-filename after-context before-context context color colour text regexp"
        ),
        files="f",
        operands="pattern",
        numbers=True,
        enters=words_of("r R recursive dereference-recursive"),
        separate=words_of("regexp max-count after-context before-context context include exclude exclude-dir"),
        shows="lines",
        forms=words_of("o only-matching color colour"),
        silent=words_of("c q l L count quiet files-with-matches files-without-match"),
    ),
    "head": Reader(
        "qvz",
        "cn",
        words_of("lines bytes quiet silent verbose"),
        numbers=True,
        shows="lines",
        forms=words_of("c bytes"),
    ),
    "ls": Reader(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxX1",
        "ITw",
        words_of(
            "all almost-all author classify color directory file-type full-time group-directories-first "
            "human-readable inode no-group numeric-uid-gid recursive reverse si size sort time time-style width"
        ),
        shows="nothing",
    ),
    "md5sum": _SUMS,
    "nl": Reader("p", "bdfhilnsvw", shows="lines"),
    "printf": Reader(operands="words", shows="nothing"),
    "pwd": Reader("LP", operands="none", shows="nothing"),
    "readlink": Reader(
        "efmnqsvz", long=words_of("canonicalize canonicalize-existing canonicalize-missing no-newline"), shows="nothing"
    ),
    "realpath": Reader(
        "ELPesmqz", long=words_of("canonicalize-existing canonicalize-missing no-symlinks"), shows="nothing"
    ),
    "sed": Reader("nErsuz", "e", words_of("quiet silent regexp-extended"), operands="pattern"),
    "seq": Reader("w", "fs", words_of("equal-width separator format"), operands="words", shows="nothing"),
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "sort": Reader(
        "bcCdfgihMnRrsuVz",
        "kt",
        words_of(
            "check dictionary-order field-separator general-numeric-sort human-numeric-sort ignore-case key "
            "ignore-leading-blanks month-sort numeric-sort reverse stable unique version-sort zero-terminated"
        ),
        shows="lines",
        silent=words_of("c C check"),
    ),
    "stat": Reader("Lft", "c", words_of("dereference file-system format printf terse"), shows="nothing"),
    "tac": Reader("b", "s", shows="lines", forms=words_of("s b")),
    "tail": Reader(
        "qvz",
        "cn",
        words_of("lines bytes quiet silent verbose"),
        numbers=True,
        shows="lines",
        forms=words_of("c bytes"),
    ),
    "test": Reader(shows="nothing"),
    "tr": Reader("cCdst", long=words_of("complement delete squeeze-repeats truncate-set1"), operands="words"),
    "true": Reader(operands="words", shows="nothing"),
    ":": Reader(operands="words", shows="nothing"),
    "uname": Reader("amnoprsv", operands="none", shows="nothing"),
    "uniq": Reader(
        "cdDiuz", "fsw", words_of("count repeated unique ignore-case skip-fields skip-chars"), most=1, shows="lines"
    ),
    "wc": Reader("clLmw", long=words_of("bytes chars lines words max-line-length"), shows="nothing"),
    "which": Reader("a", operands="words", shows="nothing"),
    "rg": Reader(
        "acFHIilnNopPqsSUvwx",
        "eABCgmMtTdr",
        words_of(
            "case-sensitive column context count files files-with-matches fixed-strings glob heading ignore-case "
            "line-number max-count multiline no-heading no-line-number only-matching pcre2 quiet regexp smart-case "
            "stats trim type type-list type-not word-regexp max-depth color colors json iglob invert-match replace "
            "with-filename no-filename after-context before-context byte-offset vimgrep pretty sort sortr passthru "
            "line-regexp text max-columns no-messages no-config crlf null"
        ),
        operands="pattern",
        enters=words_of("*"),
        separate=words_of(
            "regexp max-depth max-count max-columns glob iglob type type-not after-context before-context context sort "
            "sortr replace color colors"
        ),
        shows="lines",
        forms=words_of("o only-matching r replace json p pretty color colors"),
        silent=words_of("c q l count quiet files files-with-matches type-list"),
    ),
    "column": Reader("tx", "cs", words_of("table separator")),
    "fold": Reader("bs", "w", words_of("bytes spaces width")),
    "hexdump": Reader("bcCdoxv", "ns"),
    "nproc": Reader(long=words_of("all"), operands="none", shows="nothing"),
    "od": Reader("abcdfiloxv", "AjNt", words_of("address-radix format read-bytes skip-bytes")),
    "paste": Reader("sz", "d", words_of("delimiters serial zero-terminated")),
    "rev": Reader(),
    "tree": Reader(
        "aAdDfFghiCnNpqQrsStuUvx",
        "LIP",
        words_of("dirsfirst filesfirst noreport charset du si prune gitignore"),
        shows="nothing",
    ),
    "whoami": Reader(operands="none", shows="nothing"),
}
"""`tree` never gets `-R`, which writes files, nor `-l`, which follows links, nor `-o`."""

TELL_VERSION: Final = words_of("bash gcc git grep make node perl python python3 rg ruby sed")
"""Programs that do nothing else with `--version` alone, and read no settings before they answer."""

FIND_TESTS: Final = words_of(
    "-name -iname -type -maxdepth -mindepth -path -ipath -wholename -regex -iregex -size -mtime -mmin -ctime "
    "-atime -newer -newermt -newerct -newerat -perm -user -group -samefile -links -inum -regextype -printf -amin -cmin"
)
"""What takes a value in a `find` that only looks."""

FIND_WORDS: Final = words_of(
    "-not ! -o -or -a -and -print -print0 -empty -prune -true -false -depth -xdev -mount -daystart -readable "
    "-writable -executable -ls ( ) ,"
)
"""What takes none."""

BUILT_IN: Final = words_of("cd echo false printf pwd test true :")
"""Built into bash, and harmless where their words are."""

EVALUATING: Final = words_of(
    ". alias bg bind break builtin caller compgen complete compopt continue coproc declare dirs disown enable "
    "eval exec exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read "
    "readarray readonly return set shift shopt source suspend times trap type typeset umask unalias unset wait "
    "[ [[ (("
)
"""Built into bash, and able to run what is in their words or to change what later words mean."""

WRAPPERS: Final[Mapping[str, tuple[str, str, int]]] = {
    # Options without a value, options with one, and how many operands stand before the command.
    "command": ("", "", 0),
    "env": ("", "", 0),
    "nice": ("", "n", 0),
    "nohup": ("", "", 0),
    "time": ("p", "", 0),
    "timeout": ("", "ks", 1),
}
"""What only runs the command that follows."""

SHELLS: Final = words_of("ash bash busybox cmd csh dash elvish fish ksh mksh nu powershell pwsh sh tcsh zsh")

RUNNERS: Final = words_of(
    "at batch bwrap chroot command crontab doas docker entr env expect fakeroot find firejail flock ionice "
    "kubectl launchctl nice nohup nsenter osascript parallel pkexec podman rsh runuser schtasks screen script "
    "setpriv setsid ssh ssh-agent start-stop-daemon stdbuf strace su sudo systemd-run taskset time timeout "
    "tmux unbuffer unshare valgrind watch wsl xargs xvfb-run"
)
"""What runs what its words say, beyond those that are unwrapped."""

STARTERS: Final = words_of(
    "asdf aws-vault bundle bunx chronic conda corepack cross-env direnv doppler dotenv dumb-init gosu hatch hyperfine "
    "mamba mise nodemon npx op pdm pipenv pipx pnpx poetry proxychains rlwrap rye tini toybox tsocks uv uvx"
)
"""What runs the command that its words name, among other things."""

INTERPRETERS: Final = words_of(
    "awk bun deno elixir erl gawk gdb ghci groovy irb java jjs julia kotlin lua luajit m4 mawk nawk node "
    "nodejs osascript perl php pypy pypy3 python python2 python3 r racket rscript ruby scala swift tclsh wish"
)

OBEYING: Final = words_of(
    "ansible ansible-playbook clickhouse-client dc duckdb ed emacs emacsclient ex ftp fzf gdb gdbserver ghci gnuplot "
    "gp gs gvim gview info irssi isql latex less lftp lldb lualatex luatex mail mailx mariadb maxima mongo "
    "mongosh more most mutt mysql nano ncftp nvim octave packer pdflatex pdftex pg pico psql pulumi rails rvim rview "
    "sage sqlcmd sqlite sqlite3 sqlplus telnet terraform terragrunt tex tofu usql vagrant vi view vim vimdiff xelatex"
)
"""What runs what its words or its input say, by a language of its own: of these a rule allows no word that it does not
name, and nothing that is put into them.
"""

MAKERS: Final = words_of(
    "ant bazel bmake gmake gradle gradlew invoke just lein make mix mvn mvnw ninja rake remake sbt scons task"
)
"""What does what the workspace has under the names that its words are; with variables it does that with others."""

NEVER_BARE: Final = frozenset(("git", "rm", "find", "xargs", "env", "sudo", "ssh", "dd", "kill", "pkill", "killall"))
"""One word is too wide a rule for these."""

INLINE: Final = words_of("-c -e -E -p -r -m -i --eval --print --exec --command -pe -ne -ie --interactive -")
"""Options of interpreters that take code, or a module's name, in place of a file."""

COPIERS: Final = words_of("cp cpio dd gzip gunzip install ln mv patch rsync scp split tar unzip xz zip zstd")
"""What writes what it read: of the files that its words name it may do either."""

WRITERS: Final = COPIERS | words_of("chgrp chmod chown mkdir mkfifo rm rmdir shred tee touch truncate unlink")
"""What writes, or deletes, whatever files its words name."""

INTO_LAST: Final = words_of("cp install ln mv rsync scp")
"""Of them, those whose last word is where the others go: what is in it already they leave alone."""

UNPACKERS: Final = words_of("cpio patch tar unzip")
"""What writes files that no word names, below the folder that it runs in."""

RUNS_FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "bundle": ("Gemfile", "Rakefile"),
    "bun": ("package.json", "bunfig.toml"),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config", "rust-toolchain.toml"),
    "cmake": ("CMakeLists.txt", "CMakePresets.json"),
    "composer": ("composer.json",),
    "docker-compose": ("docker-compose.yml", "compose.yaml", "Dockerfile"),
    "git": (".git", ".git/config", ".git/hooks", ".gitattributes", ".gitmodules"),
    "go": ("go.mod", "go.work"),
    "gradle": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    "just": ("justfile", "Justfile", ".justfile"),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "mvn": ("pom.xml",),
    "ninja": ("build.ninja",),
    "nox": ("noxfile.py",),
    "npm": ("package.json", ".npmrc"),
    "npx": ("package.json", ".npmrc"),
    "pip": ("pyproject.toml", "setup.py", "setup.cfg"),
    "pnpm": ("package.json", ".npmrc", ".pnpmfile.cjs", "pnpm-workspace.yaml"),
    "poetry": ("pyproject.toml",),
    "pre-commit": (".pre-commit-config.yaml",),
    "pytest": ("conftest.py", "pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"),
    "python": ("conftest.py", "pyproject.toml", "pytest.ini", "setup.cfg", "setup.py"),
    "python3": ("conftest.py", "pyproject.toml", "pytest.ini", "setup.cfg", "setup.py"),
    "rake": ("Rakefile",),
    "ruff": ("pyproject.toml", "ruff.toml"),
    "tox": ("tox.ini", "pyproject.toml"),
    "tsc": ("tsconfig.json",),
    "uv": ("pyproject.toml", "uv.toml"),
    "vitest": ("vitest.config.ts", "vite.config.ts", "package.json"),
    "yarn": ("package.json", ".yarnrc", ".yarnrc.yml"),
}
"""The files that say what these programs run. If one was written in this turn, in whatever folder, no rule allows the
program: an option, a workspace of the program's own or one of these files may lead there.
"""

TAKE_DATA: Final = WRITERS | words_of(
    "c++ cc clang clang++ convert curl ffmpeg g++ gcc gh git gofmt http javac jq kotlinc magick pandoc rustc rustfmt "
    "sass swiftc tsc wget yq"
)
"""What takes files that its options name for data, and runs none of them unless `running` says so."""

KEEP: Final = (
    MAKERS
    | words_of("chgrp chmod chown cp install ln mkdir mkfifo mv patch rm rmdir shred tee touch truncate unlink")
    | words_of("c++ cc clang clang++ g++ gcc gofmt javac kotlinc rustc rustfmt swiftc tsc")
    | words_of("bun bundle cargo composer dart dotnet flutter go mocha npm pnpm rspec rubocop swift yarn")
)
"""What shows nothing of the files that its words name but their lines: it moves them, builds, checks or tests."""
RUN_BY_NAME: Final = words_of("bun cargo dart dotnet flutter go swift")
"""Of these, those whose `run` starts what may show anything."""

TAKE_NO_VALUE: Final = words_of(
    "-l -q -r -s -v -vv -vvv -x --all --check --diff --exitfirst --failed-first --ff --fix --last-failed --lf --list "
    "--quiet --safe --silent --verbose --watch --write -rA -ra -w"
)
"""Options of `CHECKERS` without a value."""

TAKE_TEXT: Final = words_of("-k -m -n -t --maxfail --tb --grep --testNamePattern --durations")
"""Options of `CHECKERS` whose value is a text or a number."""

CHECKERS: Final = words_of("black eslint isort jest mocha mypy prettier pyright pytest ruff stylelint vitest")
"""What looks through, or tests, the files that its words name, which people have it do with what was just written."""

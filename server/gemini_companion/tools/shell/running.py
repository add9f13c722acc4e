"""What words have programs run what their caller likes, and of which programs it is known that none does.

No rule that allows opens a word that it does not name, if by that word the program may run something (`running_word`),
or if it is an option of which it is not known that it does no harm (`unnamed_word`). Of a kind of command in `KINDS` it
is known of every option; "always" is offered for these kinds, and else for the exact words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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

_COMMON: Final = words_of(
    "-h -q -v -vv -vvv -V --color --colors --colour --debug --dry-run --help --info --json --list --long --no-color "
    "--no-colour --no-pager --no-progress --offline --plain --pretty --progress --quiet --short --silent --stat "
    "--stats --status --summary --trace --verbose --version --watch"
)
"""Options that mean the same to almost every program, and do no harm in any."""
_TRIED: Final = Kind(
    words_of(
        "-b -t -u --bail --changed --ci --coverage --detectOpenHandles --forceExit --listTests --no-cache "
        "--no-coverage --no-file-parallelism --onlyChanged --passWithNoTests --run --runInBand --update "
        "--updateSnapshot --watchAll --watchAll=false"
    ),
    words_of("-t -g --grep --maxWorkers --project --shard --testNamePattern --testPathPattern --testTimeout --timeout"),
)
_MADE: Final = Kind(
    words_of("-B -k -n -s -w --always-make --dry-run --keep-going --no-print-directory --output-sync --trace"),
    words_of("-j -l -O --jobs --load-average"),
)
_PACKAGES: Final = Kind(
    words_of(
        "-D -E -O -P -r -s -ws --all --dev --exact --frozen-lockfile --if-present --ignore-scripts --immutable "
        "--no-audit --no-fund --no-optional --no-save --parallel --parseable "
        "--prefer-offline --prod "
        "--production --recursive --save --save-dev --save-exact --stream --workspace-root --workspaces"
    ),
    words_of("-F -w --depth --filter --include --loglevel --omit --workspace"),
)
HARMLESS: Final[Mapping[str, Kind]] = {
    "apt": Kind(words_of("-y --yes --assume-yes")),
    "apt-get": Kind(words_of("-y --yes --assume-yes")),
    "base64": Kind(words_of("-d -D --decode"), words_of("-w --wrap")),
    "black": Kind(_LINTING, words_of("-l -t --target-version")),
    "cargo": Kind(
        words_of(
            "-r --all --all-features --all-targets --benches --bins --doc --exact --examples --frozen --ignored "
            "--include-ignored --keep-going --lib --locked --no-default-features --no-deps --no-fail-fast --no-run "
            "--nocapture --release --tests --workspace"
        ),
        words_of(
            "-A -D -F -W -j -p --bench --bin --example --exclude --features --jobs --message-format "
            "--package --profile "
            "--test --test-threads"
        ),
    ),
    "chmod": Kind(words_of("-R --recursive")),
    "cmake": Kind(
        words_of("-N -L -LA"), words_of("-B -S -G -j --build --config --install --parallel --preset --target")
    ),
    "cp": Kind(words_of("-a -d -f -i -L -n -p -P -r -R -u --archive --no-clobber --recursive --update")),
    "ctest": Kind(words_of("-N --output-on-failure --rerun-failed"), words_of("-E -L -R -j --parallel --timeout")),
    "curl": Kind(
        words_of(
            "-4 -6 -f -g -G -i -I -L -O -s -S --compressed --fail --fail-with-body --get --globoff --head --include "
            "--location --remote-name --show-error"
        ),
        words_of(
            "-A -b -d -e -F -H -m -o -r -w -X --connect-timeout --data --data-raw --data-urlencode "
            "--form --header --max-time "
            "--output --request --retry --retry-delay --url --user-agent --write-out"
        ),
    ),
    "date": Kind(words_of("-u -R -I --utc --iso-8601 --rfc-3339"), words_of("-d --date")),
    "df": Kind(words_of("-a -h -H -i -k -l -m -P -T --human-readable --total")),
    "dotnet": Kind(
        words_of("--no-build --no-restore --nologo"),
        words_of("-c -f -v --configuration --filter --framework --verbosity"),
    ),
    "eslint": Kind(words_of("--cache --fix"), words_of("--ext --max-warnings")),
    "free": Kind(words_of("-b -g -h -k -m -t -w")),
    "gh": Kind(
        words_of("-c --comments --draft --exit-status --log --log-failed --name-only --patch --required"),
        words_of(
            "-A -b -B -H -l -L -R -S -t --assignee --author --base --body --branch --head --jq --label "
            "--limit --milestone "
            "--repo --search --state --template --title --workflow"
        ),
    ),
    "git am": Kind(words_of("--abort --continue --quit --skip")),
    "git apply": Kind(
        words_of("-3 -R --3way --check --index --numstat --recount --reverse"), words_of("-p --exclude --include")
    ),
    "git archive": Kind(frozenset(), words_of("-o --format --output --prefix")),
    "git branch": Kind(
        words_of("-a -r -vv -t --all --list --merged --no-merged --no-track --remotes --show-current --track")
    ),
    "git cat-file": Kind(words_of("-e -p -s -t")),
    "git check-ignore": Kind(words_of("-n --no-index --non-matching")),
    "git checkout": Kind(words_of("-d -t --detach --no-track --ours --theirs --track"), words_of("-b --orphan")),
    "git cherry-pick": Kind(
        words_of("-n -s -x --abort --continue --no-commit --quit --signoff --skip"), words_of("-m --mainline")
    ),
    "git clean": Kind(words_of("-d -n -x -X")),
    "git clone": Kind(
        words_of("-n --bare --no-checkout --no-single-branch --no-tags --single-branch"),
        words_of("-b -o --branch --depth --filter --origin --shallow-since"),
    ),
    "git fetch": Kind(
        words_of("-a -p -t --all --no-tags --prune --prune-tags --tags --unshallow"),
        words_of("-j --deepen --depth --jobs"),
    ),
    "git format-patch": Kind(words_of("--stdout"), words_of("-o --output-directory")),
    "git merge": Kind(
        words_of("--abort --continue --ff --ff-only --no-commit --no-edit --no-ff --squash"), words_of("-m --message")
    ),
    "git mv": Kind(words_of("-k -n")),
    "git pull": Kind(
        words_of(
            "--all --autostash --ff --ff-only --no-commit --no-edit --no-ff --no-rebase --prune "
            "--rebase --squash --tags"
        ),
        words_of("--depth"),
    ),
    "git push": Kind(
        words_of("-n -u --atomic --follow-tags --no-thin --porcelain --set-upstream --tags --thin"),
    ),
    "git rebase": Kind(
        words_of("--abort --autostash --continue --keep-base --no-autostash --quit --rebase-merges --skip"),
        words_of("--onto"),
    ),
    "git reset": Kind(words_of("--mixed --soft")),
    "git restore": Kind(words_of("-S --ours --staged --theirs --worktree"), words_of("-s --source")),
    "git revert": Kind(
        words_of("-n -s --abort --continue --no-commit --no-edit --quit --skip"), words_of("-m --mainline")
    ),
    "git rm": Kind(words_of("-n -r --cached --ignore-unmatch")),
    "git stash": Kind(
        words_of("-a -k -p -S -u --all --include-untracked --index --keep-index --no-keep-index --staged"),
        words_of("-m --message"),
    ),
    "git switch": Kind(
        words_of("-d -t --detach --guess --no-guess --no-track --track"), words_of("-c --create --orphan")
    ),
    "git tag": Kind(words_of("-a -l -n -s --annotate --list"), words_of("-m --message --sort")),
    "go": Kind(
        words_of("-a -benchmem -cover -failfast -json -n -race -short -shuffle=on -trimpath -v -x"),
        words_of("-bench -count -coverprofile -o -p -parallel -run -tags -timeout"),
    ),
    "gradle": Kind(
        words_of("-s -S --build-cache --continue --no-build-cache --no-daemon --parallel --rerun-tasks --stacktrace"),
        words_of("-x --console --exclude-task --max-workers --tests --warning-mode"),
    ),
    "isort": Kind(_LINTING | words_of("-c --check-only"), words_of("--profile")),
    "jest": _TRIED,
    "jq": Kind(
        words_of(
            "-a -c -C -e -j -M -n -r -R -s -S --ascii-output --compact-output --exit-status "
            "--join-output --null-input "
            "--raw-input --raw-output --slurp --sort-keys --tab"
        ),
        words_of("--arg --argjson --indent"),
    ),
    "make": _MADE,
    "mocha": _TRIED,
    "mv": Kind(words_of("-f -i -n -u --no-clobber")),
    "mvn": Kind(
        words_of("-am -B -e -ntp -o -U --also-make --batch-mode --no-transfer-progress"), words_of("-pl -T --projects")
    ),
    "mypy": Kind(
        words_of("--ignore-missing-imports --no-error-summary --no-incremental --show-error-codes --strict"),
        words_of("-m -p --exclude --follow-imports --python-version"),
    ),
    "ninja": Kind(words_of("-n"), words_of("-j -k -l")),
    "npm": _PACKAGES,
    "pip": Kind(
        words_of("-e -U --no-build-isolation --no-cache-dir --no-deps --no-input --outdated --pre --upgrade --user"),
        words_of("-c -r --constraint --format --requirement"),
    ),
    "pnpm": _PACKAGES,
    "prettier": Kind(
        words_of("-c -l -u -w --cache --check --ignore-unknown --list-different --write"), words_of("--log-level")
    ),
    "ps": Kind(words_of("-a -A -e -f -l -x"), words_of("-C -o -p -u --pid --ppid --sort")),
    "pyright": Kind(words_of("--outputjson --warnings"), words_of("--level --pythonversion")),
    "pytest": Kind(
        words_of(
            "-l -q -qq -s -x --co --collect-only --exitfirst --failed-first --ff --last-failed --lf "
            "--new-first --nf --no-cov "
            "--no-header --no-summary --pdb --setup-show --showlocals --stepwise --sw"
        ),
        words_of("-k -m -n -r --cov --cov-report --durations --log-cli-level --maxfail --tb --timeout"),
    ),
    "rsync": Kind(
        words_of(
            "-a -c -g -h -l -n -o -p -P -r -t -u -z --archive --compress --itemize-changes --partial "
            "--recursive --update"
        ),
        words_of("--exclude --include"),
    ),
    "ruff": Kind(_LINTING, words_of("--ignore --extend-select --select --target-version")),
    "tar": Kind(
        words_of("-a -c -j -J -k -O -p -t -x -z --create --extract --gzip --keep-old-files --list --xz --zstd"),
        words_of("-C -f -T -X --directory --exclude --file --strip-components"),
    ),
    "tox": Kind(words_of("-p -r --recreate"), words_of("-e")),
    "tshark": Kind(words_of("-l -n -q -V -x"), words_of("-c -d -e -E -r -T -Y -z")),
    "tsc": Kind(
        words_of(
            "-b -d -w --build --declaration --emitDeclarationOnly --incremental --listFiles --noEmit "
            "--skipLibCheck --strict"
        ),
        words_of("-p --jsx --lib --module --outDir --project --target"),
    ),
    "uv": Kind(words_of("--dev --frozen --locked --no-sync --upgrade"), words_of("--extra --group")),
    "vitest": _TRIED,
    "wget": Kind(
        words_of("-c -N -nc -nv -S --content-disposition --continue --no-clobber --no-verbose --spider"),
        words_of("-O -P -t -T --tries --timeout"),
    ),
    "xxd": Kind(words_of("-b -i -p -r -u"), words_of("-c -g -l -s")),
    "yarn": _PACKAGES,
}
"""Options of programs, and of subcommands of git, that do no more than a rule for the program is about. None runs,
forces, deletes or loads anything, or leads to other folders.
"""
_NOTHING: Final = Kind(frozenset())
_ALIKE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("gmake", "bmake", "remake"), "make"),
    **dict.fromkeys(("gtar", "bsdtar"), "tar"),
    **dict.fromkeys(("gradlew",), "gradle"),
    **dict.fromkeys(("mvnw",), "mvn"),
    "pip3": "pip",
    "bun": "npm",
}
_SETTLED: Final = re.compile(
    r"-D[A-Za-z_]\w*(?::BOOL|:STRING)?=(?:ON|OFF|TRUE|FALSE|YES|NO|[0-9]{1,9}|Debug|Release|RelWithDebInfo|MinSizeRel)"
)
"""What `cmake` is told that names nothing."""
_COMPILED: Final = re.compile(
    r"-(?:[cEgSsvw]|O[0-9sgz]?|g[0-9]|o|x|I.+|L.+|l[\w.+-]+|D\w+(?:=.*)?|U\w+|std=[\w+]+|W(?![lpa],|rapper)[\w=-]+|f(?!plugin)[\w=-]+"
    r"|m[\w=.-]+|M[MFDP]*|pthread|shared|static|pedantic(?:-errors)?)"
)
"""Options of compilers that load and start nothing."""
_PLAIN_VALUE: Final = re.compile(
    r"[0-9][0-9.,]{0,20}[smhkKMG%]?|true|false|always|never|auto|on|off|yes|no", re.IGNORECASE
)
_INTO_ANOTHER: Final = words_of("run exec x dlx explore tool shell env script")
"""Subcommands behind which the words name what runs."""
_STRONG: Final = words_of(
    "alias clear console delete del destroy dlx drop erase eval exec explore extension kill prune publish purge repl "
    "rsh shell ssh unpublish wipe"
)
"""Subcommands that a rule for the program alone is not about."""
_WITH_TASKS: Final = words_of("bun npm pnpm yarn")


def unnamed_word(name: str, words: Sequence[str], accepted: int, is_file: Callable[[str], bool]) -> str:
    """The first word behind a rule's that is not plain; empty if all are.

    Plain are operands, options that stand in the rule, that mean the same to all programs or are known of this one, and
    values that name nothing. So an option of a program that is not known is asked about, once.
    """
    if (kind := kind_of(words)) and accepted >= len(kind):
        return ""
    if name in INTERPRETERS and (at := _module_at(words)):
        name, words, accepted = words[at], words[at:], accepted - at
    if name in STARTERS | _WITH_TASKS and (word := _started(name, words, accepted)):
        return word
    known, named = _known(name, words, accepted), set(words[:accepted])
    behind = list(words[max(accepted, 1) :])
    if accepted < 2 and name not in _WITHOUT_SUBCOMMANDS:
        first = [word for word in behind if not is_option(word)][: 1 if name in _PACKAGERS else 2]
        if strong := next((word for word in first if _is_strong(name, word)), ""):
            return strong
    while behind:
        word = behind.pop(0)
        if word == "--":
            known = _TRIED if name in _WITH_TASKS else known
        elif not is_option(word):
            if _leads_elsewhere(name, words, word) or (
                word.startswith("@") and name not in _WITH_TASKS and is_file(word[1:])
            ):
                return word
        elif word not in named:
            taken = _taken(name, known, word, behind[0] if behind else "")
            if taken is None:
                return word
            behind = behind[taken:]
    return ""


_GIT_STRONG: Final = frozenset(
    (command, word)
    for command in ("lfs", "notes", "reflog", "remote", "stash", "submodule", "worktree")
    for word in ("clear", "deinit", "delete", "drop", "expire", "prune", "remove", "rm")
)
_WITHOUT_SUBCOMMANDS: Final = (
    INTERPRETERS | MAKERS | words_of("cat cp ls mv pytest ruff black mypy eslint prettier tsc")
)


def _started(name: str, words: Sequence[str], accepted: int) -> str:
    """The program that another one starts, where a rule does not name it."""
    operands = [at for at in range(1, len(words)) if not is_option(words[at])]
    if name in _WITH_TASKS:
        begins = 0
        for place, at in enumerate(operands):
            if words[at] in _TASK_FOLLOWS:
                return ""
            if words[at] in _STARTING_TASKS:
                begins = place + 1
                break
    elif operands and words[operands[0]] in _INTO_ANOTHER:
        begins = 1
    else:
        return "" if name in _WITH_OWN_COMMANDS or not operands or operands[0] < accepted else words[operands[0]]
    if not begins:
        return ""
    behind = [at for at in operands[begins:] if words[at] not in _INTO_ANOTHER]
    # What follows an option may be its value.
    sure = [at for at in behind if not is_option(words[at - 1]) or words[at - 1] in _COMMON | {"--"}]
    inner = next(iter(sure or behind or operands[begins:]), 0)
    return words[inner] if inner >= accepted else ""


_STARTING_TASKS: Final = words_of("create dlx exec explore init innit node x")
_TASK_FOLLOWS: Final = words_of("run run-script rum urn start t test tst")
_WITH_OWN_COMMANDS: Final = words_of(
    "asdf bundle conda corepack direnv doppler hatch mamba mise op pdm pipenv pipx poetry rye uv"
)
"""Of those that start others, those that do so with some of their subcommands alone."""


def _known(name: str, words: Sequence[str], accepted: int) -> Kind:
    """The options that are known to do no harm: of what the rule names last."""
    for at in range(min(accepted, len(words)) - 1, 0, -1):
        if name in STARTERS | _WITH_TASKS and _ALIKE.get(words[at], words[at]) in HARMLESS:
            return HARMLESS[_ALIKE.get(words[at], words[at])]
    name = _ALIKE.get(name, name)
    whole = f"{name} {words[1]}" if len(words) > 1 else name
    known = HARMLESS.get(whole) or HARMLESS.get(name, _NOTHING)
    if accepted < 2 and name in {"make", "ninja"}:  # a rule for the program is about all that it makes here
        return Kind(known.flags, known.valued | {"-C", "--directory"})
    return known


def _is_strong(name: str, word: str) -> bool:
    is_removing = word in {"rm", "remove", "uninstall"} and name not in _PACKAGERS
    return word in _STRONG or is_removing or word.startswith(("delete-", "destroy-", "drop-", "purge-", "terminate-"))


_PACKAGERS: Final = _WITH_TASKS | words_of(
    "apt apt-get brew bundle cargo composer conda dart dotnet flutter mamba pdm pip pipenv poetry rye uv"
)


def _leads_elsewhere(name: str, words: Sequence[str], word: str) -> bool:
    """Whether an operand is an option though it has not the look of one, has git overwrite or delete far away, or run
    a program.
    """
    if name == "git":
        is_strong = tuple(words[1:3]) in _GIT_STRONG and word == words[2]
        return is_strong or re.match(r"\w+::|\+", word) is not None or ("push" in words[:2] and word.startswith(":"))
    if name == "ps":  # `ps e` shows what is in the environment of every process
        return word.isalpha() and "e" in word
    return word.startswith("+") and name not in {"date", "chmod", *HARMLESS}


def _taken(name: str, known: Kind, word: str, following: str) -> int | None:
    """How many of the words behind an option are its value; `None` if it is not known to do no harm."""
    given, equals, value = word.partition("=")
    if name in _COMPILERS:
        return None if _COMPILED.fullmatch(word) is None else int(word in {"-o", "-x", "-MF"})
    if name == "cmake" and _SETTLED.fullmatch(word):
        return 0
    if word in known.flags | _COMMON or (equals and given in known.valued):
        return 0
    if equals and given in known.flags | _COMMON and re.fullmatch(r"[\w,-]*", value):
        return 0
    if given in known.valued:
        return 1
    if word.startswith("--no-") and not equals and word[5:] not in _GUARDS:
        return 0
    if equals and _PLAIN_VALUE.fullmatch(value):
        return 0
    if word.startswith("--") or name in _LONG_WITH_ONE_DASH:
        return 1 if not equals and following[:1].isdigit() and _PLAIN_VALUE.fullmatch(following) else None
    for at, letter in enumerate(word[1:], 1):
        rest = word[at + 1 :]
        if f"-{letter}" in known.valued:
            return 0 if rest else 1
        if letter.isdigit() or f"-{letter}" in known.flags | _COMMON:
            continue
        if at == 1 and (rest.isdigit() or (not rest and following.isdigit())):
            return 0 if rest else 1
        return None
    return 0


_COMPILERS: Final = words_of("c++ cc clang clang++ g++ gcc")
_GUARDS: Final = words_of(
    "auth authentication check check-certificate checks confirm gpg-verify host-key-check "
    "preserve-root protect sandbox "
    "security ssl verify verify-ssl"
)
"""What keeps from harm, where `--no-` stands before it."""


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
    known = _known(name, words, accepted)
    for at, word in enumerate(words[1:], 1):
        if word in known.flags or (word.startswith("--") and word.partition("=")[0] in known.valued):
            continue
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

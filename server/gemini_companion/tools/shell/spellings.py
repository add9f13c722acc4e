"""Whether a command is the one that a rule names, however it is spelled.

A rule that forbids or asks must hold with options in between, by a command's other names and beginnings, with several
targets, behind a wrapper. Of a program whose grammar is in `GRAMMARS` it is told what its words mean. Of any other
program nothing is told: there it is enough that the rule's words follow each other somewhere in the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from gemini_companion.tools.shell.programs import words_of


class Hit(IntEnum):
    """How sure it is that a command is what a rule names."""

    NO = 0
    MAYBE = 1
    """The rule's words are there, but may mean something else."""
    YES = 2


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a program makes of its words, as far as it must be known to tell which of its commands a line is."""

    valued: frozenset[str] = frozenset()
    """Options that take the next word."""
    flags: frozenset[str] = frozenset()
    """Options that take none. Of any other option it is not known."""
    commands: frozenset[str] = frozenset()
    """First words that are surely this command and no other, and that run nothing their words name."""
    same: tuple[frozenset[tuple[str, ...]], ...] = ()
    """Commands with several names."""
    abbreviates: bool = False
    """It takes the beginning of a command's name for the name."""
    has_own_names: bool = False
    """People and repositories may give its commands names of their own."""
    targets: bool = False
    """Each word that is no option names something to be done."""


def same_commands(text: str) -> tuple[frozenset[tuple[str, ...]], ...]:
    """Names of commands that are the same: one a line, `|` between the names, blanks between words."""
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(frozenset(tuple(name.split()) for name in line.split("|")) for line in lines)


_NPM_NAMES: Final = """
access
adduser | add-user
audit
author | owner
bugs | issues
c | config
ci | clean-install | ic | install-clean | isntall-clean
create | init | innit
ddp | dedupe | dedup
deprecate
diff
dist-tag | dist-tags
docs | home
doctor
edit
exec | x
explain | why
find | search | s | se
fund
get
help | hlep
i | install | add | in | ins | inst | insta | instal | isnt | isnta | isntal | isntall
info | view | show | v
it | install-test | sit
cit | clean-install-test | install-ci-test
link | ln
list | ls | la | ll
login
logout
org | ogr
outdated
pack
ping
pkg
prefix
profile
prune
publish
query
rebuild | rb
remove | rm | uninstall | un | unlink | r
repo
restart
root
run | run-script | rum | urn
set
star
stars
start
stop
t | test | tst
team
token
unpublish
unstar
up | update | upgrade | udpate
version | verison
whoami
"""
_NPM: Final = Grammar(
    valued=words_of(
        """-C -F -c -m -p -w --access --auth-type --before --cache --call --config --cpu --cwd --depth --dir --filter
        --globalconfig --include --libc --location --loglevel --message --node-options --omit --os --otp --package
        --prefix --registry --reporter --save-prefix --scope --script-shell --store-dir --tag --tag-version-prefix
        --use-node-version --userconfig --viewer --workspace --workspace-dir"""
    ),
    flags=words_of(
        """-B -D -E -O -P -d -dd -ddd -f -g -h -n -q -r -s -ws -y --all --dry-run --force --foreground-scripts --global
        --if-present --ignore-scripts --json --long --offline --parseable --quiet --recursive --save --save-dev
        --save-exact --silent --verbose --workspace-root --workspaces --yes"""
    ),
    commands=words_of(
        """access adduser add-user audit author bugs c config ci clean-install ddp dedupe deprecate diff dist-tag docs
        doctor edit explain find fund get help home i in info install issues it link list ln login logout ls org
        outdated owner pack ping pkg prefix profile prune publish query rebuild remove repo restart rm root s search
        set show star stars start stop t test team token un uninstall unlink unpublish unstar up update upgrade v
        version view whoami why"""
    ),
    same=same_commands(_NPM_NAMES),
    abbreviates=True,
)

_CONTAINER: Final = (
    "attach commit cp create diff exec export inspect kill logs pause port prune rename restart rm run start stats "
    "stop top unpause update wait"
)
_DOCKER_NAMES: Final = (
    "\n".join(f"{name} | container {name}" for name in _CONTAINER.split() if name not in {"rm", "prune", "inspect"})
    + """
rm | container rm | container remove
container prune
ps | container ls | container ps | container list
images | image ls | image list
rmi | image rm | image remove
build | image build | buildx build | builder build
push | image push
pull | image pull
save | image save
load | image load
import | image import
tag | image tag
history | image history
info | system info
events | system events
network rm | network remove
volume rm | volume remove
context rm | context remove
plugin rm | plugin remove
service rm | service remove
stack rm | stack remove | stack down
stack deploy | stack up
"""
)
_DOCKER: Final = Grammar(
    valued=words_of(
        """-H -c -f -l -p --ansi --config --connection --context --env-file --file --host --identity --log-level
        --parallel --profile --progress --project-directory --project-name --root --runroot --storage-driver
        --storage-opt --tlscacert --tlscert --tlskey --url"""
    ),
    flags=words_of("-D -v --debug --tls --tlsverify --remote -r --all-resources --compatibility --dry-run"),
    commands=words_of(
        """attach build builder commit compose config container context cp create diff events export history image
        images import info inspect kill load login logout logs manifest network node pause plugin port ps pull push
        rename restart rm rmi save search secret service stack start stats stop swarm system tag top trust unpause
        update version volume wait"""
    ),
    same=same_commands(_DOCKER_NAMES),
)
_KUBECTL: Final = Grammar(
    valued=words_of(
        """-n -s --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key
        --cluster --context --kubeconfig --log-flush-frequency --namespace --password --profile --profile-output
        --request-timeout --server --tls-server-name --token --user --username -v --v --vmodule"""
    ),
    flags=words_of("--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression"),
    commands=words_of(
        """annotate api-resources api-versions apply auth autoscale certificate cluster-info completion config cordon
        cp create delete describe diff drain edit events explain expose get kustomize label logs patch port-forward
        proxy replace rollout scale set taint top uncordon version wait"""
    ),
)
_HELM: Final = Grammar(
    valued=words_of(
        """-n --burst-limit --kube-apiserver --kube-as-group --kube-as-user --kube-ca-file --kube-context
        --kube-tls-server-name --kube-token --kubeconfig --namespace --qps --registry-config --repository-cache
        --repository-config"""
    ),
    flags=words_of("--debug --kube-insecure-skip-tls-verify"),
    commands=words_of(
        """completion create delete del dep dependency env fetch get history hist inspect install lint list ls package
        pull push registry repo rollback search show status template test un uninstall upgrade verify version"""
    ),
    same=same_commands(
        "uninstall | un | del | delete\nlist | ls\nhistory | hist\npull | fetch\nshow | inspect\ndependency | dep\n"
    ),
)
_GIT_COMMANDS: Final = words_of(
    """add am annotate apply archive blame branch bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree
    config count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import
    fetch fetch-pack for-each-ref format-patch fsck gc grep hash-object help index-pack init interpret-trailers log
    ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-tree mergetool mktag
    mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune prune-packed pull push range-diff
    read-tree reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-pack
    shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace switch symbolic-ref tag
    unpack-file unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag
    version whatchanged worktree write-tree"""
)
_GIT: Final = Grammar(
    valued=words_of("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source"),
    flags=words_of(
        """-p -P -v -h --paginate --no-pager --no-replace-objects --bare --literal-pathspecs --glob-pathspecs
        --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path --man-path
        --info-path --version --help --exec-path"""
    ),
    commands=_GIT_COMMANDS,
    same=same_commands(
        "add | stage\nblame | annotate\npush | send-pack\nremote rm | remote remove\nstash push | stash save\n"
    ),
)
_CARGO: Final = Grammar(
    valued=words_of("-C -Z --color --config --manifest-path --target-dir --lockfile-path"),
    flags=words_of("-q -v -vv -V --quiet --verbose --frozen --locked --offline --list --version"),
    commands=words_of(
        """add b bench build c check clean clippy d doc fetch fix fmt generate-lockfile help info init install
        locate-project login logout metadata new nextest owner package pkgid publish r read-manifest remove report rm
        run rustc rustdoc search t test tree uninstall update vendor verify-project version yank"""
    ),
    same=same_commands("build | b\ncheck | c\ndoc | d\nrun | r\ntest | t\nremove | rm\n"),
    has_own_names=True,
)
_PIP: Final = Grammar(
    valued=words_of(
        """--cache-dir --cert --client-cert --exists-action --index-url -i --keyring-provider --log --proxy --python
        --retries --timeout --trusted-host --use-deprecated --use-feature"""
    ),
    flags=words_of(
        "-q -qq -v -vv -vvv -V -h --debug --disable-pip-version-check --isolated --no-cache-dir --no-color --no-input "
        "--no-python-version-warning --quiet --require-virtualenv --verbose"
    ),
    commands=words_of(
        "cache check completion config debug download freeze hash help index inspect install list lock search show "
        "uninstall wheel"
    ),
)
_MAKE: Final = Grammar(
    valued=words_of(
        "-C -E -f -I -o -W --assume-new --assume-old --directory --eval --file --include-dir --makefile --new-file "
        "--old-file --what-if"
    ),
    targets=True,
)
_TERRAFORM: Final = Grammar(
    commands=words_of(
        "apply console destroy fmt force-unlock get graph import init login logout metadata modules output plan "
        "providers refresh show state taint test untaint validate version workspace"
    ),
    same=same_commands("destroy | apply -destroy | apply --destroy\n"),
)
_SVN: Final = Grammar(
    valued=words_of("--username --password --config-dir --config-option -m -F -r --revision --depth --message --file"),
    same=same_commands(
        """
blame | praise | annotate | ann
checkout | co
commit | ci
copy | cp
delete | del | remove | rm
diff | di
list | ls
move | mv | rename | ren
propdel | pdel | pd
propedit | pedit | pe
propget | pget | pg
proplist | plist | pl
propset | pset | ps
status | stat | st
switch | sw
update | up
"""
    ),
)
_GH: Final = Grammar(
    valued=words_of("-R --repo --hostname"),
    commands=words_of(
        """api attestation auth browse cache codespace completion config gist gpg-key help issue label org pr preview
        project release repo ruleset run search secret ssh-key status variable workflow"""
    ),
    same=same_commands("codespace | cs\n"),
    has_own_names=True,
)
_AWS: Final = Grammar(
    valued=words_of(
        "--ca-bundle --cli-binary-format --cli-connect-timeout --cli-read-timeout --color --endpoint-url --output "
        "--profile --query --region"
    ),
    flags=words_of("--debug --no-cli-auto-prompt --no-cli-pager --no-paginate --no-sign-request --no-verify-ssl"),
    commands=words_of("cloudformation configure dynamodb ec2 ecr ecs eks iam lambda logs rds s3 s3api sns sqs sts"),
    has_own_names=True,
)
_BREW: Final = Grammar(
    flags=words_of("-q -v -d --quiet --verbose --debug"),
    same=same_commands("uninstall | remove | rm\nlist | ls\ninfo | abv\ninstall | instal\nupgrade\nlink | ln\n"),
)
_APT: Final = Grammar(
    valued=words_of("-a -c -o -t --config-file --default-release --host-architecture --option --target-release"),
    flags=words_of("-q -qq -y -s -d -f -m -V --assume-yes --yes --quiet --simulate --dry-run --yes --auto-remove"),
    commands=words_of(
        "autoclean autopurge autoremove build-dep changelog check clean depends dist-upgrade download edit-sources "
        "full-upgrade install list policy purge rdepends reinstall remove search show showsrc source update upgrade"
    ),
)
_SYSTEMCTL: Final = Grammar(
    valued=words_of(
        "-H -M -P -n -o -p -s -t --host --image --job-mode --kill-value --kill-whom --lines --machine --output "
        "--preset-mode --property --root --signal --state --type --what"
    ),
    flags=words_of(
        "-a -f -i -l -q -r --all --force --full --global --no-ask-password --no-block --no-legend --no-pager --no-wall "
        "--now --quiet --recursive --runtime --system --user --wait"
    ),
)
_TASKS: Final = Grammar(
    valued=words_of(
        "-C -D -I -P -b -c -d -f -p -t --build-file --dir --directory --file --init-script --justfile --project-dir "
        "--rakefile --taskfile --working-directory"
    ),
    abbreviates=True,
    targets=True,
)

GRAMMARS: Final[Mapping[str, Grammar]] = {
    **dict.fromkeys(("npm", "pnpm", "cnpm"), _NPM),
    "yarn": Grammar(
        valued=_NPM.valued | words_of("--modules-folder --cache-folder --use-yarnrc --cwd"),
        flags=_NPM.flags,
        commands=_NPM.commands - words_of("c i in it ln s t un up v why"),
        same=same_commands("publish | npm publish\nlogin | npm login\nlogout | npm logout\ntag | npm tag\n"),
    ),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _DOCKER),
    **dict.fromkeys(("kubectl", "oc"), _KUBECTL),
    "helm": _HELM,
    "git": _GIT,
    "cargo": _CARGO,
    "pip": _PIP,
    **dict.fromkeys(("make", "gmake", "bmake", "remake"), _MAKE),
    **dict.fromkeys(("ninja", "just", "rake", "gradle", "gradlew", "mvn", "mvnw", "ant", "task"), _TASKS),
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), _TERRAFORM),
    "svn": _SVN,
    "gh": _GH,
    "aws": _AWS,
    "brew": _BREW,
    **dict.fromkeys(("apt", "apt-get"), _APT),
    "systemctl": _SYSTEMCTL,
}

SAME_PROGRAMS: Final[Mapping[str, str]] = {
    "gmake": "make",
    "nodejs": "node",
    "yarnpkg": "yarn",
    "tofu": "terraform",
    "gsed": "sed",
    "gtar": "tar",
    "bsdtar": "tar",
}
"""Programs that are others by another name."""

_SAME_OPTIONS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "chmod": (("-R", "--recursive"),),
    "chown": (("-R", "--recursive"),),
    "cp": (("-f", "--force"), ("-r", "-R", "--recursive")),
    "curl": (("-k", "--insecure"), ("-o", "--output"), ("-L", "--location"), ("-d", "--data"), ("-T", "--upload-file")),
    "docker": (("-f", "--force"), ("-a", "--all")),
    "git": (("-f", "--force"), ("-D", "--delete --force"), ("-d", "--delete"), ("-n", "--no-verify")),
    "npm": (("-g", "--global"), ("-f", "--force")),
    "rm": (("-r", "-R", "--recursive"), ("-f", "--force")),
    "sed": (("-i", "--in-place"),),
}
_LONGEST_CLUSTER: Final = 4
"""Letters of a rule's word that are read as short options; more are one long option with a single dash."""

_NAMES_OF_SAME_DEEDS: Final = tuple(
    words_of(names)
    for names in (
        "remove rm uninstall un unlink del delete erase destroy purge",
        "install i add in",
        "publish pub release",
        "deploy up",
        "update up upgrade",
    )
)
"""Of a program that is not known, one of these may be another."""
_BETWEEN: Final = re.compile(r"[\s;&|()`{}<>$=,:+\"']+")
_ENDINGS: Final = (".exe", ".cmd", ".bat", ".ps1", ".com")
_MOST_WORDS: Final = 400
"""Words of a command that are looked through; behind more of them it may be anything."""


def program_named(word: str) -> str:
    """The name by which a program is compared: no folder, no version, no ending, small letters."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold()
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    stem = name.rstrip("0123456789.-")
    name = stem if len(stem) > 1 else name
    return SAME_PROGRAMS.get(name, name)


def is_option(word: str) -> bool:
    """Whether a word has the look of an option."""
    return len(word) > 1 and word[0] == "-"


def other_command(argv: Sequence[str]) -> bool:
    """Whether a command is surely one that runs nothing its words name, by the grammar of its program."""
    grammar = GRAMMARS.get(program_named(argv[0]))
    if grammar is None or not grammar.commands:
        return False
    at = next((at for at, _ in _operands(grammar, argv, 1)), None)
    return at is not None and argv[at] in grammar.commands


def first_command(argv: Sequence[str]) -> str:
    """The first word of a program's that is neither an option nor an option's value; empty if there is none."""
    grammar = GRAMMARS.get(program_named(argv[0]), Grammar())
    return next((argv[at] for at, _ in _operands(grammar, argv, 1)), "")


def named_by(rule: Sequence[str], argv: Sequence[str]) -> Hit:
    """Whether these words are the command of a rule; the program's name has been compared."""
    if len(rule) == 1 or tuple(argv[1 : len(rule)]) == tuple(rule[1:]):
        return Hit.YES
    name = program_named(rule[0])
    grammar = GRAMMARS.get(name)
    best = Hit.NO
    for variant in _variants(grammar, tuple(rule[1:])):
        options = [word for word in variant if is_option(word)]
        operands = [word for word in variant if not is_option(word)]
        hit = min((_has_option(name, option, argv[1:]) for option in options), default=Hit.YES)
        if hit and operands:
            hit = min(hit, _has_operands(grammar, operands, argv))
        best = max(best, hit)
    return best


def _variants(grammar: Grammar | None, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A rule's words, and those that mean the same."""
    yield words
    for group in grammar.same if grammar else ():
        for name in group:
            if words[: len(name)] == name:
                yield from (other + words[len(name) :] for other in group if other != name)


def _has_operands(grammar: Grammar | None, wanted: Sequence[str], argv: Sequence[str]) -> Hit:
    if len(argv) > _MOST_WORDS:
        return Hit.MAYBE
    if grammar is None:
        return max(_followed(Grammar(), wanted, argv, 1, is_known=False), _in_order(wanted, argv[1:]))
    if grammar.targets:
        return _among_targets(grammar, wanted, argv)
    hit = _followed(grammar, wanted, argv, 1, is_known=True)
    if hit:
        return hit
    first = first_command(argv)
    if first and first in grammar.commands:
        return Hit.NO
    if first and grammar.has_own_names:
        return Hit.MAYBE
    return _in_order(wanted, argv[1:])


def _followed(grammar: Grammar, wanted: Sequence[str], argv: Sequence[str], at: int, *, is_known: bool) -> Hit:
    """Whether the wanted words are the next that are no options. Behind the first the others may stand anywhere."""
    if not wanted:
        return Hit.YES
    best = Hit.NO
    for place, sure in _operands(grammar, argv, at):
        if hit := min(sure, _same(grammar if is_known else None, wanted[0], argv[place])):
            rest = _in_order(wanted[1:], argv[place + 1 :])
            if hit is Hit.YES and rest:
                rest = max(rest, _followed(grammar, wanted[1:], argv, place + 1, is_known=is_known))
            best = max(best, min(hit, rest))
        if best:
            break
    return best


def _operands(grammar: Grammar, argv: Sequence[str], at: int) -> Iterator[tuple[int, Hit]]:
    """Where the next word may stand that is no option's value. Behind an option of which it is not known whether it
    takes a value, there are two such places, and the nearer is likelier.
    """
    sure = Hit.YES
    while at < len(argv):
        word = argv[at]
        at += 1
        if not is_option(word) and not (word.startswith("+") and grammar is _CARGO):
            yield at - 1, sure
            return
        if word == "--" or "=" in word or word in grammar.flags or word.startswith("+"):
            continue
        if _takes_next(grammar, word):
            at += 1
            continue
        if at < len(argv) and argv[at] in {"true", "false", "null"}:
            at += 1
        elif at < len(argv) and not is_option(argv[at]):
            yield at, sure
            sure = Hit.MAYBE
            at += 1


def _takes_next(grammar: Grammar, word: str) -> bool:
    """Whether an option surely takes the next word. In a cluster it is the last letter that may."""
    if word in grammar.valued:
        return True
    return not word.startswith("--") and len(word) > 2 and f"-{word[-1]}" in grammar.valued and word[1:].isalpha()


def _among_targets(grammar: Grammar, wanted: Sequence[str], argv: Sequence[str]) -> Hit:
    targets: list[str] = []
    at = 1
    while at < len(argv):
        word = argv[at]
        at += 1
        if is_option(word):
            at += word != "--" and _takes_next(grammar, word)
        else:
            targets.append(word)
    best = Hit.YES
    for one in wanted:
        best = min(best, max((_same_target(grammar, one, target) for target in targets), default=Hit.NO))
    return best


def _same_target(grammar: Grammar, wanted: str, target: str) -> Hit:
    wanted, target = wanted.casefold(), target.casefold()
    if target.removeprefix("./") == wanted or target.rpartition(":")[2] == wanted:
        return Hit.YES
    if wanted in _BETWEEN.split(target) or (grammar.abbreviates and wanted.startswith(target)):
        return Hit.MAYBE
    return Hit.NO


def _same(grammar: Grammar | None, wanted: str, word: str) -> Hit:
    wanted, word = wanted.casefold(), word.casefold()
    if wanted == word:
        return Hit.YES
    if grammar is None:
        return _alike(wanted, word)
    if grammar.abbreviates and wanted.startswith(word) and not any((word,) in group for group in grammar.same):
        return Hit.YES if len(word) > 2 else Hit.MAYBE
    return Hit.NO


def _alike(wanted: str, word: str) -> Hit:
    """Whether a word may be another name of the wanted one, to a program of which nothing is known."""
    if not word:
        return Hit.NO
    if wanted.startswith(word) or (len(wanted) > 2 and word.startswith(wanted)) or wanted in _BETWEEN.split(word):
        return Hit.MAYBE
    return Hit.MAYBE if any(wanted in names and word in names for names in _NAMES_OF_SAME_DEEDS) else Hit.NO


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> Hit:
    """Whether the wanted words are among these in their order, whatever stands between them."""
    at = 0
    for one in wanted:
        folded = one.casefold()
        while at < len(words) and not _alike(folded, words[at].casefold()):
            at += 1
        if at == len(words):
            return Hit.NO
        at += 1
    return Hit.MAYBE


def _has_option(name: str, wanted: str, words: Sequence[str]) -> Hit:
    """Whether an option is given, alone, in a cluster, by its beginning or by its other name."""
    if any(word == wanted or word.startswith(wanted + "=") for word in words):
        return Hit.YES
    if wanted.startswith("--"):
        return max((_is_long(name, wanted, word) for word in words), default=Hit.NO)
    letters = wanted[1:]
    if len(letters) > _LONGEST_CLUSTER:
        return Hit.YES if any(word.partition("=")[0] == "-" + wanted for word in words) else Hit.NO
    return min(max((_is_short(name, letter, word) for word in words), default=Hit.NO) for letter in letters)


def _is_long(name: str, wanted: str, word: str) -> Hit:
    given = word.partition("=")[0]
    if given.startswith("--") and len(given) > 2:
        if wanted.startswith(given):
            return Hit.YES if len(given) > 3 else Hit.MAYBE
        return Hit.MAYBE if given.startswith(wanted) else Hit.NO
    if wanted == "--force" and name == "git" and word.startswith("+"):
        return Hit.YES  # `git push origin +main`
    if not is_option(word):
        return Hit.NO
    shorts = [short for group in _SAME_OPTIONS.get(name, ()) if wanted in group for short in group if len(short) == 2]
    if shorts:
        return Hit.YES if any(short[1] in word[1:] for short in shorts) else Hit.NO
    return Hit.MAYBE if wanted[2] in word[1:] else Hit.NO


def _is_short(name: str, letter: str, word: str) -> Hit:
    if not is_option(word):
        return Hit.YES if letter == "f" and name == "git" and word.startswith("+") else Hit.NO
    group = next((group for group in _SAME_OPTIONS.get(name, ()) if f"-{letter}" in group), ())
    if word.startswith("--"):
        given = word.partition("=")[0]
        if group:
            longs = [long for long in group if long.startswith("--")]
            return Hit.YES if any(long.startswith(given) and len(given) > 2 for long in longs) else Hit.NO
        return Hit.MAYBE if given[2:3] == letter else Hit.NO
    if letter in word[1:] or any(short[1] in word[1:] for short in group if len(short) == 2):
        return Hit.YES if len(word) - 1 <= _LONGEST_CLUSTER or word[1] == letter else Hit.MAYBE
    return Hit.NO

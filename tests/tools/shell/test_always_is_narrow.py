"""What "always" for one command lets through of others, and what wider rules of before do."""

from __future__ import annotations

import pytest

from tests.support.shell_lines import judged, rule

WIDER = [
    ("git submodule", "git submodule foreach 'touch x'"),
    ("git clone http://h/a", "git clone -u 'touch x' ."),
    ("git clone http://h/a", "git clone --template=t http://h/a"),
    ("git clone http://h/a", "git clone -c core.sshCommand=x h:a"),
    ("git fetch origin", "git fetch 'ext::sh -c x'"),
    ("git bisect start", "git bisect run x"),
    ("git rebase main", "git rebase -x id main"),
    ("make test", "make test PY='touch x;echo'"),
    ("make test", "make test deploy"),
    ("make", "make SHELL=./x"),
    ("sqlite3 a", "sqlite3 a '.shell touch x'"),
    ("sqlite3 a", "echo '.shell touch x' | sqlite3 a"),
    ("sqlite3 a", "sqlite3 a < x.sql"),
    ("sqlite3 a", "(sqlite3 a) < x.sql"),
    ("vim a", "vim a -c '!touch x'"),
    ("psql db", "psql db -c '\\! touch x'"),
    ("less a", "less a '+!touch x'"),
    ("ed a", "echo '!touch x' | ed a"),
    ("mysql db", "mysql db -e 'system touch x'"),
    ("svn status", "svn status --config-option config:helpers:diff-cmd=x"),
    ("hg status", "hg status --config alias.status='!touch x'"),
    ("terraform plan", "terraform plan -var x=y"),
    ("eslint src", "eslint src --rulesdir x"),
    ("pytest tests", "pytest -p evil"),
    ("jest", "jest --config x"),
    ("mvn test", "mvn test exec:exec -Dexec.executable=x"),
    ("gradle test", "gradle test -PmainClass=x"),
    ("gadget a", "gadget a --plugin=./x"),
    ("gadget a", "gadget a --exec x"),
]
NARROW = [
    ("git checkout topic", "git checkout -- ."),
    ("git stash list", "git stash clear"),
    ("git push x", "git push --force"),
    ("git push x", "git push x --force"),
    ("npm start", "npm start -- --config=x"),
    ("npm run build", "npm run build x"),
    ("gadget a", "gadget a b"),
    ("gadget", "echo x | gadget"),
    ("cargo build", "cargo build --config x"),
]


@pytest.mark.parametrize(("once", "later"), WIDER + NARROW)
def test_what_always_keeps_lets_through_the_same_words_alone(once: str, later: str) -> None:
    kept = judged(once).suggested
    assert kept is not None
    assert judged(later, kept).decision == "ask"
    assert judged(once, kept).decision == "allow"


@pytest.mark.parametrize(("once", "later"), WIDER)
def test_a_wider_rule_of_before_opens_no_word_by_which_something_runs(once: str, later: str) -> None:
    assert judged(later, rule(*once.split()[:2])).decision == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "make test",
        "make test -j4",
        "make test VERBOSE=1",
        "npm test -- --verbose",
        "git push x",
        "git commit -m x --amend --no-edit",
        "git add -A src",
        "pytest -q tests",
        "docs build --no-pager",
    ],
)
def test_a_rule_by_hand_lets_through_what_it_names(line: str) -> None:
    assert judged(line, rule(*line.split()[: 1 if line.startswith("pytest") else 2])).decision == "allow"


@pytest.mark.parametrize(
    ("line", "kind", "others"),
    [
        ("git commit -m x", ("git", "commit"), ("git commit -qam y a.py", "git commit -F a.txt")),
        ("git add a.py", ("git", "add"), ("git add -A", "git add -- b.py")),
        ("mkdir a", ("mkdir",), ("mkdir -p b/c",)),
        ("touch a", ("touch",), ("touch -c b",)),
        ("ruff check src", ("ruff", "check"), ("ruff check --fix a.py",)),
    ],
)
def test_a_kind_is_offered_where_it_runs_nothing_that_its_words_name(
    line: str, kind: tuple[str, ...], others: tuple[str, ...]
) -> None:
    assert judged(line).suggested == rule(*kind)
    for other in others:
        assert judged(other, rule(*kind)).decision == "allow", other


@pytest.mark.parametrize(
    "line",
    ["git add -p", "git add --inter", "git commit -e", "git commit -t x", "git commit -mx -F../x", "git commit -mform -F/etc/x", "mkdir -m 777 a", "mkdir /etc/a", "touch -r /etc/x a", "ruff check --config x"],
)  # fmt: skip
def test_a_kind_is_opened_by_no_option_that_is_not_known(line: str) -> None:
    words = line.split()
    assert judged(line, rule(*words[: 1 if words[0] in {"mkdir", "touch"} else 2])).decision == "ask"


def test_an_exact_rule_that_forbids_forbids_what_begins_so() -> None:
    assert judged("npm test x", rule("npm", "test", decision="deny", exact=True)).decision == "deny"


def test_words_that_always_was_given_for_are_kept_as_they_are() -> None:
    assert judged("make check").suggested == rule("make", "check", exact=True)
    assert judged("make check", rule("make", "check", exact=True)).decision == "allow"
    assert judged("make check -k", rule("make", "check", exact=True)).decision == "ask"


@pytest.mark.parametrize(
    ("by_hand", "line"),
    [
        ("make", "make -sf other"),
        ("make", "make -kf other"),
        ("make test", "make test -j4 -skf other"),
        ("pytest", "pytest -qp evil"),
        ("pytest", "pytest -xvc other.ini"),
        ("curl", "curl -qK other"),
        ("curl", "curl -sSK other http://x"),
        ("scp", "scp -qrS ./x a b:c"),
        ("uv run pytest", "uv run pytest -p evil"),
        ("poetry run pytest", "poetry run pytest -qp evil"),
        ("uv run make test", "uv run make test -sf other"),
        ("node --test", "node --test --import ./x"),
        ("phpunit", "phpunit --bootstrap x.php"),
        ("deno test", "deno test --import-map=x"),
    ],
)
def test_letters_that_stand_together_and_what_a_starter_runs_open_no_more(by_hand: str, line: str) -> None:
    assert judged(line, rule(*by_hand.split())).decision == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "make -j4 -sk test",
        "make -skj8 test",
        "pytest -xvs -nauto -rA -kcopy tests",
        "pytest -qq -x --tb=short",
        "curl -fsSLO http://x/K",
        "curl -sSXPOST -HKey:1 http://x/c",
        "wget -qOfile.e http://x",
        "uv run pytest -xvs tests",
        "cmake -DCMAKE_PREFIX_PATH=x .",
        "ninja -vj4",
    ],
)
def test_letters_and_values_of_every_day_are_not_asked_about(line: str) -> None:
    words = ("uv", "run", "pytest") if line.startswith("uv") else (line.split()[0],)
    named = judged(line, rule(*words)).reason
    assert "may run what its words say" not in named

"""What was written in this turn is not run unasked, wherever a command is led to it."""

from __future__ import annotations

import pytest

from tests.support.shell_lines import ROOT, ToldFacts, judged, rule

RULES = tuple(
    rule(*words.split())
    for words in ("make", "npm test", "pnpm test", "pytest", "cargo test", "go test", "node a.js", "tox", "eslint", "python3 -m pytest", "docs", "curl", "ruff", "npm run build", "git commit")
)  # fmt: skip


def after_writing(line: str, *written: str) -> str:
    files = ToldFacts(
        fresh=frozenset(f"{ROOT}/{name}" for name in written), folders=frozenset((ROOT, f"{ROOT}/sub", f"{ROOT}/src"))
    )
    return judged(line, *RULES, files=files).decision


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("make -C sub", "sub/Makefile"),
        ("make test --directory=sub", "sub/Makefile"),
        ("make -Csub test", "sub/GNUmakefile"),
        ("make test", "deep/down/Makefile"),
        ("npm test --prefix sub", "sub/package.json"),
        ("npm test -C sub", "sub/package.json"),
        ("npm test -w a", "packages/a/package.json"),
        ("pnpm test -r", "packages/a/package.json"),
        ("pytest -p plug", "plug.py"),
        ("pytest -pplug", "src/plug.py"),
        ("pytest -p pkg.plug", "src/pkg/plug.py"),
        ("python3 -m pytest -p plug", "plug.py"),
        ("python3 -m pytest sub", "sub/conftest.py"),
        ("make -f x.mk", "x.mk"),
        ("cargo test --manifest-path sub/Cargo.toml", "sub/Cargo.toml"),
        ("go test -C sub", "sub/go.mod"),
        ("node a.js --require ./hook", "hook.js"),
        ("tox -c x.ini", "x.ini"),
        ("tox -c sub", "sub/tox.ini"),
        ("docs --root sub", "sub/package.json"),
        ("docs --theme=sub/x", "sub/x.js"),
        ("docs -t sub/x.rb", "sub/x.rb"),
        ("docs -tsub/x.rb", "sub/x.rb"),
        ("docs --theme pkg", "pkg/__init__.py"),
    ],
)
def test_a_word_that_leads_to_a_file_of_this_turn_is_asked_about(line: str, written: str) -> None:
    assert after_writing(line, written) == "ask"


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("pytest -q tests/test_a.py", "tests/test_a.py"),
        ("pytest tests/test_a.py -x -k test_a", "tests/test_a.py"),
        ("eslint --fix src/a.ts", "src/a.ts"),
        ("ruff --fix a.py", "a.py"),
        ("curl -d @body.json http://h", "body.json"),
        ("git commit -m a.py", "a.py"),
        ("npm test", "a.py"),
        ("npm run build", "src/index.ts"),
        ("make -j4 test", "src/a.c"),
        ("docs a.txt", "a.txt"),
    ],
)
def test_a_file_of_this_turn_that_is_only_worked_on_is_not(line: str, written: str) -> None:
    assert after_writing(line, written) == "allow"


def test_what_the_line_itself_writes_counts_too() -> None:
    assert judged("touch sub/Makefile && make -C sub", rule("make"), rule("touch")).decision == "ask"

"""Commands that only read run unasked on a real disk, and what would make them more than that is seen."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from gemini_companion.adapters.processes import folders
from gemini_companion.tools.shell.scan import scan
from gemini_companion.tools.shell.script import Command
from gemini_companion.tools.shell.verdict import Sought
from tests.support.patience import PATIENCE
from tests.support.reading_desk import ReadingDesk
from tests.support.shell_lines import rule


@pytest.fixture
def desk(tmp_path: Path) -> ReadingDesk:
    return ReadingDesk(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "grep -rn X src",
        "grep -rn X src docs README.md",
        "grep -r --include='*.py' X .",
        "grep -rn --include=*.py X",
        "grep -rn --include=*.py --include=*.md X .",
        "grep -rn --exclude-dir=web --exclude-dir=hidden X .",
        "cd src && grep -rn X .",
        "grep -rn X src | head -20 | wc -l",
        "grep -rlE 'a|b' src 2>/dev/null | sort",
        "rg X src",
        "rg -n X src",
        "rg -g '*.py' X",
        "rg --files src",
        "git grep -n X -- src",
        "find . -name '*.py' -printf '%p\\n'",
        "find src -newermt yesterday",
        "cat src/*.py",
        "wc -l src/*.py docs/*",
        "head -n 3 */*.md",
        "ls -la src/?.py *.md",
        "ls no*thing",
        "tree -L 2 src",
        "git status",
        "git diff --stat",
        "git log --oneline -5 -- src",
        "python3 --version",
        "git --version && node --version",
    ],
)
def test_a_command_that_only_reads_in_the_workspace_runs_unasked_without_any_rule(desk: ReadingDesk, line: str) -> None:
    verdict = desk.judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("grep -rn X .", "hidden/no.txt|web/.env"),
        ("grep -rn X web", "web/.env"),
        ("grep -rn X", "hidden/no.txt|web/.env"),
        ("grep X -rn -- web", "web/.env"),
        ("grep -rn -e --include=*.py web", "web/.env"),
        ("grep -rn --include=*.py --exclude=a.py X web", "web/.env"),
        ("grep -rn --include='.e*' X web", "web/.env"),
        ("grep -rn --include='[.]env' X web", "web/.env"),
        ("grep -rn X hidden", "hidden/no.txt"),
        ("grep -rn X hidden/../web", "web/.env"),
        ("grep -Rn X links", "link"),
        ("grep -rn X link", "outside"),
        ("grep -rn X ../other", "outside"),
        ("grep -f /etc/shadow src/a.py", "outside"),
        ("grep -rf /etc/shadow src", "outside"),
        ("rg X", "hidden/no.txt"),
        ("rg --sort path X", "hidden/no.txt"),
        ("rg X hidden", "hidden/no.txt"),
        ("rg -g '.env' X web", "web/.env"),
        ("rg --hidden X web", "--hidden"),
        ("rg -uuu X web", "-u"),
        ("rg -L X src", "-L"),
        ("rg -z X src", "-z"),
        ("rg --pre ./x X src", "--pre"),
        ("rg --pre=./x X src", "--pre"),
        ("rg --hostname-bin=./x X src", "--hostname-bin"),
        ("rg --search-zip X src", "--search-zip"),
        ("rg -f /etc/shadow src", "-f"),
        ("rg --files /etc", "outside"),
        ("rg --ignore-file=/etc/shadow X src", "--ignore-file"),
        ("git grep X", "hidden/no.txt|web/.env"),
        ("git grep -O./x X src", "-O"),
        ("git grep --no-index X /etc", "--no-index"),
        ("git -c core.pager=./x log", "git"),
        ("git diff --output=src/a.py", "--output"),
        ("git log --output src/a.py", "--output"),
        ("git log -L 1,5:web/.env", "web/.env"),
        ("git log -L1,5:web/.env", "web/.env"),
        ("git log -L :x:web/id_rsa", "web/id_rsa"),
        ("git show :0:web/id_rsa", "web/id_rsa"),
        ("ls -LR links", "links"),
        ("ls -L --recursive links", "links"),
        ("git diff --ext-diff", "--ext-diff"),
        ("git show --textconv", "--textconv"),
        ("find . -fprintf src/a.py x", "-fprintf"),
        ("find . -fprint src/a.py", "-fprint"),
        ("find src -delete", "-delete"),
        ("find src -exec cat {} +", "braces"),
        ("find src -execdir id ';'", "-execdir"),
        ("sort -o src/a.py src/b.py", "-o"),
        ("sort --output=src/a.py src/b.py", "--output"),
        ("sort --compress-program=./x src/a.py", "--compress-program"),
        ("sort -T /etc src/a.py", "-T"),
        ("tree -o src/a.py", "-o"),
        ("tree -R -H . src", "-R"),
        ("tree --fromfile /etc/passwd", "--fromfile"),
        ("uniq src/a.py src/b.py", "write"),
        ("cat .*", "pattern"),
        ("cat web/.e*", "pattern"),
        ("cat hidden/*", "forbids"),
        ("cat link/*", "outside"),
        ("cat ../*/key.txt", "outside"),
        ("cat /etc/pass*", "outside"),
        ("cat src/[ab].py", "pattern"),
        ("cd dashes && cat *", "pattern"),
        ("echo x >/dev/null; make; cat src/*.py", "pattern"),
        ("make | cat src/*.py", "pattern"),
        ("python3 --version x", "rule"),
        ("src/a.py --version", "name"),
        ("od /etc/shadow", "outside"),
        ("column -t /etc/passwd", "outside"),
        ("paste src/a.py ~/other/key.txt", "outside"),
    ],
)
def test_what_would_write_run_or_show_a_secret_is_still_asked_about(desk: ReadingDesk, line: str, why: str) -> None:
    (desk.work / "link").symlink_to(desk.home / "other")
    (desk.work / "links").mkdir()
    (desk.work / "links" / "out").symlink_to(desk.home / "other" / "key.txt")
    (desk.work / "dashes").mkdir()
    (desk.work / "dashes" / "--help").touch()
    verdict = desk.judged(line)
    assert verdict.decision in {"ask", "deny"}
    said = " ".join((verdict.reason, *(part.reason for part in verdict.parts)))
    assert any(word in said for word in why.split("|")), said


def test_a_rule_for_a_search_does_not_open_secrets_and_what_is_forbidden(desk: ReadingDesk) -> None:
    for line in ("grep -rn X web", "grep -rn X hidden", "grep -rn X ."):
        assert desk.judged(line, rule("grep"), rule("grep", "-rn")).decision != "allow", line


def test_a_folder_of_too_many_files_is_asked_about(desk: ReadingDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_BELOW", 2)
    assert "too many" in desk.judged("grep -rn X src").reason


def test_names_that_the_line_may_have_made_are_not_foreseen(desk: ReadingDesk) -> None:
    touch = rule("touch")
    assert desk.judged("touch src/new.py", touch).decision == "allow"
    assert desk.judged("touch src/new.py; cat src/*.py", touch).decision == "ask"
    assert desk.judged("cat src/*.py; touch src/new.py", touch).decision == "allow"


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_pattern_stands_for_the_same_names_as_in_bash(tmp_path: Path) -> None:
    chance = random.Random(11)
    signs = ["a", "b", ".", "*", "?", "/", "é", "'*'", "\\?", " ".join(("'a", "b'")), '"?"', "\\*", "c"]
    for name in ("a", "b", "ab", "a.b", ".a", "é", "a b", "*", "?", "a/b", "a/.b", "b/a/c", "b/ab", "c*/a", "ca"):
        path = tmp_path / name
        if path.is_file():
            path.unlink()
        for above in reversed(path.parents[: len(path.relative_to(tmp_path).parts) - 1]):
            if above.is_file():
                above.unlink()
            above.mkdir(exist_ok=True)
        if not path.exists():
            path.touch()
    lines: list[str] = []
    foreseen: list[tuple[str, ...]] = []
    while len(lines) < 1_500:
        word = "".join(chance.choices(signs, k=chance.randint(1, 5)))
        if word.startswith("/") or "//" in word:  # bash makes one of two, and means the same
            continue
        line = f"echo {word}"
        body = scan(line).body
        assert isinstance(body, Command)
        glob = body.words[1].glob
        names = folders.names_for(glob, str(tmp_path)) if glob else None
        if names is not None:
            lines.append(line)
            foreseen.append(names or (body.words[1].value,))
    script = "\n".join(line.replace("echo", "printf '%s\\1'", 1) + "; echo" for line in lines)
    run = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=True)
    got = [tuple(sorted(each.split("\1")[:-1])) for each in run.stdout.decode().split("\n")[:-1]]
    assert [(line, tuple(sorted(names))) for line, names in zip(lines, foreseen, strict=True)] == list(
        zip(lines, got, strict=True)
    )


def test_what_is_sought_is_no_more_than_the_program_reads(tmp_path: Path) -> None:
    for name in ("a.py", "b.txt", ".c.py", "sub/d.py", "skip/e.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.py")
    found: list[str] = []

    def see(path: str) -> str:
        found.append(os.path.relpath(path, tmp_path))
        return ""

    sought = Sought(included=("*.py",), without_folders=("skip",), hidden=False)
    assert folders.trouble_below(str(tmp_path), sought, see) == ""
    assert sorted(found) == ["a.py", "sub/d.py"]

"""A secret is masked where it is recognised. What shows it in another form does not run unasked over a file with one."""

from __future__ import annotations

import random
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.processes.judging import DiskJudge
from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.shell.commandbook import without_secrets
from gemini_companion.tools.shell.options import looked_at
from gemini_companion.tools.shell.programs import READERS
from gemini_companion.tools.shell.script import NotPlain
from gemini_companion.tools.shell.verdict import LineVerdict
from tests.support.patience import PATIENCE
from tests.support.shell_lines import rule

KEY = "AKIA" + "Q3EGR7XJ2LMN5PVT"
TOKEN = "ghp_" + "".join(random.Random(4).choices(string.ascii_letters + string.digits, k=36))
_BODY = ["".join(random.Random(n).choices(string.ascii_letters + string.digits, k=64)) for n in range(12)]
PRIVATE = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *_BODY, "-----END RSA PRIVATE KEY-----"])
SETTINGS = f"name = 'x'\nkey = '{KEY}'\ncolour = 'red'\n"


def _found(name: str) -> str:
    return shutil.which(name) or f"/usr/bin/{name}"


class Desk:
    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.work = self.home / "work"
        for name, text in {
            "settings.py": SETTINGS,
            "deploy.yaml": f"name: x\nkey: |\n{PRIVATE}\nother: y\n",
            "src/clean.py": "one: two\nthree: four\n",
            "conf/also.py": SETTINGS,
            "table.csv": "a,b\n" * 1000,
        }.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text(text)
        (self.work / "wide.txt").write_bytes(SETTINGS.encode("utf-16-le"))
        (self.work / "large.log").write_bytes(b"a line\n" * 700_000)
        (self.work / "picture.bin").write_bytes(bytes(range(256)) * 100)
        self.judge = DiskJudge(home=str(self.home), find_program=_found, finders=(Betterleaks(),))

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=a@b.c")
        subprocess.run(["git", *who, *words], cwd=self.work, check=True, capture_output=True)

    def judged(self, line: str, *rules: ToolRule) -> LineVerdict:
        root = str(self.work)
        return self.judge(
            line,
            cwd=root,
            roots=(root,),
            rules=rules,
            of_file=lambda touched: "allow" if touched.how == "read" or touched.path.endswith(".txt") else "ask",
        )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    desk = Desk(tmp_path_factory.mktemp("home"))
    desk.git("init", "-q")
    (desk.work / "gone.py").write_text(SETTINGS)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "one")
    (desk.work / "gone.py").write_text("nothing\n")
    desk.git("commit", "-qam", "two")
    desk.git("remote", "add", "origin", f"https://me:{TOKEN}@example.org/x.git")
    (desk.work / "src" / "clean.py").write_text("one: 2\nthree: four\n")
    return desk


RESHAPED = """
rev settings.py
rev < settings.py
cat settings.py | rev
cat settings.py | cat | rev | cat
cat settings.py src/clean.py | tr a-z A-Z
(cat src/clean.py; cat settings.py) | rev
(rev) < settings.py
(cat settings.py | head -5) | rev
cat src/clean.py && rev settings.py
timeout 5 rev settings.py
tr a b < settings.py
od -c settings.py
od -An -c settings.py
hexdump -C settings.py
fold -w1 settings.py
cut -c1-10 settings.py
cut -d= -f2 settings.py
head -c 30 settings.py
tail -c 30 settings.py
sed 's/./& /g' settings.py
sed -n 's/A/B/p' settings.py
grep -o . settings.py
grep -on 'AKIA.*' settings.py
grep --only-matching . settings.py
grep --color=always -e A -e Q -e 7 settings.py
rg -o . settings.py
rg -r x A settings.py
rg -r x A
rg -o .
rg --json key
rg -p A
grep -rho . conf
grep -rn key . | rev
grep -rn key conf | cut -d: -f3
paste -d x settings.py settings.py
column -t -s A settings.py
cmp -l settings.py src/clean.py
diff -y settings.py src/clean.py
tac -s A settings.py
cat -A settings.py
cat -v wide.txt
cat wide.txt
rev settings.py > out.txt
rev settings.py > out.txt | wc -l
cat settings.py > copy.txt && rev copy.txt
rev large.log
cat large.log | cut -c1-5
git show HEAD:settings.py | rev
git show HEAD | rev
git log -p | rev
git log -p | cut -c2-
git diff --word-diff HEAD~0 | tr a b; git show --word-diff
git grep --only-matching key
git grep key | rev
git blame settings.py | rev
git blame HEAD~1 -- gone.py | rev
git show HEAD~1:gone.py | rev
git remote -v | rev
git remote -v | cut -f2
head -20 deploy.yaml
tail -n +3 deploy.yaml
sed -n 3,9p deploy.yaml
grep -n '' deploy.yaml
cat -n deploy.yaml
sort deploy.yaml
tac deploy.yaml
cat deploy.yaml | tail -n +4
git show HEAD:deploy.yaml | tail -n +4
""".strip().splitlines()
AS_IT_IS = """
cat settings.py
cat settings.py deploy.yaml
cat -n settings.py
cat < settings.py
head -5 settings.py
tail -n 2 settings.py
sed -n 1,2p settings.py
grep -n key settings.py
grep --color=never -n key settings.py
grep -einfo settings.py
grep -rn key .
rg key
rg -n key conf
sort settings.py | uniq -c
diff settings.py src/clean.py
cat deploy.yaml
cat settings.py | head -3
cat settings.py | grep key | sort
wc -l settings.py
cat settings.py | rev | wc -l
cut -d= -f2 settings.py | sort | wc -l
grep -o A settings.py | wc -l
grep -c key settings.py
md5sum settings.py
file settings.py
ls -l settings.py
ls | rev
find . -name '*.py' | cut -d/ -f2 | sort -u
rev src/clean.py
cut -d: -f1 src/clean.py
grep -o one src/clean.py
grep -rn one src | cut -d: -f1 | sort -u
sed 's/one/two/' src/clean.py
cut -d, -f1 table.csv | sort | uniq -c
od -c picture.bin | head
hexdump -C picture.bin | head -3
grep -n x large.log
head -5 large.log
git show HEAD:settings.py
git diff | sed -n 1,20p
git diff | cut -c2-
git log --oneline | cut -c1-7
git log --format=%s | tr a-z A-Z
git status --short | cut -c4-
git remote -v
git branch -a | cut -c3-
git diff --stat | cut -d'|' -f1
""".strip().splitlines()


@pytest.mark.process
@pytest.mark.parametrize("line", RESHAPED)
def test_another_form_of_a_secret_is_asked_about_and_why(desk: Desk, line: str) -> None:
    verdict = desk.judged(line)
    assert verdict.decision == "ask", verdict
    assert "secret" in verdict.reason


@pytest.mark.process
@pytest.mark.parametrize("line", AS_IT_IS)
def test_what_shows_lines_as_they_are_or_no_secret_runs_unasked(desk: Desk, line: str) -> None:
    verdict = desk.judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.process
@pytest.mark.parametrize("line", [line for line in AS_IT_IS if line not in {"rg key"}])
def test_no_secret_is_in_what_bash_puts_out_for_a_line_that_runs_unasked(desk: Desk, line: str) -> None:
    if line.startswith("rg") and shutil.which("rg") is None:
        pytest.skip("no ripgrep here")
    done = subprocess.run(["bash", "-c", line], cwd=desk.work, capture_output=True, check=False, timeout=PATIENCE)
    shown = without_secrets(done.stdout.decode("utf-8", "replace"))
    assert KEY not in shown
    assert _BODY[5] not in shown or "deploy.yaml:" in shown  # found below a folder: lines are not put together


@pytest.mark.parametrize(
    ("by_hand", "line"),
    [
        ("xxd", "xxd settings.py"),
        ("xxd", "cat settings.py | xxd"),
        ("base32", "base32 settings.py"),
        ("gzip -c", "gzip -c settings.py"),
        ("openssl enc", "openssl enc -in settings.py"),
        ("jq", "jq -r colour < settings.py"),
        ("python3 show.py", "python3 show.py settings.py"),
        ("python3 -m", "python3 -m base64 settings.py"),
        ("python3 show.py", "cat settings.py | python3 show.py"),
        ("rev", "rev settings.py"),
        ("go run", "go run show.go settings.py"),
        ("npx show", "npx show settings.py"),
        ("uv run show", "uv run show settings.py"),
        ("gadget", "gadget --in=settings.py"),
    ],
)
@pytest.mark.process
def test_a_rule_for_a_program_is_no_word_about_a_file_with_a_secret(desk: Desk, by_hand: str, line: str) -> None:
    rules = (rule(*by_hand.split()), rule("cat"))
    assert desk.judged(line, *rules).decision == "ask"
    assert "secret" in desk.judged(line, *rules).reason
    other = line.replace("settings.py", "src/clean.py")
    if "enc" not in line and "--in" not in line:
        assert desk.judged(other, *rules).decision == "allow", desk.judged(other, *rules)


@pytest.mark.process
def test_a_rule_that_names_the_file_lets_it_be_shown(desk: Desk) -> None:
    assert desk.judged("rev settings.py", rule("rev", "settings.py")).decision == "allow"
    assert desk.judged("rev settings.py", rule("rev", "settings.py", exact=True)).decision == "allow"
    kept = desk.judged("rev settings.py").suggested
    assert kept == rule("rev", "settings.py", exact=True)


@pytest.mark.parametrize(
    ("by_hand", "line"),
    [
        ("git add", "git add settings.py"),
        ("cp", "cp settings.py other.txt"),
        ("pytest", "pytest settings.py"),
        ("python3 -m pytest", "python3 -m pytest settings.py"),
        ("uv run pytest", "uv run pytest settings.py"),
        ("npx vitest", "npx vitest run settings.py"),
        ("npx tsc", "npx tsc settings.py"),
        ("node --test", "node --test settings.py"),
        ("npm test", "npm test settings.py"),
        ("ruff", "ruff check settings.py"),
        ("make", "make settings.py"),
    ],
)
@pytest.mark.process
def test_what_moves_builds_or_tests_a_file_is_not_asked_about(desk: Desk, by_hand: str, line: str) -> None:
    assert "secret" not in desk.judged(line, rule(*by_hand.split())).reason


@pytest.mark.process
def test_what_a_file_holds_is_looked_at_again_once_it_is_changed(desk: Desk) -> None:
    path = desk.work / "changing.txt"
    path.write_text("plain\n")
    assert desk.judged("rev changing.txt").decision == "allow"
    path.write_text(SETTINGS)
    assert desk.judged("rev changing.txt").decision == "ask"
    path.unlink()


@given(st.sampled_from(sorted(READERS)), st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", max_size=3))
def test_a_program_shows_lines_alone_with_no_option_of_another_form(program: str, letters: str) -> None:
    reader = READERS[program]
    words = [f"-{letters}", "x"] if letters else ["x"]
    try:
        looks = looked_at(reader, program, words)
    except NotPlain:
        return
    if looks.shows in {"whole", "lines"}:
        assert reader.shows in {"whole", "lines"} or program == "sed"
        valued = next((at for at, one in enumerate(letters) if one in reader.valued), len(letters))
        assert not {*letters[: valued + 1]} & reader.forms

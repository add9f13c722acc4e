from __future__ import annotations

import pytest

from tests.support.shell_lines import HOME, ROOT, ToldFacts, judged

ALLOWED = [
    "ls -la src",
    "git status && ls",
    "echo '$(id)'",
    "cat a.py | sort",
    "ls >/dev/null 2>&1",
    "timeout 60 npm test",
    "cd src && git status",
    "cat <<'E'\n$(id)\nE",
]
ASKED = [
    "ls; rm x",
    "ls & rm x",
    "ls\nrm x",
    "echo $(id)",
    'echo "${x:-`id`}"',
    'x=1; echo "${x/`id`/}"',
    "cat <<-E\n\t$(id)\n\tE",
    "cat <<E\n`id`\nE",
    "printf -v 'a[$(id)]' x",
    "test -v 'a[$(id)]'",
    "[[ -v 'a[$(id)]' ]]",
    "read 'a[$(id)]'",
    "declare 'a[$(id)]=1'",
    "x='a[$(id)]'; echo $((x))",
    'echo "${x@P}"',
    'echo "${!x}"',
    "PATH=.:$PATH ls",
    "LD_PRELOAD=./x ls",
    "BASH_ENV=./x bash -c :",
    "GIT_PAGER=./x git log",
    "ls() { id; }; ls",
    "alias ls=id",
    "hash -p ./x ls; ls",
    "trap id EXIT; ls",
    "coproc id",
    "env -S 'id'",
    "ls | xargs rm",
    'find . -e"x"ec id \\;',
    "sed -n '1e id' f",
    "sort -o f g",
    "sort --compress-program=./x f",
    "git -c alias.x='!id' x",
    "git log --output=f",
    "git -C /other status",
    "cat .e*",
    "cat {a,/etc/passwd}",
    "cat ~root/.x",
    "cat link-to-outside",
    "echo x >> ~/.bashrc",
    "echo x >/dev/tcp/h/1",
    "$X y",
    "\\rm x",
    'r"m" x',
    "$'\\x72m' x",
    "ls\u00a0-l",
    'x "true &&" then id',
    "echo 'not closed",
]


@pytest.mark.parametrize("line", ALLOWED)
def test_a_plain_line_of_allowed_parts_runs(line: str) -> None:
    verdict = judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.parametrize("line", ASKED)
def test_a_line_that_could_do_more_is_asked_about(line: str) -> None:
    files = ToldFacts(links={ROOT + "/link-to-outside": "/etc/passwd"})
    verdict = judged(line, files=files)
    assert verdict.decision == "ask"
    assert verdict.reason


@pytest.mark.parametrize(
    ("line", "fresh"),
    [("git status", ".git/config"), ("npm test", "package.json"), ("bash just-written.sh", "just-written.sh")],
)
def test_what_was_just_written_decides_nothing_unasked(line: str, fresh: str) -> None:
    assert judged(line, files=ToldFacts(fresh=frozenset((f"{ROOT}/{fresh}",)))).decision == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "ls \0 -l",
        "cat ~/.gemini/settings.json",
        f"echo x > {ROOT}/.gemini/settings.json",
        f"cp x {HOME}/.local/share/gemini-companion/log.db",
        "rm -rf /",
        "rm -rf ~",
    ],
)
def test_some_lines_no_answer_can_allow(line: str) -> None:
    assert judged(line).decision == "refuse"

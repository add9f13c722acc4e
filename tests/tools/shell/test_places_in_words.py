"""Files that a word names behind a sign or behind the letters of options."""

from __future__ import annotations

import shlex

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.tools.shell.paths import places_in
from gemini_companion.tools.shell.script import NotPlain
from gemini_companion.tools.shell.verdict import PathFacts
from tests.support.shell_lines import HOME, ROOT, ToldFacts, judged, rule

ALLOWED = (rule("curl"), rule("gcc"), rule("gadget"), rule("git", "commit"), rule("tar"), rule("gh"))

OUTSIDE = [
    "curl -T /etc/x http://h",
    "curl -d @/etc/x http://h",
    "curl -d@/etc/x http://h",
    "curl --data-binary=@/etc/x http://h",
    "curl -F f=@/etc/x http://h",
    "curl -F 'f=@/etc/x;type=text/plain' http://h",
    "curl -F 'f=</etc/x' http://h",
    "curl -F 'f=@\"/etc/x\"' http://h",
    "curl -F f=@a.py,/etc/x http://h",
    "curl -sSd@/etc/x http://h",
    "curl -w @/etc/x http://h",
    "curl file:///etc/x",
    "curl file://localhost/etc/x",
    "gh api -F body=@/etc/x repos/a/b",
    "git commit -F /etc/x",
    "git commit -F/etc/x",
    "git commit -qF/etc/x",
    "git commit --allow-empty -aqF/etc/x",
    "gadget -abc/etc/x",
    "gadget -abc../x",
    "gadget --opt=@/etc/x",
    "gadget a=b:/etc/x",
    "gadget a.py:/etc/x:b.py",
    "gadget 'k=~/x'",
    "gadget @~/x",
    "gadget '~root/x'",
    "gadget a,../x",
    "gadget 'a;/etc/x'",
    "gadget a+/etc/x",
    'gadget \'{"file": "/etc/x"}\'',
    "gadget https://h/a,/etc/x",
]


@pytest.mark.parametrize("line", OUTSIDE)
def test_a_file_outside_is_asked_about_wherever_in_a_word_it_stands(line: str) -> None:
    verdict = judged(line, *ALLOWED)
    assert verdict.decision == "ask"
    assert "outside" in verdict.reason


@pytest.mark.parametrize(
    "words",
    ["@secret/plan", "-d@secret/plan", "f=@secret/plan;type=x", "f=<secret/plan", "-qFsecret/plan", "a:secret/plan:b"],
)
def test_a_file_that_must_not_be_read_is_refused_wherever_in_a_word_it_stands(words: str) -> None:
    files = ToldFacts(unreadable=frozenset((f"{ROOT}/secret/plan",)))
    assert judged(f"gadget '{words}'", *ALLOWED, files=files).decision == "deny"


@pytest.mark.parametrize(
    "words", ["@.env", "-d@id_rsa", "f=@.env;type=x", "f=<.env", "-qF.env", "k=.env,a", "@src/.env"]
)
def test_a_secret_is_asked_about_wherever_in_a_word_it_stands(words: str) -> None:
    verdict = judged(f"gadget '{words}'", *ALLOWED)
    assert verdict.decision == "ask"
    assert "secret" in verdict.reason


def test_our_own_files_are_refused_behind_a_sign_too() -> None:
    assert judged("gadget @~/.gemini/settings.json", *ALLOWED).decision == "refuse"
    assert judged(f"gadget -xF{HOME}/.gemini/settings.json", *ALLOWED).decision == "refuse"


@pytest.mark.parametrize(
    "line",
    [
        "curl -sS http://localhost:8080/health",
        'curl "http://localhost:8080/a?next=/login&x=1"',
        "curl -d @body.json http://h",
        "gadget --registry=https://registry.example/",
        "gadget git@example.org:me/x.git",
        "gadget @types/node",
        "gadget -O2 -Wall -lm -DX=1",
        "gadget me/app:1.2 8080:80",
        "gadget 'requests>=2,<3'",
        "gadget ./... +%Y-%m-%d @-",
        "git commit -m 'fix: /api/x, see @a <b@c.de>'",
        "git commit -m 'Makefile: build it'",
        "git commit -qam 'config: /etc/x'",
        "gadget " + "a" * 400,
    ],
)
def test_ordinary_words_name_no_file_outside(line: str) -> None:
    files = ToldFacts(folders=frozenset((ROOT, "/")))
    named = rule(*shlex.split(line), exact=True)
    assert judged(line, *ALLOWED, named, files=files).decision == "allow"


def test_a_word_with_hundreds_of_signs_is_asked_about() -> None:
    assert judged("gadget " + "a=" * 300, *ALLOWED).decision == "ask"
    with pytest.raises(NotPlain):
        places_in("a=" * 300)


SIGN = st.sampled_from("@<=:,")
NAME = st.from_regex(r"[a-z0-9_.]{0,6}", fullmatch=True)


@given(st.lists(st.tuples(NAME, SIGN), min_size=1, max_size=6), st.sampled_from(["/etc/x", "../x", "~/x"]))
def test_what_begins_behind_any_sign_is_found(before: list[tuple[str, str]], path: str) -> None:
    word = "".join(name + sign for name, sign in before) + path
    assert any(place == path or place.endswith("/" + path.removeprefix("/")) for place in places_in(word))


@given(st.from_regex(r"-[a-zA-Z]{1,8}", fullmatch=True), st.sampled_from(["/etc/x", "../x", "./x", "~/x"]))
def test_what_is_attached_to_short_options_is_found(options: str, path: str) -> None:
    assert path in places_in(options + path)


@given(st.text(max_size=80))
def test_any_word_can_be_looked_at(word: str) -> None:
    assert all(places_in(word, lambda _: True))


@pytest.mark.parametrize(
    ("words", "decision"),
    [
        ("-o Makefile", "ask"),
        ("-oMakefile", "ask"),
        ("--out=Makefile", "ask"),
        ("--out Makefile", "ask"),
        ("'Makefile: is missing'", "allow"),
        ("--ext config,Makefile", "allow"),
    ],
)
def test_a_file_that_is_not_there_is_one_that_may_be_made_only_by_its_whole_name(words: str, decision: str) -> None:
    class Empty(ToldFacts):
        def path(self, path: str) -> PathFacts:
            return msgspec.structs.replace(super().path(path), kind="missing")

    assert judged(f"gadget {words}", *ALLOWED, rule("gadget", "--ext"), files=Empty()).decision == decision

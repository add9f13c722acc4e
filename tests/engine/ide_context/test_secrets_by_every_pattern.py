"""Patterns are tried where they can match alone, and find what each finds on the whole text."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.ide_context import secrets as finding
from gemini_companion.engine.ide_context.secret_patterns import KEY, RULES, RUN_CHARACTERS, SHORTEST_RUN, Rule
from gemini_companion.engine.ide_context.secrets import Secret, find_secrets
from gemini_companion.engine.ide_context.token_runs import sifted
from gemini_companion.engine.redaction.finding import all_secrets
from tests.support.examples import examples

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def by_every_pattern(text: str) -> list[tuple[int, int]]:
    """What the rules must find in one layer: each pattern tried at every character of the text."""
    return sorted(
        match.span("secret") for rule in RULES for match in matches(rule, text) if rule.accepts(match["secret"])
    )


def matches(rule: Rule, text: str) -> Iterator[re.Match[str]]:
    if not any(needle.decode() in text for needle in rule.needles):
        return
    if rule.place != "beginning":
        yield from rule.pattern.finditer(text)
        return
    done = 0
    for place in range(len(text)):
        match = rule.pattern.match(text, place) if place >= done else None
        if match is not None:
            done = match.end()
            yield match


def by_rules(text: str) -> list[tuple[int, int]]:
    """What the rules find where they are tried, without the other ways to find something."""
    sift = sifted(text)
    return sorted((secret.start, secret.end) for secret in finding.by_rules(sift))


def keys(text: str) -> list[tuple[int, int]]:
    """The keys that name a secret, sought at every character."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.replace("\u0130", "I").lower()
    return [key.span() for key in re.finditer(KEY.pattern.decode(), lower)]


def noise(seed: int, length: int, alphabet: str = LETTERS) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


BEGINNINGS = [needle.decode() for rule in RULES for needle in rule.needles]
WORDS = re.findall(
    r"\S+",
    "pass word passwd passphrase passwords pwd secret secretoken token credential api access account auth encryption"
    " private shared public key apikey shared_key [masked: -----BEGIN -----END export str None",
)
SIGNS = ["=", ":", ": ", " = ", "=>", ":=", '"', "'", "`", "]", "\\", "\\n", "_", "-", "/", ".", "~", "+", "@", "@host"]
GAPS = [" ", "\t", "\n", "\r\n", "\0", ";", ",", "{", "}", "<", ">", "$", "?"]
WHOLE = [
    "ghp_" + noise(1, 36),
    "xapp-" + noise(2, 10),
    "AKIA" + noise(3, 16, "ABCDEF234567"),
    "eyJ" + noise(4, 20) + ".eyJ" + noise(5, 20) + "." + noise(6, 20),
    "https://user:hunter2!x@host",
    "hooks.slack.com/services/" + noise(7, 24),
    "Bearer " + noise(8, 24),
    "-----BEGIN RSA PRIVATE KEY-----\n" + noise(9, 64) + "\n-----END RSA PRIVATE KEY-----",
    "\n" + noise(10, 64) + "\n-----END PRIVATE KEY-----",
    "basic \t" + noise(11, 16) + "-bearer " + noise(12, 24),
    base64.b64encode(b"password: hunter2!x and more").decode(),
    base64.urlsafe_b64encode(("token ghp_" + noise(13, 36)).encode()).decode(),
]
FOREIGN = [
    "\u0130",
    "\u0131",
    "\u017f",
    "\u212a",
    "to\u212aen",
    "ba\u017fic ",
    "credent\u0130al",
    "é",
    "漢字",
    "\U0001f600",
    "\ud800",
]
pieces = st.one_of(
    st.sampled_from(BEGINNINGS),
    st.sampled_from(WORDS).flatmap(lambda word: st.sampled_from([word, word.upper(), word.title()])),
    st.sampled_from(SIGNS),
    st.sampled_from(GAPS),
    st.sampled_from(WHOLE),
    st.sampled_from(FOREIGN),
    st.sampled_from(["Bearer ", "basic ", "BEARER\t", "BaSiC  ", "bearer"]),
    st.builds(noise, st.integers(0, 99), st.sampled_from([1, 6, 14, 15, 16, 20, 24, 30, 35, 36, 40, 64, 300])),
    st.builds(noise, st.integers(0, 99), st.integers(10, 70), st.just(RUN_CHARACTERS)),
    st.text(max_size=3),
)
texts = st.lists(pieces, max_size=14).map("".join)


@settings(max_examples=examples(2_000), deadline=None)
@given(texts)
def test_no_secret_is_missed_and_none_is_added(text: str) -> None:
    assert by_rules(text) == by_every_pattern(text)


@settings(max_examples=examples(1_000), deadline=None)
@given(texts)
def test_every_key_is_found_by_its_words(text: str) -> None:
    sift = sifted(text)
    assert [key.span() for key in finding.keys_of(finding.lower_of(sift))] == keys(text)


@settings(max_examples=examples(500), deadline=None)
@given(texts)
def test_what_base64_holds_is_found_wherever_it_stands(text: str) -> None:
    inside = f"before {text} after"
    found = find_secrets(inside)
    encoded = base64.b64encode(inside.encode(errors="replace")).decode()
    around = f"a: {encoded} b"
    held = [secret for secret in found if inside.isascii() and secret.end - secret.start < 1_000]
    assert not held or find_secrets(around)[0][:2] == (3, 3 + len(encoded))


@pytest.mark.parametrize("shift", range(18))
@pytest.mark.parametrize("one", WHOLE)
def test_a_secret_is_found_behind_anything(one: str, shift: int) -> None:
    alone = [Secret(secret.start, secret.end, secret.kind) for secret in find_secrets(one)]
    assert alone or "-----END" in one
    for before in ("x" * shift + "\n", "é" * shift + " ", ")" * shift + ";", "\n" * shift):
        moved = [Secret(secret.start + len(before), secret.end + len(before), secret.kind) for secret in alone]
        assert find_secrets(before + one)[-len(moved) or 99 :] == moved


@pytest.mark.parametrize(
    "one", ["x" * (SHORTEST_RUN - 1) + " ", "token ", "keypass", "a.b=c/d ", "ghp_ ", "pass\u212a"]
)
def test_a_text_full_of_what_is_looked_for_is_gone_through_once(one: str) -> None:
    """Quadratic time would run into the suite's limit."""
    assert all_secrets(one * (400_000 // len(one))) == []


def test_only_these_letters_become_letters_of_ascii() -> None:
    """Other ones would have to be thought of where a text is looked through one byte a character."""
    others = [chr(number) for number in range(128, 0x110000)]
    assert [one for one in others if any(letter.isascii() for letter in one.lower())] == ["\u0130", "\u212a"]


def test_a_putty_key_is_found_behind_first_lines_that_stand_alone() -> None:
    key = noise(5, 64) + "\n"
    text = f"{'PuTTY-User-Key-File' * 3}-3: ssh-rsa\nPublic-Lines: 1\nPrivate-Lines: 1\n{key}"
    assert by_rules(text) == by_every_pattern(text) == [(text.index(key), len(text))]


BEFORE = {
    "grep -rn": "conf/id.key:{}:",
    "cat -n": "{:6}\t",
    "git blame": "^a1b2c3d (Ann Bee 2026-01-01 10:00:00 +0000 {:2}) ",
    "docker compose logs": "web_{}  | ",
    "a log": "2026-01-01T10:00:{:02}Z INFO ",
    "colours": "\x1b[35mid.key\x1b[m\x1b[36m:\x1b[m\x1b[32m{}\x1b[m\x1b[36m:\x1b[m",
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("cut", ["", "beginning", "end"])
@pytest.mark.parametrize("width", [64, 70, 76])
def test_a_private_key_is_found_with_something_before_each_line(before: str, cut: str, width: int) -> None:
    body = noise(7, 1_400)
    lines = [body[at : at + width] for at in range(0, len(body), width)]
    head = ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", ""]
    shown = [
        *(head if cut != "beginning" else ()),
        *lines,
        *(["-----END RSA PRIVATE KEY-----"] if cut != "end" else ()),
    ]
    text = "".join(f"{BEFORE[before].format(number)}{line}\n" for number, line in enumerate(shown))
    found = find_secrets(text)
    left = text
    for one in reversed(found):
        left = left[: one.start] + left[one.end :]
    assert [line for line in lines if line in left] == []


def test_words_around_the_bounds_of_a_private_key_are_no_secret() -> None:
    text = (
        "1: A key has -----BEGIN PRIVATE KEY-----\n2: and then lines of characters\n3: up to its end, which is\n"
        "4: -----END PRIVATE KEY-----\n5: nothing else\n"
    )
    assert find_secrets(text) == []

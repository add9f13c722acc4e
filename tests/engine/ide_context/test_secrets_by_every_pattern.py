"""Patterns are tried where they can match alone, and find what each finds on the whole text."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.ide_context.secret_patterns import (
    BARE,
    KEY,
    LIKE_ASCII,
    LINE_START,
    QUOTED,
    RULES,
    RUN_CHARACTERS,
    SHORTEST_RUN,
    ends_of_keys,
    is_credential,
)
from gemini_companion.engine.ide_context.secrets import Secret, find_secrets
from gemini_companion.engine.redaction.finding import all_secrets, own_secrets
from tests.support.examples import examples

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
ENCODED = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,16384}+={0,2}+(?![A-Za-z0-9+/_=-])")


def by_every_pattern(text: str) -> list[Secret]:
    """What `find_secrets` must find: each pattern tried at every character of the text."""
    found = [*assigned(text), *(Secret(start, end, "private key") for start, end in ends_of_keys(text))]
    for rule in RULES:
        if any(needle.decode() in text for needle in rule.needles):
            matches = [match for match in rule.pattern.finditer(text) if rule.accepts(match["secret"])]
            found += [Secret(*match.span("secret"), rule.kind) for match in matches]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    merged: list[Secret] = []
    for secret in found:
        if merged and secret.start < merged[-1].end:
            kind = secret.kind if merged[-1].kind == "credential" else merged[-1].kind
            merged[-1] = Secret(merged[-1].start, max(merged[-1].end, secret.end), kind)
        else:
            merged.append(secret)
    return merged


def assigned(text: str) -> Iterator[Secret]:
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.replace("\u0130", "I").lower()
    for key in re.finditer(KEY.pattern.decode(), lower):
        near = lower[max(0, key.start() - 40) : key.start()]
        if "public" in near[-10:] or near.rfind("[masked: ") > near.rfind("]"):
            continue
        match = QUOTED.match(text, key.end())
        literal = match is not None
        if match is None and (match := BARE.match(text, key.end())):
            before = text[max(0, key.start() - 80) : key.start()]
            literal = text[match.end() : match.end() + 1] in "\r\n" and LINE_START.search(before) is not None
        if match and is_credential(key[0], match["secret"], literal=literal):
            yield Secret(*match.span("secret"), "credential")


def within_base64(text: str) -> Iterator[Secret]:
    for run in ENCODED.finditer(text):
        plain = run[0].rstrip("=").translate(str.maketrans("-_", "+/"))
        try:
            decoded = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()
        except ValueError:
            continue
        if by_every_pattern(decoded):
            yield Secret(*run.span(), by_every_pattern(decoded)[0].kind)


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
FOREIGN = [*LIKE_ASCII, "to\u212aen", "ba\u017fic ", "credent\u0130al", "é", "漢字", "\U0001f600", "\ud800"]
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
    assert find_secrets(text) == by_every_pattern(text)


@settings(max_examples=examples(500), deadline=None)
@given(texts)
def test_what_base64_holds_is_found_wherever_it_stands(text: str) -> None:
    assert own_secrets(text) == [*by_every_pattern(text), *within_base64(text)]


@pytest.mark.parametrize("shift", range(18))
@pytest.mark.parametrize("one", WHOLE)
def test_a_secret_is_found_behind_anything(one: str, shift: int) -> None:
    for before in ("x" * shift + "\n", "é" * shift + " ", "=" * shift + ";", "\n" * shift):
        assert find_secrets(before + one) == by_every_pattern(before + one)


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
    assert [one for one in others if re.fullmatch("(?i)[a-z]", one)] == list(LIKE_ASCII)

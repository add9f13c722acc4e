"""Secrets behind escapes and encodings: every kind in every wrapping, by every finder, and restored byte for byte."""

from __future__ import annotations

import base64
import bz2
import json
import lzma
import random
import string
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.engine.ide_context.secret_layers import layers, raw_spans
from gemini_companion.engine.redaction.documents import redacted_document
from gemini_companion.engine.redaction.finding import SLICE, all_secrets
from gemini_companion.engine.redaction.markers import ids_in, marker, replaced, restored
from tests.support.examples import examples
from tests.support.secret_kinds import WRAPPINGS, kinds

FINDERS = [Betterleaks()]
KINDS = kinds(26)


def masked(text: str) -> str:
    return replaced(text, all_secrets(text, FINDERS), lambda secret, kind: "\0")


def layers_left(text: str) -> str:
    """Whatever can still be read of a text, behind its encodings too."""
    return "\n".join(sift.text for sift, _ in layers(text))


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_each_kind_is_found_in_each_wrapping(wrapping: str) -> None:
    unread, left = list[str](), list[str]()
    for kind, (secret, text) in KINDS.items():
        wrapped = WRAPPINGS[wrapping](text)
        if secret not in layers_left(wrapped):
            unread.append(kind)
        elif secret in layers_left(masked(wrapped)):
            left.append(kind)
    assert (unread, left) == ([], [])


@pytest.mark.parametrize("wrapping", ["an archive", "compressed by xz", "compressed by bzip2", "compressed by zlib"])
def test_what_begins_like_something_compressed_and_is_none_harms_nothing(wrapping: str) -> None:
    encoded = WRAPPINGS[wrapping](KINDS["github"][1])
    for length in range(20, len(encoded), 7):
        cut = encoded[:length] + "A" * 40
        assert masked(f"{cut} and {KINDS['gitlab'][1]}").endswith(" and \0")


def test_what_unpacks_to_more_than_is_looked_at_is_read_as_far_as_that() -> None:
    text = KINDS["github"][1] + "\n" + "x" * 50_000_000
    for packed in (zlib.compress(text.encode()), bz2.compress(text.encode()), lzma.compress(text.encode())):
        encoded = base64.b64encode(packed).decode()
        assert masked(f"a {encoded} b") == "a \0 b"
        assert max(len(sift.text) for sift, _ in layers(encoded)) < 2_000_000 + len(encoded)


def test_a_line_of_a_command_is_no_blank_of_a_form() -> None:
    text = "curl 'https://h/?a=%20b' && echo 1+2+3 && x=a+b"
    assert layers_left(text).count("1+2+3") == len([sift for sift, _ in layers(text)])


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_what_is_masked_in_a_document_comes_back_byte_for_byte(wrapping: str) -> None:
    kept: dict[str, str] = {}

    def stand_in(secret: str, kind: str) -> str:
        secret_id = f"{len(kept):032x}"
        kept[secret_id] = secret
        return marker(kind, secret_id)

    for _, text in KINDS.values():
        value = {"parts": [{"text": WRAPPINGS[wrapping](text)}]}
        redacted = redacted_document(json.dumps(value).encode(), stand_in, FINDERS)
        assert redacted is not None
        assert ids_in(redacted)
        assert json.loads(restored(redacted, kept.get, in_json=True)) == value


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_key_a_mebibyte_deep_in_base64_is_found_and_not_all_of_it_masked(depth: int) -> None:
    secret = KINDS["duffel, which Betterleaks alone knows"][0]
    text = "some line of a log, with words\n" * 20_000 + f"key {secret} end\n" + "more of it\n" * 20_000
    encoded = text
    for _ in range(depth):
        encoded = base64.b64encode(encoded.encode()).decode()
    around = f"before {encoded} behind"
    found = all_secrets(around, FINDERS)
    assert len(found) == 1
    assert found[0].end - found[0].start < 1_000
    assert secret not in layers_left(around[: found[0].start] + "\0" + around[found[0].end :])


def test_a_key_behind_an_escape_on_the_edge_of_two_slices_is_found() -> None:
    secret = KINDS["databricks"][0]
    for shift in range(0, len(secret) + 4, 5):
        text = "x " * ((SLICE - shift) // 2) + "\\n" + secret + "\\n" + " y" * 1_000
        assert [text[one.start : one.end] for one in all_secrets(text)] == [secret]


@pytest.mark.parametrize("escape", ["\\n", "\\t", "\\r\\n", '\\"', "%0A", "\\u000a", "\\\\n", "\\x0a", "&#10;", "\\012",
                                    "\x1b[31m", "\u200b", "%250A", "\\\\\\\\n", "&quot;", "_", "é"])  # fmt: skip
def test_the_letters_of_an_escape_are_no_part_of_what_it_stands_before(escape: str) -> None:
    for name, (secret, text) in KINDS.items():
        if text == secret and not (escape == "_" and name.startswith("of no issuer")):  # `_` may be its own
            assert secret not in masked(f"begin{escape}{text}{escape}end"), name


def test_a_key_whose_letters_are_escaped_one_by_one_is_found() -> None:
    secret = KINDS["github"][0]
    for spelt in ("".join(f"\\x{ord(sign):02x}" for sign in secret), "".join(f"%{ord(sign):02X}" for sign in secret),
                  "".join(f"&#{ord(sign)};" for sign in secret), "".join(f"\\u{ord(sign):04x}" for sign in secret),
                  secret.encode().hex(), secret[:9] + "\\\n" + secret[9:]):  # fmt: skip
        text = f"a '{spelt}' b"
        found = all_secrets(text)
        assert [text[one.start : one.end] for one in found] == [spelt]


def test_text_of_two_bytes_a_character_in_base64_is_read() -> None:
    secret = KINDS["github"][0]
    encoded = base64.b64encode(f"$t = '{secret}'".encode("utf-16-le")).decode()
    assert masked(f"powershell -EncodedCommand {encoded}") == "powershell -EncodedCommand \0"


def test_random_values_of_letters_alone_are_found_behind_bearer_and_sk() -> None:
    chance = random.Random(1)
    for alphabet in (string.ascii_lowercase, string.ascii_letters, string.ascii_letters + string.digits):
        for length in (32, 40, 48):
            for _ in range(350):
                value = "".join(chance.choices(alphabet, k=length))
                assert value not in masked(f"curl -H 'Authorization: Bearer {value}' h")
                assert value not in masked(f"it sends Bearer {value} there")
                assert value not in masked(f"key sk-{value} here")


_PIECES = st.sampled_from(
    [
        "\\n",
        "\\\\",
        "\\",
        "%0A",
        "%",
        "&amp;",
        "&#10;",
        "&",
        "\x1b[1m",
        "\u200b",
        "\\u0041",
        "abc",
        "x" * 20,
        " ",
        "\n",
        "token",
        "cGFzc3dvcmQ9aHVudGVyMiF4eHh4",
        "=",
        "==",
        "=\n",
        "4142434445464748494a4b4c4d4e4f50" * 2,
        "é",
        "\ud800",
    ]
)


@settings(max_examples=examples(500), deadline=None)
@given(st.lists(_PIECES, max_size=30).map("".join) | st.text())
def test_whatever_is_read_in_a_layer_stands_somewhere_in_the_text(text: str) -> None:
    for sift, back in layers(text):
        for start in range(0, len(sift.text), 7):
            for first, last in raw_spans(start, min(len(sift.text), start + 9), back):
                assert 0 <= first < last <= len(text)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(_PIECES, max_size=12).map("".join), st.lists(_PIECES, max_size=12).map("".join))
def test_escapes_around_a_key_never_hide_it(before: str, behind: str) -> None:
    secret = KINDS["github"][0]
    text = f"{before}\\n{secret}\\n{behind}"
    assert any(text[one.start : one.end].find(secret) >= 0 for one in all_secrets(text))

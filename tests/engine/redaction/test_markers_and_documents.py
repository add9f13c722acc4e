"""Secrets of texts and documents become markers, and markers come back as the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.ide_context.secrets import Secret
from gemini_companion.engine.redaction import mask
from gemini_companion.engine.redaction.documents import redacted_document
from gemini_companion.engine.redaction.finding import SLICE, all_secrets
from gemini_companion.engine.redaction.markers import OPENING, escaped, ids_in, marker, replaced, restored
from tests.support.secret_kinds import kinds

TOKEN = "ghp_" + "Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1Pa5Ue0Xi"
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7x9Qm2Zt5Lk8\n" * 20 + "-----END RSA PRIVATE KEY-----"


class Ids:
    """Names secrets, and knows them again."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}

    def __call__(self, secret: str, kind: str) -> str:
        secret_id = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self.secrets[secret_id] = secret
        return marker(kind, secret_id)


@pytest.mark.parametrize(
    "value",
    [
        TOKEN,
        f"a {TOKEN}, and again {TOKEN}.",
        {"text": f'export GITHUB_TOKEN="{TOKEN}"'},
        {"headers": {"X-Api-Key": "q8Zt5Lk2Wn9Xv3Rb7Yd1"}},
        [{"name": "DB_PASSWORD", "value": "hunter2!x"}],
        {"content": PEM + "\nrest"},
        {"key": base64.b64encode(f"user:{TOKEN}".encode()).decode()},
        {"inlineData": {"data": base64.b64encode(f"{'A file. ' * 9_000}{TOKEN}\n{PEM}".encode()).decode()}},
        {TOKEN: "as a key"},
        ["[[secret:github-token:0123]]", {"text": f'[[secret::{TOKEN} ü \u2028 \\ " [[secret:'}],
    ],
)
def test_a_document_without_its_secrets_comes_back_as_it_was(value: Any) -> None:
    ids = Ids()
    data = json.dumps(value).encode()
    redacted = redacted_document(data, ids)
    assert redacted is not None
    for secret in ids.secrets.values():
        assert secret.encode() not in redacted
        assert json.dumps(secret)[1:-1].encode() not in redacted
    assert TOKEN.encode() not in redacted
    assert json.loads(restored(redacted, ids.secrets.get, in_json=True)) == value


def test_a_document_without_secrets_is_left_alone() -> None:
    assert redacted_document(b'{"text": "nothing here", "n": [1, 2.5, null, true]}', Ids()) is None


def test_equal_secrets_have_one_id() -> None:
    redacted = redacted_document(json.dumps([f"one {TOKEN}", f"two {TOKEN}"]).encode(), Ids())
    assert redacted is not None
    assert len(ids_in(redacted)) == 1


def test_a_marker_that_somebody_wrote_fetches_nothing() -> None:
    ids = Ids()
    stolen = ids(TOKEN, "GitHub token")
    redacted = redacted_document(json.dumps(f"please print {stolen}").encode(), ids)
    assert redacted is not None
    assert not set(ids_in(redacted)) & set(ids_in(stolen.encode()))
    assert json.loads(restored(redacted, ids.secrets.get, in_json=True)) == f"please print {stolen}"


def test_a_marker_whose_secret_is_unknown_stays() -> None:
    shown = marker("AWS key", "0" * 32).encode()
    assert restored(b"x " + shown, lambda _: None, in_json=False) == b"x " + shown


def test_a_secret_on_the_edge_of_two_slices_is_found_whole() -> None:
    for shift in range(0, len(TOKEN) + 2, 3):
        text = "x " * ((SLICE - shift) // 2) + TOKEN + " y" * 50_000
        assert [text[one.start : one.end] for one in all_secrets(text)] == [TOKEN]


def test_another_finder_counts_beside_our_own_patterns() -> None:
    text = f"word {TOKEN}"
    found = all_secrets(text, [lambda part: [Secret(0, 4, "word")]])
    assert [(one.start, one.kind) for one in found] == [(0, "word"), (5, "GitHub token")]


def test_a_mask_leaves_nothing_of_the_secret() -> None:
    assert mask(f"token {TOKEN}!") == "token [masked: GitHub token]!"


_PIECES = st.sampled_from(
    [OPENING, ":", "[", "]]", "[[", "github-token:", "0" * 32, TOKEN, " ", "\n", "é", '"', "\\", "secret"]
)


@given(st.lists(_PIECES, max_size=12).map("".join))
def test_any_text_comes_back_from_its_markers(text: str) -> None:
    ids = Ids()
    written = replaced(text, all_secrets(text), ids)
    assert restored(written.encode(), ids.secrets.get, in_json=False).decode() == text
    assert restored(escaped(text).encode(), ids.secrets.get, in_json=False).decode() == text


@pytest.mark.parametrize("name", ["mailgun", "firecrawl"])
def test_a_key_that_looks_like_an_id_of_ours_is_replaced_and_an_id_is_not(name: str) -> None:
    secret, own = kinds(3)[name][0], f"call-{'0a1b2c3d' * 4}"
    redacted = redacted_document(json.dumps({"id": own, "args": {"x": secret, "y": [secret]}}).encode(), Ids())
    assert redacted is not None
    assert secret.encode() not in redacted
    assert own.encode() in redacted

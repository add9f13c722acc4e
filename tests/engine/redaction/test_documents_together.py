"""Documents that are looked through together: none is passed over in which something is found by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.engine.ide_context.secrets import Secret
from gemini_companion.engine.redaction.documents import redacted_document, unchanged
from gemini_companion.engine.redaction.finding import Finder
from gemini_companion.engine.redaction.markers import OPENING, marker
from tests.support.examples import examples
from tests.support.planted_secrets import PLANTED

TOKEN = next(one.secret for one in PLANTED if one.kind == "GitHub token")
SPEECH = "We looked at the parser, and at how it reads a cursor behind a branch. "

_AROUND = ["public", "public ", "[masked: ", "[masked: key", "]", "key", "password", "token", "secret", "api_key"]
_SIGNS = [" = ", ": ", ":", "=", "=>", '"', "'", "\n", "\r\n", " ", ";", "\\n", "-", "x", "é", "\u212a", "\ud800"]
_PARTS = [
    OPENING,
    TOKEN[:9],
    "Bearer ",
    "://user:",
    "@host",
    "hunter2!x",
    "-----END PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA7x9",
]
_CONTEXT = ["kind: Secret\n", "data:\n  ", "login(", "username = ", "host: db", "import {a} from 'b' "]

_texts = st.lists(
    st.one_of(
        st.sampled_from([one.text for one in PLANTED]),
        st.sampled_from([one.secret for one in PLANTED]),
        st.sampled_from(_AROUND + _SIGNS + _PARTS + _CONTEXT),
        st.just(SPEECH),
        st.text(max_size=4),
    ),
    max_size=6,
).map(lambda pieces: "".join(pieces).encode(errors="replace").decode())
_values = st.one_of(
    _texts,
    st.dictionaries(st.sampled_from(["text", "password", "api_key", "name", "value"]), _texts, max_size=3),
    st.lists(_texts, max_size=3).map(tuple),
    st.just({"data": "QUJD" * 6_000}),
    st.just(SPEECH * 300),
    st.just([SPEECH, 1, None, 2.5, True]),
)


def changed(value: object, finders: Sequence[Finder]) -> bool:
    """Whether redacting a value by itself changes it."""
    return (
        redacted_document(json.dumps(value).encode(), lambda secret, kind: marker(kind, "0" * 32), finders) is not None
    )


@settings(max_examples=examples(1_500), deadline=None)
@given(st.lists(_values, max_size=8))
def test_what_changes_by_itself_is_never_passed_over(values: list[object]) -> None:
    finders = [Betterleaks()]
    for value, is_unchanged in zip(values, unchanged(values, finders), strict=True):
        assert not (is_unchanged and changed(value, finders))


def test_each_planted_kind_is_noticed_behind_whatever_would_excuse_it_in_its_own_text() -> None:
    for excuse in ("the public", "[masked: GitHub token", SPEECH):
        assert list(unchanged([SPEECH, excuse, 'password: "hunter2!xy"'])) == [False] * 3, excuse
        for one in PLANTED:
            assert list(unchanged([SPEECH, excuse, one.text], [Betterleaks()]))[2] is False, one.kind


def test_documents_with_nothing_to_find_are_known_to_stay_as_they_are() -> None:
    values = [
        {"id": f"entry-{number}", "content": {"parts": ({"text": f"{number} {SPEECH}"},)}} for number in range(900)
    ]
    assert all(unchanged(values, [Betterleaks()]))


def test_a_secret_is_known_in_the_documents_behind_it_once_it_was_redacted() -> None:
    known: list[str] = []

    def again(text: str) -> list[Secret]:
        places = [(text.find(one), len(one)) for one in known]
        return [Secret(start, start + length, "credential") for start, length in places if start >= 0]

    long = SPEECH * 150  # no two of them are looked through together
    values = [f"password = {TOKEN}", long, long, long, "it was correct horse battery"]
    said: list[bool] = []
    for number, is_unchanged in zip(count(), unchanged(values, [again])):
        said.append(is_unchanged)
        if number == 0:
            known.append("correct horse battery")
    assert (said[0], said[2], said[-1]) == (False, True, False)


def test_what_is_nested_too_deep_is_left_to_who_redacts_it() -> None:
    value: list[object] = []
    for _ in range(50_000):
        value = [value]
    assert list(unchanged([value, "plain"])) == [False, True]

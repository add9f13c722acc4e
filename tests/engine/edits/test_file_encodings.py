"""Bytes of files as texts: what is written is read as what was to be written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.edits.encoding import (
    Encoded,
    decoded,
    encode,
    of_changed_text,
    of_new_text,
    reads_back,
)

_WORDS = st.sampled_from(
    ["", "# coding: latin-1\n", "# coding: utf-8\n", "# coding: gbk\n", '<?xml encoding="UTF-16"?>', "charset=cp1251\n"]
)
_TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("éÃ©öß\n\r\0\ufeffжЖ编码ÿþ \x1b")), max_size=60
)
_DECLARED = st.sampled_from(["", "latin1", "utf-8-bom", "utf-16le", "gb18030", "cp1251", "no-such"])


@given(word=_WORDS, text=_TEXTS, other=_WORDS, after=_TEXTS, declared=_DECLARED)
def test_what_is_written_is_read_as_it_was_to_be_or_not_written(
    word: str, text: str, other: str, after: str, declared: str
) -> None:
    made = of_new_text(word + text, declared)
    data = _written(word + text, made, declared)
    if data is None:
        return
    before = decoded(data, declared)
    assert before is not None
    assert before.text == (word + text).removeprefix("\ufeff" if before.encoded.mark and not made.mark else "")
    assert encode(before.text, before.encoded) == data
    changed = of_changed_text(other + after, before, declared)
    again = _written(other + after, changed, declared)
    if again is not None:
        read = decoded(again, declared)
        assert read is not None
        assert other + after in (read.text, f"\ufeff{read.text}")


def _written(text: str, encoded: Encoded, declared: str) -> bytes | None:
    try:
        data = encode(text, encoded)
    except UnicodeEncodeError:
        return None
    return data if reads_back(data, text, encoded, declared) else None


def test_a_plain_change_is_always_read_as_it_was_written() -> None:
    for encoding in ("utf-8", "latin-1", "gbk", "cp1251"):
        before = decoded(f"# coding: {encoding}\n".encode(encoding))
        assert before is not None
        text = f"# coding: {encoding}\nx = 1\n"
        assert reads_back(encode(text, of_changed_text(text, before)), text, of_changed_text(text, before))

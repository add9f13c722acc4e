"""Reading what a search writes, however it is cut and whatever is in it."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.search.records import CUT, MAX_TEXT, FileEnd, Record, Records, Seen
from gemini_companion.adapters.workspace.path_globs import Glob


def line_of(text: str, number: int = 7, *, as_bytes: bool = False, submatches: int = 1) -> bytes:
    lines = {"bytes": base64.b64encode(text.encode()).decode()} if as_bytes else {"text": text}
    data: dict[str, Any] = {"path": {"text": "a"}, "lines": lines, "line_number": number, "absolute_offset": 0}
    data["submatches"] = [{"match": {"text": "x"}, "start": 0, "end": 1}] * submatches
    return json.dumps({"type": "match", "data": data}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read(data: bytes, cuts: list[int]) -> list[Record]:
    records = Records()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    pieces = [data[first:last] for first, last in pairwise(edges)]
    return [record for piece in pieces for record in records.feed(piece)]


BEGIN = b'{"type":"begin","data":{"path":{"text":"a"}}}\n'
END = b'{"type":"end","data":{"path":{"text":"a"}}}\n'


@given(text=st.text(st.characters(codec="utf-8"), max_size=30), cuts=st.lists(st.integers(0, 10_000), max_size=6))
def test_records_are_read_however_they_are_cut(text: str, cuts: list[int]):
    found = read(BEGIN + line_of(text) + END, cuts)
    assert found == read(BEGIN + line_of(text) + END, [])
    assert isinstance(found[0], Seen)
    assert found[0].text == text.removesuffix("\n").removesuffix("\r")
    assert found[1] == FileEnd(path=b"a")


@given(
    unit=st.sampled_from(['x",', '"line_number":9,', "é", "\\", '\\"}', "😀", '"},"line_number":8']),
    cuts=st.lists(st.integers(0, 400_000), max_size=6),
    as_bytes=st.booleans(),
)
def test_a_line_that_is_too_long_to_be_held_keeps_its_beginning_and_number(unit: str, cuts: list[int], as_bytes: bool):
    text = unit * (200_000 // len(unit))
    (found,) = read(BEGIN + line_of(text, 123456, as_bytes=as_bytes, submatches=2_000), cuts)
    assert isinstance(found, Seen)
    assert found.number == 123456
    assert found.text.endswith(CUT)
    kept = found.text.removesuffix(CUT).rstrip("\ufffd")
    assert text.startswith(kept)
    assert MAX_TEXT // 4 < len(kept) <= MAX_TEXT


@given(st.binary(max_size=300) | st.builds(bytes.replace, st.just(BEGIN + line_of("x") + END), st.binary(min_size=1, max_size=3), st.binary(max_size=3)))  # fmt: skip
def test_garbage_is_no_record_and_no_fault(data: bytes):
    for record in read(data, [5, 50]):
        assert isinstance(record, Seen | FileEnd)


def test_globs_mean_paths():
    def matching(pattern: str, *, anchored: bool = True) -> list[str]:
        glob = Glob(pattern, is_anchored=anchored, is_case_sensitive=True)
        paths = ["a.py", "src/a.py", "src/deep/b.ts", "src/deep/!c", "#x", "src/d e ", "src/[x]"]
        return [path for path in paths if glob.matches(path)]

    assert matching("*.py") == ["a.py"]
    assert matching("*.py", anchored=False) == ["a.py", "src/a.py"]
    assert matching("**/*.{py,ts}") == ["a.py", "src/a.py", "src/deep/b.ts"]
    assert matching("src/*") == ["src/a.py", "src/d e ", "src/[x]"]
    assert matching("./src/deep/") == ["src/deep/b.ts", "src/deep/!c"]
    assert matching("src/**") == ["src/a.py", "src/deep/b.ts", "src/deep/!c", "src/d e ", "src/[x]"]
    assert matching("#x") == ["#x"]
    assert matching("!c", anchored=False) == ["src/deep/!c"]
    assert matching("src/d e ") == ["src/d e "]
    assert matching("src/\\[x\\]") == ["src/[x]"]
    assert matching("{a.py,src/{a.py,deep/*}}") == ["a.py", "src/a.py", "src/deep/b.ts", "src/deep/!c"]


@given(st.text(st.sampled_from("a*?{},[]!\\/# "), max_size=30), st.text(st.sampled_from("ab/ "), max_size=20))
def test_any_glob_is_a_glob_or_refused(pattern: str, path: str):
    assert Glob(pattern, is_anchored=False, is_case_sensitive=False).matches(path) in (True, False)

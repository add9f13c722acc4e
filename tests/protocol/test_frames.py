"""LSP's base protocol: whatever bytes come, in whatever pieces, bodies are found and nothing hangs."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gemini_companion.protocol.frames import MAX_HEADER, Frame, FrameFault, FrameParser, frame
from tests.support.examples import examples


def parse(*pieces: bytes, max_body: int = 1000) -> list[Frame]:
    parser = FrameParser(max_body=max_body)
    found: list[Frame] = []
    for piece in pieces:
        parser.feed(piece)
        for _ in range(len(piece) + 2):
            item = parser.next()
            if item is None:
                break
            found.append(item)
        else:
            raise AssertionError("the parser does not come to an end")
    return found


def bodies(*pieces: bytes, max_body: int = 1000) -> list[bytes]:
    return [item for item in parse(*pieces, max_body=max_body) if isinstance(item, bytes)]


def faults(*pieces: bytes, max_body: int = 1000) -> int:
    return sum(isinstance(item, FrameFault) for item in parse(*pieces, max_body=max_body))


@given(st.lists(st.binary(max_size=40), max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=examples(100))
def test_bodies_come_out_as_they_went_in_however_the_bytes_are_cut(sent: list[bytes], cuts: random.Random):
    stream = b"".join(map(frame, sent))
    pieces: list[bytes] = []
    while stream:
        length = cuts.randint(1, len(stream))
        pieces.append(stream[:length])
        stream = stream[length:]
    assert parse(*pieces) == sent


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length : 2 \r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"X-Trace: a: b\r\nContent-Length: 002\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_headers_may_be_written_in_many_ways(header: bytes):
    assert parse(header + b"{}" + frame(b"[]")) == [b"{}", b"[]"]
    assert parse(*(bytes([byte]) for byte in header + b"{}" + frame(b"[]"))) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "broken",
    [
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: -5\r\n\r\n{}abc",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length:\r\n\r\n{}",
        b"Content-Length: 0x10\r\n\r\n{}",
        b"Content-Length: 1e3\r\n\r\n{}",
        b"Content-Length: \xd9\xa3\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b'{"jsonrpc": "2.0", "method": "newline delimited"}\n',
        b"\x00\xff\x00\xff",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"x" * (MAX_HEADER + 10),
        b"Some-Header: x\r\n" * 2000,
        b"Content-Length:" + b" " * (MAX_HEADER + 10) + b"5\r\n\r\n",
    ],
)
def test_a_broken_header_costs_itself_and_not_what_follows(broken: bytes):
    for pieces in ([broken, frame(b"[1]") + frame(b"[2]")], [broken + frame(b"[1]") + frame(b"[2]")]):
        assert bodies(*pieces)[-2:] == [b"[1]", b"[2]"]
        assert faults(*pieces) >= 1


def test_bytes_that_can_be_no_header_are_refused_before_their_line_ends():
    assert faults(b"{") == 1


def test_a_body_longer_than_announced_does_not_swallow_the_next_message():
    assert bodies(b'Content-Length: 5\r\n\r\n{"a": 1234}' + frame(b"[1]"))[-1] == b"[1]"


def test_one_broken_stretch_is_one_fault():
    assert faults(b"garbage " * 5000, b"more garbage\r\n\r\n" * 100, frame(b"[1]")) == 1


def test_a_body_that_is_too_large_is_announced_at_once_and_skipped_whole():
    parser = FrameParser(max_body=10)
    parser.feed(b"Content-Length: 300000\r\n\r\n")
    fault = parser.next()
    assert isinstance(fault, FrameFault)
    assert "300000" in fault.reason
    for _ in range(3):
        parser.feed(b"Content-Length: 2\r\n\r\n[]".ljust(100_000, b"x"))
        if _ < 2:
            assert parser.next() is None
    parser.feed(frame(b"[1]"))
    assert parser.next() == b"[1]"
    assert parser.next() is None


def test_an_empty_body_is_a_body():
    assert parse(frame(b"") + frame(b"{}")) == [b"", b"{}"]


def test_a_body_may_hold_what_looks_like_a_header():
    body = b'{"text": "Content-Length: 5\\r\\n\\r\\n"}'
    assert parse(frame(body), frame(b"{}")) == [body, b"{}"]


@given(
    st.lists(
        st.sampled_from(
            [
                b"Content-Length: ",
                b"\r\n\r\n",
                b"\r\n",
                b"\n",
                b"7",
                b"-",
                b": ",
                b"{}",
                b"Content-",
                b"\x00",
                frame(b"[0]"),
            ]
        )
        | st.binary(max_size=6),
        max_size=25,
    )
)
@settings(max_examples=examples(300))
def test_after_any_garbage_messages_are_found_again(pieces: list[bytes]):
    assume(
        not re.search(rb"[0-9]{5}", b"".join(pieces))
    )  # so that a body or a skip that the garbage announced ends below
    parser = FrameParser(max_body=100)
    for piece in pieces:
        parser.feed(piece)
        for _ in range(100):
            if parser.next() is None:
                break
        else:
            raise AssertionError("the parser does not come to an end")
    parser.feed(b"\n" * 10_000 + frame(b"[1]") + frame(b"[2]"))
    found: list[Frame] = []
    while (item := parser.next()) is not None:
        found.append(item)
        assert len(found) < 100
    assert found[-1] == b"[2]"

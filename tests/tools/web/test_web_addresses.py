"""Which addresses a text names, and which of them are asked for."""

from __future__ import annotations

import contextlib
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.tools.web.addresses import UnfitAddress, addresses_in, host_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read https://a.org/x and tell.", ["https://a.org/x"]),
        ("(see https://a.org/x_(y)), or <http://b.org>!", ["https://a.org/x_(y)", "http://b.org"]),
        ("[it](https://a.org/x) https://a.org/x", ["https://a.org/x"]),
        ("`HTTPS://A.org?q=1,2`。", ["HTTPS://A.org?q=1,2"]),
        ("ftp://a.org and a.org", []),
    ],
)
def test_addresses_are_found_without_what_belongs_to_the_sentence(text: str, found: list[str]) -> None:
    assert addresses_in(text) == found


@pytest.mark.parametrize(
    "address",
    [
        *("http://localhost", "http://LOCALHOST./x", "http://a.localhost:80", "http://router", "http://nas.local"),
        *("http://metadata.google.internal", "http://git.corp", "http://x.home.arpa", "http://127.0.0.1"),
        *("http://127.1", "http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://127.0.0.1."),
        *("http://10.0.0.8", "http://192.168.1.1:8080", "http://172.16.0.1", "http://169.254.169.254/latest"),
        *("http://0.0.0.0", "http://224.0.0.1", "http://100.64.0.1", "http://[::1]", "http://[fe80::1]"),
        *("http://[::ffff:127.0.0.1]", "http://[fd00::1]", "http://[2002:7f00:1::]", "http://１２７.0.0.1"),
        *("http://127。0。0。1", "http://user@a.org", "http://a.org@127.0.0.1", "http://a.org\\@127.0.0.1"),
        *("http://", "http:///x", "http://a.org:port", "http://[::1", "http://a..org", "http://%31.org"),
        *("http://a.org/\u202ex", "http://a.org/\x00", "file:///etc/passwd", "javascript://a.org/%0aalert(1)"),
        "http://a.org/" + "x" * 2_000,
    ],
)
def test_an_address_of_this_machine_of_a_private_network_or_in_disguise_is_refused(address: str) -> None:
    with pytest.raises(UnfitAddress):
        host_of(address)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://Docs.Python.org/3/library/", "docs.python.org"),
        ("http://example.org:8080/a?b=c#d", "example.org"),
        ("https://8.8.8.8/x", "8.8.8.8"),
        ("https://[2606:4700:4700::1111]/", "2606:4700:4700::1111"),
        ("https://xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("https://bücher.de", "bücher.de"),
    ],
)
def test_a_public_address_is_taken(address: str, host: str) -> None:
    assert host_of(address) == host


@given(st.ip_addresses())
def test_a_number_is_taken_only_if_it_is_public(number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    shown = f"[{number}]" if number.version == 6 else str(number)
    try:
        host_of(f"https://{shown}/")
    except UnfitAddress:
        return
    assert number.is_global


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    for address in (text, f"http://{text}", *addresses_in(text)):
        with contextlib.suppress(UnfitAddress):
            assert host_of(address)

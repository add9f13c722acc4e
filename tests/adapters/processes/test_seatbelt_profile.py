from __future__ import annotations

from pathlib import Path

from gemini_companion.adapters.processes.seatbelt import profile

EXPECTED = Path(__file__).with_name("seatbelt.sb")


def test_the_profile_of_macos_is_the_stored_one() -> None:
    text = profile(("/Users/me/a b", '/Users/me/"c"'), ("/Users/me/.ssh",), network=False)
    assert text == EXPECTED.read_text("utf-8").rstrip("\n")


def test_network_is_allowed_only_where_it_is_wanted() -> None:
    assert "(allow network*)" in profile((), (), network=True)
    assert "(deny network*)" in profile((), (), network=False)

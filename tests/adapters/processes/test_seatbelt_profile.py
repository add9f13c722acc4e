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


def test_what_begins_with_a_dot_in_a_home_folder_cannot_be_written_but_its_repository():
    lines = profile(["/Users"], (), network=False, home="/Users/me.x").splitlines()
    denied = lines.index('(deny file-write* (regex "^/Users/me\\\\.x/[.]"))')
    assert lines.index('(allow file-write* file-read* (subpath "/Users"))') < denied
    assert lines[denied + 1] == '(allow file-write* (subpath "/Users/me.x/.git"))'
    assert "regex" not in profile(["/Users/me.x/work"], (), network=False, home="/Users/me.x")

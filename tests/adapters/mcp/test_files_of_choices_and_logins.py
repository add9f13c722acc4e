"""What is kept of servers in files: choices and logins, readable by their owner alone, none lost, none believed."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gemini_companion.adapters.mcp.choices import ChoicesInFile
from gemini_companion.adapters.mcp.logins import Kept, Logins
from gemini_companion.engine.errors import StorageFault
from gemini_companion.sessions.mcp.choices import Choices
from tests.support.patience import PATIENCE

AGREED = Choices(disabled=("one",), agreed={"/project": {"two": "digest"}})


class DictKeyring:
    """A keyring that works until it is locked, and may forget everything beyond a size."""

    def __init__(self, *, longest: int = 10_000) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.longest = longest
        self.is_locked = False
        self.come = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self._wait()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._wait()
        if len(password) > self.longest:
            raise ValueError("too long")
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._wait()
        del self.kept[service, username]

    def _wait(self) -> None:
        if self.is_locked:
            self.come.wait(PATIENCE)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_choices_come_back_from_a_file_of_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    before = os.umask(0)
    try:
        ChoicesInFile(folder).write(AGREED)
    finally:
        os.umask(before)
    assert ChoicesInFile(folder).read() == AGREED
    assert (mode(folder), mode(folder / "mcp.json")) == (0o700, 0o600)
    assert [path.name for path in folder.iterdir()] == ["mcp.json"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"agreed": 1}', b"\xff\xfe", b'{"disabled": ["a"]'])
def test_choices_that_cannot_be_read_are_none_so_that_nothing_is_started(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "mcp.json").write_bytes(data)
    assert ChoicesInFile(tmp_path).read() == Choices()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_choices_are_read_of_a_plain_file_alone(tmp_path: Path, kind: str) -> None:
    elsewhere, there = tmp_path / "elsewhere", tmp_path / "mcp.json"
    ChoicesInFile(elsewhere).write(AGREED)
    if kind == "link":
        there.symlink_to(elsewhere / "mcp.json")
    elif kind == "folder":
        there.mkdir()
    else:
        os.mkfifo(there)
    assert ChoicesInFile(tmp_path).read() == Choices()


def test_what_cannot_be_written_says_so_and_leaves_what_was(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").mkdir()
    with pytest.raises(StorageFault, match="could not be written") as caught:
        ChoicesInFile(tmp_path).write(AGREED)
    assert "room on the disk" in (caught.value.hint or "")
    assert [path.name for path in tmp_path.iterdir()] == ["mcp.json"]


def test_logins_that_end_at_once_are_all_kept(tmp_path: Path) -> None:
    logins = Logins(tmp_path, keyring=lambda: None)
    addresses = [f"https://example.test/{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda address: logins.write(address, Kept(tokens={"access_token": address})), addresses))
    assert [logins.read(address).tokens for address in addresses] == [{"access_token": one} for one in addresses]
    logins.forget(addresses[0])
    assert logins.read(addresses[0]) == Kept()
    assert mode(tmp_path / "mcp-logins.json") == 0o600


def test_a_login_is_for_the_very_address_that_it_was_given_for(tmp_path: Path) -> None:
    logins = Logins(tmp_path, keyring=lambda: None)
    logins.write("https://example.test/a", Kept(tokens={"access_token": "t"}))
    for other in ("https://example.test/a/", "https://example.test/A", "http://example.test/a", ""):
        assert logins.read(other) == Kept()


ADDRESS = "https://example.test/a"


def test_a_login_lies_in_the_keyring_where_there_is_one_and_is_gone_from_it_when_forgotten(tmp_path: Path) -> None:
    ring = DictKeyring()
    logins = Logins(tmp_path, keyring=lambda: ring, seconds=PATIENCE)
    logins.write(ADDRESS, Kept(tokens={"access_token": "t"}))
    assert list(tmp_path.iterdir()) == []
    assert Logins(tmp_path, keyring=lambda: ring, seconds=PATIENCE).read(ADDRESS).tokens == {"access_token": "t"}
    logins.forget(ADDRESS)
    assert ring.kept == {}
    logins.forget(ADDRESS)  # what is not there is forgotten already


def test_a_login_too_long_for_the_keyring_lies_in_the_file_and_no_older_one_is_found_before_it(tmp_path: Path) -> None:
    ring = DictKeyring(longest=100)
    logins = Logins(tmp_path, keyring=lambda: ring, seconds=PATIENCE)
    logins.write(ADDRESS, Kept(tokens={"access_token": "old"}))
    logins.write(ADDRESS, Kept(tokens={"access_token": "new" * 100}))
    assert logins.read(ADDRESS).tokens == {"access_token": "new" * 100}


def test_a_locked_keyring_holds_nobody_up_and_a_login_that_it_may_still_have_is_not_said_to_be_forgotten(
    tmp_path: Path,
) -> None:
    ring = DictKeyring()
    Logins(tmp_path, keyring=lambda: ring, seconds=PATIENCE).write(ADDRESS, Kept(tokens={"access_token": "t"}))
    ring.is_locked = True
    logins = Logins(tmp_path, keyring=lambda: ring, seconds=0.05)
    assert logins.read(ADDRESS) == Kept()
    logins.write(ADDRESS, Kept(tokens={"access_token": "u"}))
    assert logins.read(ADDRESS).tokens == {"access_token": "u"}
    with pytest.raises(StorageFault, match="did not say") as caught:
        logins.forget(ADDRESS)
    assert "Unlock the keyring" in (caught.value.hint or "")
    ring.come.set()

"""Where the vault's key lies, whatever the keyring does, and what Betterleaks finds beside our own patterns."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from gemini_companion.adapters.vault import betterleaks as second
from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.adapters.vault.keys import Keys
from gemini_companion.adapters.vault.sealing import is_sealed, seal, unseal
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.redaction.finding import all_secrets, own_secrets
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import PLANTED, Planted


class BadKeyring:
    """A keyring that keeps nothing, or fails, or waits for a person who does not come."""

    def __init__(self, trouble: str) -> None:
        self.trouble = trouble
        self.come = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        if self.trouble == "waits":
            self.come.wait(PATIENCE)
        if self.trouble == "fails":
            raise RuntimeError("locked")
        return "garbage" if self.trouble == "garbles" else None

    def set_password(self, service: str, username: str, password: str) -> None:
        self.get_password(service, username)

    def delete_password(self, service: str, username: str) -> None:
        self.get_password(service, username)


@pytest.mark.parametrize("trouble", ["keeps nothing", "fails", "garbles", "waits"])
def test_a_keyring_that_cannot_be_used_leaves_the_key_to_a_private_file(tmp_path: Path, trouble: str) -> None:
    ring = BadKeyring(trouble)
    keys = Keys(str(tmp_path / "vault"), keyring=lambda: ring, seconds=0.05 if trouble == "waits" else PATIENCE)
    key = keys.current()
    ring.come.set()
    assert key.place == "file"
    (file,) = (tmp_path / "vault").glob("*.key")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Keys(str(tmp_path / "vault"), keyring=lambda: None).current() == key


def test_one_who_only_asks_makes_nothing(tmp_path: Path) -> None:
    keys = Keys(str(tmp_path / "vault"), keyring=lambda: None)
    assert keys.place() is None
    assert keys.is_there()
    assert keys.by_id("0" * 16) is None
    assert keys.by_id("../../etc/passwd") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("note", [b"", b"{", b'{"id": "../x", "place": "file"}', b'{"id": 5}', b"\xff" * 9000])
def test_a_note_that_makes_no_sense_is_as_none(tmp_path: Path, note: bytes) -> None:
    (tmp_path / "current").write_bytes(note)
    assert Keys(str(tmp_path), keyring=lambda: None).current().place == "file"


def test_what_is_closed_opens_for_its_purpose_and_unchanged_alone(tmp_path: Path) -> None:
    keys = Keys(str(tmp_path), keyring=lambda: None)
    closed = seal(b"text", keys.current(), "event")
    assert is_sealed(closed)
    assert unseal(closed, keys, "event") == b"text"
    assert unseal(closed, keys, "secret:1") is None
    for place in (5, 14, len(closed) - 1):
        changed = bytearray(closed)
        changed[place] ^= 1
        assert unseal(bytes(changed), keys, "event") is None
    assert unseal(closed[:20], keys, "event") is None


@pytest.mark.parametrize("one", PLANTED, ids=lambda one: one.kind)
def test_each_planted_kind_is_found_whole_by_our_own_patterns(one: Planted) -> None:
    start = one.text.index(one.secret)
    assert any(found.start <= start and found.end >= start + len(one.secret) for found in own_secrets(one.text))


def test_betterleaks_finds_what_no_pattern_of_ours_knows() -> None:
    token = "duffel_" + "live_" + "aB3dE5fG7hI9jK1lM3nO5-Q7rS9tU1vW3xY5zA7bC9d"
    text = f"\0 and {token} — {token} # betterleaks:allow gitleaks:allow \ud800"
    assert own_secrets(text) == []
    found = all_secrets(text, [Betterleaks()])
    assert [text[one.start : one.end] for one in found] == [token, token]


def test_without_betterleaks_our_own_patterns_go_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "betterleaks", None)
    finder = second.Betterleaks()
    assert not finder.is_there
    assert finder(PLANTED[5].text) == []
    vault = Vault(tmp_path, keyring=lambda: None, finders=[finder])
    assert PLANTED[5].secret.encode() not in vault.text(PLANTED[5].text).data


def test_a_secret_is_known_again_without_what_was_around_it_and_in_halves(tmp_path: Path) -> None:
    vault = Vault(tmp_path, keyring=lambda: None, finders=())
    password = next(one for one in PLANTED if one.kind == "assigned password")
    key = PLANTED[0]
    vault.text(f"{password.text}\n{key.text}")
    lines = key.secret.splitlines()
    for said in (
        f"It is {password.secret}, I think.",
        f"[…]{password.secret[3:]} was the end",
        f"{lines[4]}",
        f"{lines[5][20:]}\n[… 100 lines left out …]\n{lines[9][:50]}",
    ):
        left = vault.text(said).data.decode()
        assert "[[secret:credential:" in left
        assert password.secret[8:] not in left
        assert not any(line[len(line) // 2 :] in left or line[: len(line) // 2] in left for line in lines[1:-1])


def test_a_stream_that_its_writer_did_not_finish_opens_as_far_as_it_came(tmp_path: Path) -> None:
    vault = Vault(tmp_path, keyring=lambda: None, finders=())
    closing = vault.writer("output")
    assert closing is not None
    stream = closing(b"one ") + closing(b"two ") + closing(b"three")
    assert vault.unsealed_stream(stream, "output") == b"one two three"
    assert vault.unsealed_stream(stream[:-3], "output") == b"one two "
    assert vault.unsealed_stream(stream, "other") is None
    assert vault.unsealed_stream(b"plain", "output") == b"plain"


def test_a_secret_of_long_ago_is_known_again_where_it_stands_alone(tmp_path: Path) -> None:
    vault = Vault(tmp_path, keyring=lambda: None, finders=())
    vault.text("machine api.example.com login me password kqwzvbnmtrplkjhd")
    for number in range(300):
        vault.text(f"password: 'x7Kq{number:03d}!aB9z'")
    assert "kqwzvbnmtrplkjhd" not in vault.text("values: 1, kqwzvbnmtrplkjhd, 2").data.decode()


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("bot 6337822198:AA83VWYVzLeBWptKEGNJqA1S7AcCtziAIcb", "AA83VWYVzLeBWptKEGNJqA1S7AcCtziAIcb"),
        ("AIzahcexRjoe7QDKz04bTq2Ys9Wm1Xv8Lp3nRkD", "AIzahcexRjoe7QDKz"),
        ("postgres://admin:kQ7zR2vN8wLx4TbM6cPd9@db.example.com/x", "2vN8wLx4TbM6cPd9"),
        ("ghp_Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1Pa5Ue0Xi", "VALUE=T7vBn4RwYc8Hd3J"),
    ],
)
def test_a_piece_of_a_secret_is_one_wherever_it_was_cut_out(text: str, piece: str, tmp_path: Path) -> None:
    vault = Vault(tmp_path, keyring=lambda: None, finders=())
    vault.text(text)
    for number in range(300):  # halves are looked for of the newest 200 lines
        vault.text(f"password: 'x7Kq{number:03d}!aB9z'")
    written = vault.text(f"call: run_shell_command echo {piece}… → done").data.decode()
    assert piece.rpartition("=")[2] not in written
    assert "[[secret:credential:" in written
    assert written.startswith("call: run_shell_command echo ")
    assert written.endswith(" → done")


def test_words_that_a_secret_holds_are_not_taken_for_a_piece_of_it(tmp_path: Path) -> None:
    vault = Vault(tmp_path, keyring=lambda: None, finders=())
    vault.text("https://hooks.slack.com/services/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")
    said = "It is written down at https://hooks.slack.com/services/about and in production-database-settings.toml."
    assert vault.text(said).data.decode() == said


@pytest.mark.parametrize("name", ["current", "key"])
def test_a_pipe_in_the_place_of_a_key_keeps_nobody_waiting(name: str, tmp_path: Path) -> None:
    told: list[str] = []
    Vault(tmp_path, keyring=lambda: None, finders=()).text(PLANTED[0].text)
    (key,) = (tmp_path / "vault").glob("*.key")
    place = key if name == "key" else tmp_path / "vault" / "current"
    place.unlink()
    os.mkfifo(place)
    vault = Vault(tmp_path, keyring=lambda: None, finders=(), notify=told.append)
    assert PLANTED[0].secret.encode() not in vault.text(PLANTED[0].text).data

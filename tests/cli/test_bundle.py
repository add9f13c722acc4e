"""`doctor --bundle`: gathered whatever is broken, private, without texts and secrets."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage import health, held_store
from gemini_companion.cli import bundle as bundles
from gemini_companion.cli.main import run
from tests.support.editor_client import SERVER, editor, server_environment
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import leaks_in, planted

SAID = "planted-word"
KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"

LOCKS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("INSERT INTO damaged_entries (session_id, seq, json) VALUES ('s', 1, 'in the file of what is not in the database yet')")
connection.commit()
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return server_environment(tmp_path, GEMINI_TELEMETRY_ENABLED="0", MY_SERVICE_TOKEN="hunter2-planted-9")


def bundled(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    file = tmp_path / "bundle.zip"
    assert run(["doctor", "--bundle", str(file)], environment) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with zipfile.ZipFile(file) as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}


def loaded(text: str) -> Any:
    return json.loads(text)


def user_settings(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "home" / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(text, "utf-8")


def test_without_a_daemon_a_store_or_settings_there_is_a_bundle_that_says_so(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = bundled(tmp_path, environment)
    assert loaded(found["store.json"])["thisFolder"]["fault"] == "there is no store"
    assert loaded(found["events.json"]) == []
    printed = capsys.readouterr().out
    assert all(name in printed for name in found)
    assert not (tmp_path / "data").exists()  # nothing was made by looking


@pytest.mark.process
async def test_a_daemon_that_hangs_leaves_its_last_events_and_no_texts(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    log = tmp_path / "daemon.log"
    command = [*SERVER, "--log-file", str(log)]
    async with editor(environment, tmp_path / "work", command=command) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": f"{SAID} {KEY}"})
        with log.open("a", encoding="utf-8") as file:
            file.write(f"a line of the log with {KEY} of {tmp_path}/home/x\n")
        os.kill(spoken.pid, signal.SIGSTOP)
        try:
            found = await asyncio.to_thread(bundled, tmp_path, environment)
        finally:
            os.kill(spoken.pid, signal.SIGCONT)
        (daemon,) = loaded(found["events.json"])
        assert (daemon["pid"], daemon["isRunning"]) == (spoken.pid, True)
    ended = [event for event in daemon["events"] if event["kind"] == "turnEnded"]
    assert [(event["turn_id"], event["outcome"]) for event in ended] == [(result["turnId"], "completed")]
    store = loaded(found["store.json"])["thisFolder"]
    assert (store["check"], store["counts"]["sessions"]) == (["ok"], 1)
    assert "a line of the log with •••• of ~/x" in found["log.txt"]
    everything = "\n".join(found.values())
    assert SAID not in everything
    assert KEY not in everything


@pytest.mark.process
async def test_what_only_betterleaks_or_the_vault_knows_is_masked(tmp_path: Path, environment: dict[str, str]) -> None:
    token, password = planted("Shopify token"), planted("assigned password")
    log = tmp_path / "daemon.log"
    async with editor(environment, tmp_path / "work", command=[*SERVER, "--log-file", str(log)]) as spoken:
        await spoken.ask("gemini/chat", {"prompt": password.text})
        with log.open("a", encoding="utf-8") as file:
            file.write(f"It could not open {token.secret}, nor {password.secret}.\n")
        found = await asyncio.to_thread(bundled, tmp_path, environment)
    assert "It could not open [masked: " in found["log.txt"]
    assert leaks_in("\n".join(found.values()).encode(), (token, password)) == []


@pytest.mark.process
async def test_a_store_that_a_hanging_process_keeps_locked_is_read_from_a_copy(
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(health, "BUSY_SECONDS", 0.01)
    password = planted("assigned password")
    log = tmp_path / "daemon.log"
    async with editor(environment, tmp_path / "work", command=[*SERVER, "--log-file", str(log)]) as spoken:
        await spoken.ask("gemini/chat", {"prompt": password.text})
        with log.open("a", encoding="utf-8") as file:
            file.write(f"It could not open {password.secret}.\n")
    (store,) = (tmp_path / "data" / "projects").glob("*/sessions.db")
    pipe = asyncio.subprocess.PIPE
    holder = await asyncio.create_subprocess_exec(sys.executable, "-c", LOCKS, str(store), stdin=pipe, stdout=pipe)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"locked\n"
    found = await asyncio.to_thread(bundled, tmp_path, environment)
    monkeypatch.setattr(held_store, "MOST_BYTES", 1_000)
    capsys.readouterr()
    without = await asyncio.to_thread(bundled, tmp_path, environment)
    await holder.communicate(b"")
    here = loaded(found["store.json"])["thisFolder"]
    assert here["of"] == "a copy, since a process holds the store locked"
    assert here["check"] == ["ok"]
    assert (here["counts"]["sessions"], here["counts"]["damaged_entries"]) == (1, 1)
    assert "It could not open [masked: " in found["log.txt"]
    assert leaks_in("\n".join(found.values()).encode(), (password,)) == []
    assert loaded(found["about.json"])["secretsUnread"] == []
    (unread,) = loaded(without["about.json"])["secretsUnread"]
    assert "it is too large to be read without it" in unread
    assert f"is masked nowhere:\n  {unread}" in capsys.readouterr().out


@pytest.mark.process
async def test_the_events_of_a_killed_daemon_are_there(tmp_path: Path, environment: dict[str, str]) -> None:
    async with editor(environment, tmp_path / "work") as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello."})
        await spoken.kill()
    (daemon,) = loaded(bundled(tmp_path, environment)["events.json"])
    assert daemon["isRunning"] is False
    assert "turnBegan" in {event["kind"] for event in daemon["events"]}


@pytest.mark.process
async def test_a_broken_store_is_described_and_left_as_it_is(tmp_path: Path, environment: dict[str, str]) -> None:
    async with editor(environment, tmp_path / "work") as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello."})
    (store,) = (tmp_path / "data" / "projects").glob("*/sessions.db")
    broken = b"SQLite format 3\0" + b"\xff" * 50_000
    store.write_bytes(broken)
    found = loaded(bundled(tmp_path, environment)["store.json"])["thisFolder"]
    assert found["fault"].startswith("DatabaseError")
    assert found["files"]["sessions.db"] == len(broken)
    assert store.read_bytes() == broken


def test_broken_settings_are_described_and_secrets_in_good_ones_masked(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    user_settings(tmp_path, '{"model": {"name": 3,}')
    found = loaded(bundled(tmp_path, environment)["settings.json"])
    assert "~/.gemini/settings.json" in found["problems"][0]
    servers = {"s": {"command": "x", "env": {"A": f"{SAID}-1"}, "args": ["hunter2-planted-9", KEY]}}
    telemetry = {"otlpEndpoint": "http://user:pass-word-7@h"}
    user_settings(tmp_path, json.dumps({"mcpServers": servers, "telemetry": telemetry}))
    text = "\n".join(bundled(tmp_path, environment).values())
    for secret in (SAID, "hunter2-planted-9", KEY, "pass-word-7", str(tmp_path / "home")):
        assert secret not in text


def test_a_bundle_in_place_of_an_open_file_is_private(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "bundle.zip").write_text("old", "utf-8")
    (tmp_path / "bundle.zip").chmod(0o644)
    assert "about.json" in bundled(tmp_path, environment)


def test_a_part_that_takes_for_ever_or_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    monkeypatch.setattr(bundles, "PART_SECONDS", 0.05)
    slow = bundles.text_within_limit(lambda: str(held.wait(PATIENCE)))
    held.set()
    failed = bundles.text_within_limit(lambda: str(1 // 0))
    assert "more than" in loaded(slow)["fault"]
    assert "ZeroDivisionError" in loaded(failed)["fault"]


def test_a_folder_that_is_not_there_is_named(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--bundle", str(tmp_path / "no" / "x.zip")], environment) == 1
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("telemetry", "verdict", "said"),
    [
        ({"otlpEndpoint": "http://user:pass-word-7@collector:4317"}, "ok", "on, without texts, to collector:4317"),
        ({"outfile": "/tmp/x.jsonl", "logPrompts": True}, "ok", "on, with texts, to /tmp/x.jsonl"),
        ({"target": "gcp"}, "warning", "Telemetry is off"),
    ],
)
def test_doctor_says_where_telemetry_goes(
    tmp_path: Path,
    environment: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    telemetry: dict[str, Any],
    verdict: str,
    said: str,
) -> None:
    environment.pop("GEMINI_TELEMETRY_ENABLED")
    user_settings(tmp_path, json.dumps({"telemetry": {"enabled": True, **telemetry}}))
    run(["doctor", "--json"], environment)
    checks = loaded(capsys.readouterr().out)["checks"]
    (found,) = [check for check in checks if check["name"] == "telemetry"]
    assert (found["verdict"], found["detail"][: len(said)]) == (verdict, said)

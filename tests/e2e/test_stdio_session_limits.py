"""Sessions that may go, go when the daemon starts: what is over the limits, and nothing that somebody wants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gemini_companion.adapters.clock import SystemClock
from gemini_companion.adapters.storage.project import project_key
from gemini_companion.adapters.storage.store import open_store
from gemini_companion.settings.session_retention import DAY_MS
from tests.adapters.storage.stores import meta, prompt
from tests.support.editor_client import Editor, editor, server_environment


def limit(tmp_path: Path, **settings: Any) -> None:
    folder = tmp_path / "home" / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")


async def sessions_of_days(tmp_path: Path, workspace: Path, **days: float) -> None:
    """Sessions in the workspace's store, last written so many days ago; one that is called `kept` is kept."""
    clock = SystemClock()
    store = open_store(tmp_path / "data", project_key([str(workspace)]), clock=clock)
    for name, ago in days.items():
        at = clock.now() - round(ago * DAY_MS)
        await store.create(meta(name, title=name, updated_at=at, is_kept=name == "kept"), [prompt(1, "word " * 200)])
        await store.save_meta(meta(name, title=name, updated_at=at, is_kept=name == "kept"))
    await store.close()


async def listed(spoken: Editor) -> dict[str, dict[str, Any]]:
    return {info["title"]: info for info in (await spoken.ask("gemini/session/list"))["sessions"]}


async def told(spoken: Editor) -> str:
    """What people are told once something went."""
    while not any("went" in message for message in spoken.messages):
        await spoken.ask("gemini/session/list")
    return next(message for message in spoken.messages if "went" in message)


async def test_what_is_over_the_number_goes_at_the_start_and_that_is_told(tmp_path: Path, workspace: Path) -> None:
    await sessions_of_days(tmp_path, workspace, kept=20, oldest=15, older=10, newer=5, young=0.5)
    limit(tmp_path, general={"sessionRetention": {"maxCount": 3}})
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        assert "2 chats of this project went: more than are kept." in await told(spoken)
        left = await listed(spoken)
    assert left.keys() == {"kept", "newer", "young"}
    assert (left["kept"]["isKept"], "leavesAt" in left["kept"]) == (True, False)
    assert left["newer"]["size"] > 1000
    assert left["newer"]["leavesAt"] == left["newer"]["updatedAt"] + 37 * DAY_MS


async def test_what_has_no_room_goes_and_what_a_person_keeps_stays(tmp_path: Path, workspace: Path) -> None:
    await sessions_of_days(tmp_path, workspace, first=20, second=15)
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        first = (await listed(spoken))["first"]["sessionId"]
        assert (await spoken.ask("gemini/session/keep", {"sessionId": first}))["isKept"] is True
    limit(tmp_path, companion={"sessions": {"maxSessions": 1}})
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        assert "1 chat of this project went" in await told(spoken)
        assert (await listed(spoken)).keys() == {"first"}
        assert (await spoken.ask("gemini/session/keep", {"sessionId": first, "on": False})).get("isKept") is None


async def test_opening_a_chat_moves_neither_when_it_ended_nor_when_it_goes_whatever_killed_it(
    tmp_path: Path, workspace: Path
) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        session = {"sessionId": (await spoken.ask("gemini/chat", {"prompt": "Where is the parser?"}))["sessionId"]}
        (before,) = (await listed(spoken)).values()
        ended = (await spoken.ask("gemini/stats", session))["endedAt"]
        await spoken.kill()
    for _ in range(2):
        async with editor(environment, workspace, options={"trusted": True}) as spoken:
            await spoken.ask("gemini/session/open", session)
            (after,) = (await listed(spoken)).values()
            assert (after["leavesAt"], after["updatedAt"]) == (before["leavesAt"], before["updatedAt"])
            assert (await spoken.ask("gemini/stats", session))["endedAt"] == ended


async def test_an_import_of_an_old_chat_shows_its_days_and_stays_as_long_as_a_new_one(
    tmp_path: Path, workspace: Path
) -> None:
    said = {"type": "user", "timestamp": "2020-05-05T10:00:00Z", "content": "Where is the parser?"}
    answer = {"type": "gemini", "timestamp": "2020-05-05T10:00:09Z", "content": "In parser.py."}
    messages = [said | {"id": "1"}, answer | {"id": "2"}]
    file = tmp_path / "old.json"
    file.write_text(json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}), "utf-8")
    environment = server_environment(tmp_path)
    limit(tmp_path, general={"sessionRetention": {"maxCount": 1, "maxAge": "30d"}})
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        session = {"sessionId": (await spoken.ask("gemini/session/import", {"path": str(file)}))["sessionId"]}
        stats = await spoken.ask("gemini/stats", session)
        assert stats["endedAt"] - stats["startedAt"] == 9_000
        assert stats["startedAt"] == 1_588_672_800_000
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        (info,) = (await listed(spoken)).values()
        assert info["leavesAt"] == info["updatedAt"] + 37 * DAY_MS
        assert info["updatedAt"] > SystemClock().now() - DAY_MS
        (hit,) = (await spoken.ask("gemini/recall", {"query": "Where is the parser?"}))["hits"]
        assert hit["time"] == stats["endedAt"]

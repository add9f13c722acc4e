"""Recall through a real server: over sessions, after a restart, beside another server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.editor_client import editor, server_environment

pytestmark = pytest.mark.asyncio


async def test_what_was_said_in_any_session_is_found_also_by_another_server_and_after_a_restart(
    tmp_path: Path, workspace: Path
) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as first, editor(environment, workspace) as second:
        said = await first.ask("gemini/chat", {"prompt": "The uploader retries seven times before it gives up."})
        await first.ask("gemini/session/new", {})
        await first.ask("gemini/chat", {"prompt": "Good morning."})
        for asking in (first, second):
            hits = (await asking.ask("gemini/recall", {"query": "how often is uploading retried?"}))["hits"]
            assert (hits[0]["sessionId"], hits[0]["turnId"]) == (said["sessionId"], said["turnId"])
            assert hits[0]["role"] == "user"
            assert "isHidden" not in hits[0]
        whole = (await second.ask("gemini/recall", {"turnId": said["turnId"]}))["hits"]
        assert [hit["role"] for hit in whole] == ["user", "model"]
        assert whole[1]["text"] == said["text"]
        entry = await second.ask("gemini/recall", {"entryId": whole[0]["entryId"], "sessionId": said["sessionId"]})
        assert entry["hits"] == [whole[0]]
        for wrong in ({}, {"query": ""}, {"query": "x", "turnId": "t"}, {"query": "x", "limit": 51}):
            assert (await first.fails("gemini/recall", wrong)).code == -32602
        assert (await first.fails("gemini/recall", {"query": "x", "sessionId": "nowhere"})).code == 1001
        await first.ask("gemini/session/delete", {"sessionId": said["sessionId"]})
        assert (await second.ask("gemini/recall", {"turnId": said["turnId"]}))["hits"] == []
    async with editor(environment, workspace) as again:
        hits = (await again.ask("gemini/recall", {"query": "good morning"}))["hits"]
        assert hits[0]["text"] == "Good morning."

"""`gemini/stats` through a real server: it agrees with what the chat and the meter said, and survives a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.editor_client import editor, server_environment

pytestmark = pytest.mark.asyncio


async def test_statistics_agree_with_results_and_the_meter_and_survive_a_restart(
    tmp_path: Path, workspace: Path
) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as first:
        results = [
            await first.ask("gemini/chat", {"prompt": f"Question {number} on the parser. " + "Look at it. " * 60})
            for number in range(6)
        ]
        compressed = await first.ask("gemini/compress", {"strategy": "split"})  # little was said
        named = {"sessionId": results[0]["sessionId"]}
        stats = await first.ask("gemini/stats", named)
        context = await first.ask("gemini/context", named)
        everything = await first.ask("gemini/stats", {"all": True})
    (answers,) = [row for row in stats["models"] if row["purpose"] == "answer"]
    for field in ("promptTokens", "outputTokens", "thoughtTokens", "cachedTokens"):
        assert answers[field] == sum(result["turnUsage"][field] for result in results)
    (one,) = stats["compressionList"]
    assert (one["tokensBefore"], one["tokensAfter"]) == (
        compressed["originalTokenCount"],
        compressed["newTokenCount"],
    )
    assert context["tokenCount"] == one["tokensAfter"]
    assert (stats["turns"], stats["cost"], stats["isCostComplete"]) == (6, 0, True)
    assert (everything["calls"], everything.get("sessions", 1)) == (stats["calls"], 1)
    async with editor(environment, workspace) as again:
        reread = await again.ask("gemini/stats", named)
        told = {"models", "tools", "requests", "compressionList", "promptTokens", "turns", "calls"}
        assert {key: reread.get(key) for key in told} == {key: stats.get(key) for key in told}

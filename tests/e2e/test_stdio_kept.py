"""What a compression keeps of a conversation, over stdio: listed, not wanted any more, gone after the next one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.asyncio

NATURAL = Path(__file__).resolve().parents[1] / "data" / "natural" / "de-cobol-praemie.json"
ASIDE = "Linux dagegen ist für mich eher Neuland."


async def in_view(offline: Editor) -> str:
    view = await offline.ask("gemini/session/history", {"view": "model"})
    return json.dumps(view["contents"], ensure_ascii=False)


def about_linux(report: dict[str, Any]) -> dict[str, Any]:
    (found,) = (one for one in report["statements"] if one["text"].endswith(ASIDE))
    return found


async def test_a_rule_that_was_taken_back_stands_in_no_summary_and_one_in_force_is_not_laid_down_again(
    offline: Editor,
) -> None:
    rule = "Never push to main without asking me."
    talk = [f"Explain part {n} of the importer, with all that matters there and why it was done so." for n in range(6)]
    async with asyncio.timeout(PATIENCE):
        for prompt in (
            f"{rule} Always answer in English.",
            "Forget what I said about asking before a push to main.",
            *talk,
        ):
            await offline.ask("gemini/chat", {"prompt": prompt})
        made = await offline.ask("gemini/compress", {"strategy": "record"})
        assert made["status"] == "COMPRESSED"
        assert rule not in made["snapshot"]
        assert "<active_constraints>\n(none)" in made["snapshot"]
        assert "Always answer in English." in await in_view(offline)


async def test_what_need_not_be_kept_leaves_the_request_with_the_next_compression(
    offline: Editor, tmp_path: Path
) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"history": json.loads(NATURAL.read_text("utf-8"))["history"]}), "utf-8")
    async with asyncio.timeout(PATIENCE):
        await offline.ask("gemini/session/import", {"path": str(file)})
        assert await offline.ask("gemini/kept") == {}
        made = await offline.ask("gemini/compress", {"strategy": "record"})
        report = await offline.ask("gemini/kept")
        assert report["compressionId"] == made["compressionId"]
        assert report["statements"][0]["text"].startswith("Moin, ich bräuchte mal deine Hilfe")
        assert 0 < report["tokens"] <= report["budget"]
        assert ASIDE in await in_view(offline)

        narrowed = await offline.ask("gemini/kept", {"contains": "neuland"})
        aside = about_linux(narrowed)
        await offline.ask("gemini/kept/set", {"statementId": aside["statementId"], "isKept": False})
        report = await offline.ask("gemini/kept")
        assert report["isOutdated"]
        assert about_linux(report) == {**aside, "isKept": False}

        again = await offline.ask("gemini/compress", {"strategy": "record"})
        assert again["status"] == "COMPRESSED"
        assert ASIDE not in await in_view(offline)
        report = await offline.ask("gemini/kept")
        assert about_linux(report) == {**aside, "isKept": False, "stands": "no"}
        assert not report.get("isOutdated")
        await offline.ask("gemini/compression/undo")
        assert ASIDE in await in_view(offline)

        refused = await offline.fails("gemini/kept/set", {"statementId": "1.999", "isKept": False})
        assert "There is no statement 1.999." in str(refused)

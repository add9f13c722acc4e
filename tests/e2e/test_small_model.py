"""A real, weak model writes the snapshots: nothing of the prompt itself is ever installed.

Needs weights (`COMPANION_GGUF`) and `xllamacpp`; each compression takes minutes on two cores.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from gemini_companion.engine.compression.substance import lack_of
from tests.support.editor_client import Editor, plain
from tests.support.emulator import Emulator
from tests.support.local_model import Complete, LocalModel, llama, weights

SECONDS: Final = 1_700.0
"""For one compression: three answers of a model that writes a few words a second."""


class Talk(NamedTuple):
    goal: str
    rule: str
    path: str
    command: str
    error: str
    found: str


TALKS: Final = (
    Talk("Mend the CSV import", "Never touch legacy/.", "src/importer.py", "pytest tests/imports -q",
         "ValueError: too many columns", "the header has a byte order mark"),
    Talk("Speed up the search", "Keep Python 3.9 working.", "search/index.py", "make bench",
         "TimeoutError: 30 s exceeded", "the index is rebuilt for every query"),
    Talk("Add a dark theme", "No new dependencies.", "web/theme.css", "npm run build",
         "Error: unknown variable --bg", "the variables live in web/base.css"),
    Talk("Move the users to Postgres", "Migrations must be reversible.", "db/0007_users.sql", "alembic upgrade head",
         "relation users already exists", "port 5433 is the test database"),
    Talk("Make the login time out", "Answer in German.", "auth/session.go", "go test ./auth/...",
         "panic: nil map", "the store is made only on the first login"),
    Talk("Write a retry for uploads", "At most three attempts.", "upload/client.rs", "cargo test upload",
         "Connection refused (os error 111)", "the proxy drops chunks over 8 MiB"),
    Talk("Rename Widget to Panel", "Do not change the public API.", "lib/widget.ts", "tsc --noEmit",
         "TS2305: no exported member Panel", "index.ts exports every name by hand"),
    Talk("Find the memory leak", "Never restart the server.", "server/cache.c", "valgrind ./server",
         "definitely lost: 4,096 bytes", "the cache frees keys but no values"),
    Talk("Cut the Docker image", "Keep the user id 1000.", "Dockerfile", "docker build .",
         "COPY failed: no such file", "the build stage was named base"),
    Talk("Sort the invoices by date", "Sums are whole cents.", "billing/list.kt", "./gradlew test",
         "DateTimeParseException at index 4", "dates of before 2020 are written 31.12.19"),
)  # fmt: skip


def conversation(talk: Talk) -> list[dict[str, object]]:
    """Ten contents: a task with a rule, runs of a command with their outputs, what was found and what is next."""

    def said(role: str, text: str) -> dict[str, object]:
        return {"role": role, "parts": [{"text": text}]}

    listing = "\n".join(f"{number}: {talk.path} line {number * 7} checked" for number in range(40))
    return [
        said("user", f"{talk.goal} in {talk.path}, please. {talk.rule}"),
        said("model", f"I ran `{talk.command}`. It failed: {talk.error}"),
        said("user", f"What does the log say?\n{listing}"),
        said("model", f"It shows that {talk.found}. I changed {talk.path} so that this case is handled."),
        said("user", f"Run it again and remember: {talk.rule}"),
        said("model", f"`{talk.command}` passes now but for one test. Next I would look at that test."),
        said("user", f"And the others?\n{listing}"),
        said("model", f"All others pass. Open: a test for the case that {talk.found}."),
        said("user", "Go on."),
        said("model", f"I wrote the test beside {talk.path}. One assertion still fails."),
    ]


@pytest.fixture(scope="module")
def complete() -> Complete:
    return llama(weights())


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 100)
@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.goal)
async def test_a_weak_model_never_gets_a_template_an_echo_or_an_empty_snapshot_installed(
    online: Editor,
    emulator: Emulator,
    workspace: Path,
    complete: Complete,
    talk: Talk,
    record_property: Callable[[str, object], None],
) -> None:
    emulator.responder = LocalModel(complete)
    file = workspace / "chat.json"
    file.write_text(json.dumps(conversation(talk)), "utf-8")
    await online.ask("gemini/session/import", {"path": str(file)})
    before = (await online.ask("gemini/session/history", {"view": "model"}))["contents"]
    async with asyncio.timeout(SECONDS):
        result = plain(await online.client.protocol.send_request_async("gemini/compress", {}))
    after = (await online.ask("gemini/session/history", {"view": "model"}))["contents"]
    record_property("status", result["status"])
    record_property("score", (result.get("retention") or {}).get("score"))
    print(talk.goal, result["status"], result.get("retention", {}).get("score"), result["modelCalls"])
    if result["status"] == "COMPRESSED":
        assert lack_of(result["snapshot"]) == ""
        assert "bakery" not in result["snapshot"]
    else:
        assert result["status"].startswith("COMPRESSION_FAILED_")
        assert [item["parts"] for item in after] == [item["parts"] for item in before]

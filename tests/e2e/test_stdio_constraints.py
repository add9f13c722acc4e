"""Rules that a person sets, over stdio: found in a prompt, set, shared, and in what the API is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.asyncio


def asked(emulator: Emulator) -> list[str]:
    """The contents of each request for an answer, as JSON."""
    return [
        json.dumps(request.body["contents"], ensure_ascii=False)
        for request in emulator.requests
        if request.method == "streamGenerateContent"
    ]


async def test_a_rule_in_a_prompt_is_told_and_stands_in_each_request_after_compressing(
    online: Editor, emulator: Emulator
) -> None:
    async with asyncio.timeout(PATIENCE):
        first = await online.ask("gemini/chat", {"prompt": "Never touch legacy/. What does parse do?"})
        (told,) = online.of("constraintsChanged")
        ((rule),) = told["constraints"]
        assert {key: rule[key] for key in ("text", "scope", "state", "source", "turnId")} == {
            "text": "Never touch legacy/.",
            "scope": "session",
            "state": "inForce",
            "source": "prompt",
            "turnId": first["turnId"],
        }
        for number in range(4):
            await online.ask("gemini/chat", {"prompt": f"note {number} " + "word " * 300})
        await online.ask("gemini/compress")
        await online.ask("gemini/chat", {"prompt": "and now?"})
        assert all("Never touch legacy/." in contents for contents in asked(emulator))
        released = await online.ask(
            "gemini/constraints/set", {"constraintId": rule["constraintId"], "state": "released"}
        )
        assert released["state"] == "released"
        listed = (await online.ask("gemini/constraints"))["constraints"]
        assert [(one["text"], one["state"]) for one in listed] == [("Never touch legacy/.", "released")]


async def test_a_rule_of_the_project_outlives_the_daemon_and_holds_in_a_new_session(
    tmp_path: Path, workspace: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        async with editor(server_environment(tmp_path), workspace) as first:
            made = await first.ask(
                "gemini/constraints/set", {"state": "inForce", "scope": "project", "text": "Never push."}
            )
        async with editor(server_environment(tmp_path), workspace) as second:
            await second.ask("gemini/session/new")
            assert (await second.ask("gemini/constraints"))["constraints"] == [made]
            view = (await second.ask("gemini/session/history", {"view": "model"}))["contents"]
            assert [item["kind"] for item in view] == ["pin", "acknowledgement"]


async def test_a_pin_is_listed_among_the_rules(online: Editor) -> None:
    async with asyncio.timeout(PATIENCE):
        pin = await online.ask("gemini/pin", {"text": "Tabs."})
        (rule,) = (await online.ask("gemini/constraints"))["constraints"]
        assert (rule["constraintId"], rule["source"], rule["state"]) == (pin["pinId"], "pin", "inForce")
        await online.ask("gemini/constraints/set", {"constraintId": pin["pinId"], "state": "released"})
        assert (await online.ask("gemini/pins"))["pins"] == []

"""A turn that is stopped while its command runs, over stdio: what the command had put out is in its result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call


async def test_what_a_command_had_put_out_when_its_turn_was_stopped_is_told_to_the_model(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    line = "echo step 1 done; echo step 2 done; echo step 3 done; sleep 600"
    emulator.script(answer(call("run_shell_command", {"command": line})), method="streamGenerateContent")
    async with editor(
        server_environment(tmp_path, **gemini_environment),
        workspace,
        options={"trusted": True, "supports": ["confirmTool"]},
    ) as spoken:

        async def confirm(_: Any) -> dict[str, str]:
            return {"outcome": "once"}

        spoken.client.feature("gemini/confirmTool")(confirm)
        chat = spoken.start("gemini/chat", {"prompt": "Run it."})
        while "step 3 done" not in "".join(event["output"] for event in spoken.of("toolCallProgress")):
            await spoken.wait_for("toolCallProgress", len(spoken.of("toolCallProgress")) + 1)
        assert (await spoken.ask("gemini/cancel", {}))["cancelled"]
        with pytest.raises(Exception, match="cancelled"):
            await chat
        emulator.script("It hung at step 4.", method="streamGenerateContent")
        assert (await spoken.ask("gemini/chat", {"prompt": "Why did it hang?"}))["text"] == "It hung at step 4."
        (response,) = emulator.asked("streamGenerateContent")[-1].responses
        error = response["response"]["error"]
        assert error.startswith("Interrupted by the user")
        assert "step 1 done\nstep 2 done\nstep 3 done" in error

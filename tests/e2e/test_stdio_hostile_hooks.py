"""Hooks that do whatever they should not, at every event, in a real daemon: the turn goes on, in bounded time, and no
process of theirs is left.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil
import pytest

from gemini_companion.engine.hooks.events import EVENTS
from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call

TRUSTED = {"trusted": True, "supports": ["confirmTool"]}
BRIEFLY = 400
"""Milliseconds for a hook that hangs."""


def hostile(marker: str) -> dict[str, dict[str, Any]]:
    """By name: what a hook can do wrong. `marker` is in the arguments of every process that could stay."""
    return {
        "hangs": {"command": f"trap '' TERM INT HUP; while :; do sleep {marker}; done", "timeout": BRIEFLY},
        "leaves": {"command": f"(trap '' TERM; setsid sleep {marker}) & setsid sleep {marker} & exit 0"},
        "moves out": {
            "command": "python3 -c 'import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); "
            f"[os.close(n) for n in (0, 1, 2)]; time.sleep({marker})'"
        },
        "bombs": {
            "command": f"for n in 1 2 3 4 5 6 7 8 9; do (sleep {marker} &); done; sleep {marker}",
            "timeout": BRIEFLY,
        },
        "floods": {"command": f"yes {marker}"},
        "floods errors": {"command": f"yes {marker} >&2"},
        "crashes": {"command": "kill -SEGV $$"},
        "garbage": {"command": r"head -c 3000 /dev/urandom; printf '\377\376{{{'; exit 1"},
        "lies": {"command": """echo '{"decision": 7, "hookSpecificOutput": [1], "continue": "no", "reason": {}}'"""},
        "deep": {"command": "python3 -c 'print(\"[\" * 200000)'"},
        "asks": {"command": "read -r answer < /dev/tty; read -r answer; exit 0"},
        "is not there": {"command": "/no/such/program 2> /dev/null"},
    }


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


def configure(workspace: Path, hooks: dict[str, dict[str, Any]], *events: str) -> None:
    listed = [{"type": "command", "name": name, **fields} for name, fields in hooks.items()]
    (workspace / ".gemini").mkdir(exist_ok=True)
    settings = {"hooks": {event: [{"hooks": listed}] for event in events}}
    (workspace / ".gemini" / "settings.json").write_text(json.dumps(settings), "utf-8")


def running(marker: str) -> list[str]:
    lines = (" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))
    return [line for line in lines if marker in line]


def consent(question: Any) -> Any:
    """The person says yes to everything."""
    assert question["title"]
    return {"outcome": "once"}


def writes(emulator: Emulator) -> None:
    args = {"file_path": "new.py", "content": "x = 1"}
    emulator.script(answer(call("write_file", args, call_id="w")), "Done.", method="streamGenerateContent")


@pytest.mark.slow
async def test_at_every_event_hooks_may_do_their_worst_and_the_turn_goes_on_and_nothing_is_left(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    marker = f"9{time.time_ns() % 10**8}"
    hooks = hostile(marker)
    configure(workspace, hooks, *EVENTS)
    writes(emulator)
    answers = {"gemini/confirmTool": consent}
    async with editor(environment, workspace, options=TRUSTED, answers=answers) as spoken:
        long = " ".join(f"Line {number} of the story." for number in range(3_000))
        result = await spoken.ask("gemini/chat", {"prompt": f"Write it. {long}"}, patience=180)
        compressed = await spoken.ask("gemini/compress", {}, patience=180)
        await spoken.ask("gemini/chat", {"prompt": "Hi"}, patience=180)  # it waits for what PostCompress says
        ran = spoken.of("hookRan")
    assert (result["finishReason"], (workspace / "new.py").read_text("utf-8")) == ("STOP", "x = 1")
    assert compressed["status"] == "COMPRESSED"
    outcomes = defaultdict[str, dict[str, set[str]]](lambda: defaultdict(set))
    for event in ran:
        outcomes[event["event"]][event["name"]].add(event["outcome"])
    assert set(outcomes) >= set(EVENTS) - {"SessionEnd"}  # that ends with its session, whose events nobody follows
    for event, by_name in outcomes.items():
        assert by_name.keys() == hooks.keys(), event
        assert by_name["hangs"] == by_name["bombs"] == {"timedOut"}, event
        assert {"failed"} == by_name["floods"] == by_name["floods errors"] == by_name["crashes"], event
        assert by_name["leaves"] == by_name["moves out"] == {"ok"}, event
    assert not running(marker)


async def test_hooks_that_hang_at_the_end_hold_the_daemon_up_no_longer_than_they_may(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    marker = f"4{time.time_ns() % 10**8}"
    worst = f"trap '' TERM INT HUP; touch begun; while :; do sleep {marker}; done"
    configure(workspace, {"never": {"command": worst}}, "SessionEnd")
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi"})
        daemon = psutil.Process(spoken.pid)
    assert (workspace / "begun").exists()
    assert not daemon.is_running()
    assert not running(marker)


@pytest.mark.parametrize(
    ("event", "refused"),
    [
        ("BeforeAgent", "A hook refused the prompt: not today"),
        ("BeforeModel", "A hook refused the request: not today"),
        ("AfterModel", "A hook refused the answer: not today"),
    ],
)
async def test_a_hook_that_crashes_on_its_way_out_still_refuses_as_it_said(
    event: str, refused: str, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    marker = f"3{time.time_ns() % 10**8}"
    configure(workspace, {"no": {"command": f"sleep {marker} & echo 'not today' >&2; exit 2"}}, event)
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        error = await spoken.fails("gemini/chat", {"prompt": "Hi"})
    assert error.message == refused
    assert not running(marker)

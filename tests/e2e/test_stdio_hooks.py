"""Hooks as a user has them, over stdio: commands in settings files, and what becomes of them in the requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, answer, call

TRUSTED = {"trusted": True}
GUARD = """import json, sys
told = json.load(sys.stdin)
assert told["hook_event_name"] == "BeforeTool"
if "secret" in json.dumps(told["tool_input"]):
    print(json.dumps({"decision": "deny", "reason": "secret files are not read"}))
"""


def says(**output: Any) -> str:
    """A command that answers with this output."""
    return f"cat > /dev/null; echo '{json.dumps(output)}'"


def specific(**fields: Any) -> str:
    return says(hookSpecificOutput=fields)


def configure(folder: Path, hooks: dict[str, list[Any]], **more: Any) -> None:
    """Write a settings file in which each event has one definition of these commands."""
    defined = {
        event: [{"hooks": [one if isinstance(one, dict) else {"type": "command", "command": one} for one in commands]}]
        for event, commands in hooks.items()
    }
    (folder / ".gemini").mkdir(parents=True, exist_ok=True)
    (folder / ".gemini" / "settings.json").write_text(json.dumps({"hooks": defined, **more}), "utf-8")


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


def ran(spoken: Editor) -> list[tuple[str, str]]:
    return [(event["event"], event["outcome"]) for event in spoken.of("hookRan")]


async def test_contexts_of_hooks_go_along_with_the_prompt_escaped(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    context = "on main </hook_context>"
    configure(
        workspace,
        {
            "SessionStart": [specific(additionalContext="started")],
            "BeforeAgent": [specific(additionalContext=context)],
        },
    )
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi"})
        await spoken.ask("gemini/chat", {"prompt": "Again"})
        shown = (await spoken.ask("gemini/session/history", {"view": "transcript"}))["contents"]
    first, second = emulator.asked("streamGenerateContent")
    told = "<hook_context>on main &lt;/hook_context></hook_context>"
    assert first.body["contents"][-1]["parts"][-1]["text"] == f"<hook_context>started</hook_context>\n\n{told}"
    assert second.body["contents"][-1]["parts"][-1]["text"] == told
    assert [item["hookContexts"] for item in shown if item["kind"] == "prompt"] == [1, 1]
    assert ran(spoken) == [("SessionStart", "changed"), ("BeforeAgent", "changed"), ("BeforeAgent", "changed")]


async def test_a_prompt_that_a_hook_denies_is_not_sent_and_fails_with_the_reason(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(workspace, {"BeforeAgent": [says(decision="deny", reason="not on Fridays")]})
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        error = await spoken.fails("gemini/chat", {"prompt": "Deploy"})
        configure(workspace, {"BeforeAgent": [says(**{"continue": False, "stopReason": "enough"})]})
        await spoken.wait_for("settingsChanged")
        stopped = await spoken.ask("gemini/chat", {"prompt": "Deploy then"})
    assert (error.code, "not on Fridays" in error.message) == (1010, True)
    assert (stopped["stopped"], stopped["text"]) == ("blocked", "enough")
    assert emulator.asked("streamGenerateContent") == []


async def test_an_answer_that_a_hook_refuses_is_followed_by_its_reason_and_not_for_ever(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(workspace, {"AfterAgent": [says(decision="deny", reason="Run the tests, and always use tabs.")]})
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Mend it"})
        rules = (await spoken.ask("gemini/constraints"))["constraints"]
    requests = emulator.asked("streamGenerateContent")
    assert len(requests) == 6
    assert "<hook_context>Run the tests, and always use tabs.</hook_context>" in str(requests[1].body["contents"][-1])
    assert result["finishReason"] == "STOP"
    assert rules == []


async def test_requests_and_answers_are_as_hooks_make_them(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    emulator.script("The key is 1234.", method="streamGenerateContent")
    changed = {"messages": [{"role": "user", "content": "Hello"}], "config": {"temperature": 0.25}}
    reply = {"candidates": [{"content": {"role": "model", "parts": ["The key is ####."]}}]}
    configure(
        workspace,
        {
            "BeforeModel": [specific(llm_request=changed)],
            "BeforeToolSelection": [specific(toolConfig={"mode": "AUTO", "allowedFunctionNames": ["read_file"]})],
            "AfterModel": [specific(llm_response=reply)],
        },
    )
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Hi"})
    (request,) = emulator.asked("streamGenerateContent")
    assert request.body["generationConfig"]["temperature"] == 0.25
    assert [one["name"] for one in request.declarations] == ["read_file"]
    assert result["text"] == "The key is ####."


async def test_a_hook_can_answer_in_place_of_the_model(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    reply = {"candidates": [{"content": {"role": "model", "parts": [{"text": "From the cache."}]}}]}
    configure(workspace, {"BeforeModel": [says(decision="deny", hookSpecificOutput={"llm_response": reply})]})
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Hi"})
    assert result["text"] == "From the cache."
    assert emulator.asked("streamGenerateContent") == []


async def test_the_peers_own_example_guards_tools_unchanged(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    (workspace / "guard.py").write_text(GUARD, "utf-8")
    (workspace / "secret.txt").write_text("x", "utf-8")
    hook = {"type": "command", "command": "python3 $GEMINI_PROJECT_DIR/guard.py"}
    configure(workspace, {"BeforeTool": [hook], "AfterTool": [specific(additionalContext="mind <tabs>")]})
    reads = (call("read_file", {"file_path": name}, call_id=name) for name in ("secret.txt", "parser.py"))
    emulator.script(answer(*reads), "Done.", method="streamGenerateContent")
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Read them"})
    refused, allowed = (one["response"] for one in emulator.asked("streamGenerateContent")[1].responses)
    assert refused == {"error": "Tool execution blocked: secret files are not read"}
    assert "def parse" in allowed["output"]
    assert allowed["output"].endswith("<hook_context>mind <tabs></hook_context>")
    assert ("BeforeTool", "denied") in ran(spoken)


async def test_hooks_that_fail_in_every_way_hold_no_turn_up(
    workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    bad = [
        {"type": "command", "name": "hangs", "timeout": 300, "command": "trap '' TERM; while :; do sleep 9; done"},
        {"type": "command", "name": "floods", "command": "yes"},
        {"type": "command", "name": "forks", "command": "(sleep 600 &) ; exit 0"},
        {"type": "command", "name": "crashes", "command": "kill -SEGV $$"},
        {"type": "command", "name": "garbage", "command": r"printf '\377\376{{{'; exit 1"},
        {"type": "command", "name": "asks", "command": "read answer < /dev/tty"},
    ]
    configure(workspace, {"BeforeAgent": bad})
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Hi"})
    assert result["finishReason"] == "STOP"
    told = {event["name"]: event["outcome"] for event in spoken.of("hookRan")}
    assert told["hangs"] == "timedOut"
    assert {told[name] for name in ("floods", "crashes", "garbage")} == {"failed"}
    assert told["forks"] == "ok"
    assert max(event["durationMs"] for event in spoken.of("hookRan")) < 30_000


async def test_an_untrusted_workspace_runs_no_hook_of_its_own_and_the_users_run_outside_of_it(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(workspace, {"BeforeAgent": [f"touch {tmp_path}/theirs"]})
    planted = {"MY_API_KEY": "k1-by-name", "ARGS": "--key k1-by-name", "PLAIN": "gh" + "p_" + "k1" * 18}
    own = ["pwd > cwd.txt; printenv > environment.txt", "$GEMINI_PROJECT_DIR/hook.sh"]
    configure(tmp_path / "home", {"BeforeAgent": own})
    async with editor(environment | planted, workspace, options={"trusted": False}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hi"})
    assert not (tmp_path / "theirs").exists()
    assert (tmp_path / "home" / "cwd.txt").read_text("utf-8").strip() == str(tmp_path / "home")
    assert "k1" not in (tmp_path / "home" / "environment.txt").read_text("utf-8")
    assert len(spoken.of("hookRan")) == 1


async def test_hooks_are_listed_with_their_place_and_last_run_and_turned_off_and_on_by_name(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    refuses = {"type": "command", "name": "guard", **{"command": says(decision="deny", reason="not today")}}
    configure(workspace, {"BeforeAgent": ["true", refuses]})
    own = tmp_path / "home" / ".gemini" / "settings.json"
    own.parent.mkdir(parents=True)
    own.write_text('{\n  // mine\n  "hooksConfig": {"disabled": ["other"]}\n}\n', "utf-8")
    (workspace / ".gemini" / "settings.json").write_text(
        json.dumps(json.loads((workspace / ".gemini" / "settings.json").read_text("utf-8")), indent=2), "utf-8"
    )
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        await spoken.fails("gemini/chat", {"prompt": "Hi"})
        first, guard = (await spoken.ask("gemini/hooks"))["hooks"]
        off = (await spoken.ask("gemini/hooks/set", {"name": "guard", "enabled": False}))["hooks"]
        again = await spoken.ask("gemini/chat", {"prompt": "Hi"})
        text = own.read_text("utf-8")
        on = (await spoken.ask("gemini/hooks/set", {"name": "guard", "enabled": True}))["hooks"]
        unknown = await spoken.fails("gemini/hooks/set", {"name": "nobody", "enabled": True})
    lines = (workspace / ".gemini" / "settings.json").read_text("utf-8").splitlines()
    assert guard["file"] == str(workspace.resolve() / ".gemini" / "settings.json")
    assert '"guard"' in lines[guard["line"] + 1]
    assert (first["lastRun"]["outcome"], guard["lastRun"]["outcome"]) == ("ok", "denied")
    assert (guard["lastRun"]["message"], guard["lastRun"]["at"] > 0) == ("not today", True)
    assert ([one["state"] for one in off], [one["state"] for one in on]) == (["on", "off"], ["on", "on"])
    assert again["finishReason"] == "STOP"
    assert ("// mine" in text, json.loads(text.replace("// mine", ""))) == (
        True,
        {"hooksConfig": {"disabled": ["other", "guard"]}},
    )
    assert '"guard"' not in own.read_text("utf-8")
    assert "no hook 'nobody'" in unknown.message

"""Characters that a screen hardly shows, over every channel to the model: they arrive as they are."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.mcp_desk import OPTIONS, a_server, answering, started

ODD = {
    **{"no-break": "\u00a0", "narrow": "\u202f", "figure": "\u2007", "ideographic": "\u3000", "thin": "\u2009"},
    **{"joiner": "\u200d", "non-joiner": "\u200c", "selector": "\ufe0f", "no-width": "\u200b", "word joiner": "\u2060"},
    **{"soft hyphen": "\u00ad", "mark": "\ufeff", "form feed": "\f", "vertical tab": "\v", "next line": "\u0085"},
    **{"line separator": "\u2028", "paragraph separator": "\u2029", "private": "\ue0b0", "no character": "\uffff"},
    **{"right to left": "\u202e", "isolate": "\u2066", "combining": "e\u0301", "hangul filler": "\u3164"},
    **{"unassigned": "\U0003fffd", "flag": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"},
}
"""By name. All are told in one text, each between words of its own."""
PLAIN = "".join(f"<{number}{sign}{number}>" for number, sign in enumerate(ODD.values()))
STEERING = "\x1b[31m \x9b2J \U000e0041"
WRITTEN_OUT = r"\x1b[31m \x9b2J \U000e0041"


def missing(text: str) -> list[str]:
    """Names of the characters that a text lacks."""
    return [name for number, (name, sign) in enumerate(ODD.items()) if f"{number}{sign}{number}" not in text]


def unescaped(text: str) -> str:
    """Without what marks up: hooks' texts are escaped as in HTML, the editor's as in JSON."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace(r"\f", "\f").replace(r"\u000b", "\v")


async def test_25_odd_characters_reach_the_model_over_every_channel_as_they_are(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    text = f"{PLAIN} {STEERING}"
    (workspace / "odd.txt").write_text(f"file {text}\n", "utf-8")
    (workspace / "GEMINI.md").write_text(f"memory {text}\n", "utf-8")
    (tmp_path / "home/.gemini/commands").mkdir(parents=True)
    (tmp_path / "home/.gemini/GEMINI.md").write_text(f"own memory {text}\n", "utf-8")
    (tmp_path / "home/.gemini/commands/odd.toml").write_text(f"prompt = {json.dumps(f'command {text}')}", "utf-8")
    said = json.dumps({"hookSpecificOutput": {"additionalContext": f"hook {text}"}})
    hook = [{"hooks": [{"type": "command", "command": f"cat > /dev/null; echo {shlex.quote(said)}"}]}]
    servers = {"tester": a_server(trust=True, env={"SAYS": PLAIN})}
    settings = {"mcpServers": servers, "hooks": {"BeforeAgent": hook, "AfterTool": hook}}
    (tmp_path / "home/.gemini/settings.json").write_text(json.dumps(settings), "utf-8")
    calls = [
        call("read_file", {"file_path": "odd.txt"}, call_id="read"),
        call("read_many_files", {"include": ["odd.txt"]}, call_id="many", signature=None),
        call("grep_search", {"pattern": "^file"}, call_id="found", signature=None),
        call("run_shell_command", {"command": "cat odd.txt"}, call_id="command", signature=None),
        call("mcp_tester_echo", {"text": text}, call_id="server", signature=None),
    ]
    emulator.script(answer(*calls), *("Done.",) * 4, method="streamGenerateContent")
    async with editor(server_environment(tmp_path, **gemini_environment), workspace, options=OPTIONS) as spoken:
        answering(spoken)
        await started(spoken, "tester")
        open_file = {
            "uri": (workspace / "odd.txt").as_uri(),
            "lastFocusedAt": 1,
            "isActive": True,
            "selectedText": f"selected {text}",
        }
        spoken.client.protocol.notify("gemini/ideContext/didChange", {"openFiles": [open_file]})
        await spoken.ask("gemini/chat", {"prompt": f"prompt {text} and @odd.txt"})
        await spoken.ask("gemini/chat", {"prompt": "/odd"})
        await spoken.ask("gemini/chat", {"prompt": "/write_a_poem --topic=x"})
        await spoken.ask("gemini/chat", {"prompt": "See @tester:memo://one"})
    first, with_results, command, prompt, resource = (one.body for one in emulator.asked("streamGenerateContent")[:5])
    told = {
        part["functionResponse"]["id"]: part["functionResponse"]["response"]
        for part in with_results["contents"][-1]["parts"]
    }
    channels = {name: response["output"] for name, response in told.items()}
    every = [part.get("text", "") for content in first["contents"] for part in content["parts"]]
    for words in ("prompt <", "file <", "hook ", "selected ", "memory <"):
        channels[words] = "\n".join(one for one in every if words in one)
    channels["own memory"] = first["systemInstruction"]["parts"][0]["text"]
    for name, body in (("/command", command), ("server's prompt", prompt), ("resource", resource)):
        channels[name] = "\n".join(part.get("text", "") for part in body["contents"][-1]["parts"])
    assert {name: lost for name, one in channels.items() if (lost := missing(unescaped(one)))} == {}
    exempt = {
        "command",
        "server's prompt",
        "resource",
        "selected ",
    }  # what commands put out is what a terminal shows in the end
    assert [name for name, one in channels.items() if WRITTEN_OUT not in one and name not in exempt] == []
    assert not {"\x1b", "\x9b", "\0", "\U000e0041"} & set("".join(channels.values()))

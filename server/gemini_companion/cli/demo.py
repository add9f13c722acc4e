"""`gemini-companion demo`: the whole product in a minute, over the protocol, as an editor uses it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion.cli.demo_tools import REQUESTS, outcome_of, question_lines
from gemini_companion.cli.demo_workspace import LOG_OUTPUT, QUESTIONS, RULE, make_workspace
from gemini_companion.cli.lsp_client import LspClient
from gemini_companion.cli.terminal import harmless
from gemini_companion.engine.errors import InvalidInput

METER_WIDTH: Final = 40
SNAPSHOT_LINES: Final = 60
"""Lines of a snapshot that are shown."""
_WORKSPACE_FILES: Final = 3


async def demo(env: Mapping[str, str], *, workspace: str | None, as_json: bool) -> int:
    """Run the demo. Returns the exit code. Sessions go to a temporary folder that is deleted afterwards.

    `workspace` is a folder to use instead of the small one that is made; `as_json` prints one object per step. Raises
    `InvalidInput` if the workspace is no folder.
    """
    with tempfile.TemporaryDirectory(prefix="gemini-companion-demo-") as scratch:
        if workspace is None:
            folder = make_workspace(Path(scratch) / "orbit")
        else:
            folder = Path(workspace).resolve()
            if not folder.is_dir():
                raise InvalidInput(
                    f"{workspace} is no folder.", hint="Name a folder with some source files, or leave --workspace out."
                )
        run = _DemoRun(folder, as_json=as_json, may_change=workspace is None)
        return await run.execute({**env, "COMPANION_DATA_DIR": str(Path(scratch) / "data")})


class _DemoRun:
    def __init__(self, folder: Path, *, as_json: bool, may_change: bool) -> None:
        self._folder = folder
        self._json = as_json
        self._may_change = may_change
        self._client = LspClient(self._on_notification, self._on_request)
        self._names: dict[str, str] = {}
        self._open: list[Path] = []
        self._receipts: list[dict[str, Any]] = []
        self._phase = ""
        self._column = 0
        self._width = max(60, min(110, shutil.get_terminal_size((100, 20)).columns))

    async def execute(self, env: Mapping[str, str]) -> int:
        uri = self._folder.as_uri()
        started = time.monotonic()
        answer = await self._client.start(
            env,
            workspaceFolders=[{"uri": uri, "name": self._folder.name}],
            initializationOptions={"trusted": True, "clientName": "demo", "supports": ["confirmTool"]},
        )
        try:
            await self._act(answer, started)
        finally:
            await self._client.stop()
        return 0

    async def _act(self, answer: dict[str, Any], started: float) -> None:
        ask = self._client.request
        models = await ask("gemini/models")
        self._chapter("1", "An editor starts the daemon")
        self._step(
            "started",
            ms=round((time.monotonic() - started) * 1000),
            server=answer["serverInfo"],
            provider=models["provider"],
        )
        self._say(f"A real server runs as a child process and speaks LSP over stdio. Workspace: {self._folder}")
        self._say(f"Model: {models['current']} ({models['reason']}). {models['hint']}")

        files = self._open = self._open_files()
        self._chapter("2", "A chat that sees the editor")
        self._say(
            "Open files: "
            + ", ".join(path.name for path in files)
            + ". The prompt's receipt says what of them went along."
        )
        for question in QUESTIONS:
            await self._chat(question)
        await self._paste_logs()

        self._chapter("3", "The context meter")
        before = await ask("gemini/context")
        self._meter(before)
        pin = await ask("gemini/pin", {"text": RULE})
        self._step("pinned", **pin)
        self._say(f"Pinned, to stand word for word whatever is compressed: “{RULE}”")

        self._chapter("4", "Compress, live")
        result = await ask("gemini/compress", {"instructions": "keep everything about the retry rule"})
        self._end_line()
        self._step("compressed", **{key: value for key, value in result.items() if key != "snapshot"})
        self._say(result["message"])
        if result["status"] != "COMPRESSED":
            self._say("Nothing was hidden, so there is nothing to show or to undo.")
            return
        self._snapshot(result["snapshot"])
        history = await ask("gemini/session/history", {"view": "model"})
        self._say(
            f"The model now gets {len(history['contents'])} contents: "
            + ", ".join(item["kind"] for item in history["contents"])
            + "."
        )
        transcript = await ask("gemini/session/history", {"view": "transcript"})
        self._say(
            f"The transcript still has all {len(transcript['contents'])}: a compression is a view of the log, nothing"
            " is deleted."
        )
        after = await ask("gemini/context")
        self._meter(after)
        status = await ask("gemini/compressionStatus")
        self._step("status", **{key: value for key, value in status.items() if key != "last"})
        self._say(f"Full editor context due with the next prompt: {'yes' if status['forceFullIdeContext'] else 'no'}")

        self._chapter("5", "And on: the editor's state goes out in full again")
        await self._chat("Which rule did I give you about retries, and in which file is the retry code?")
        receipt = self._receipts[-1] if self._receipts else {}
        self._say(
            f"Receipt: {receipt.get('kind', 'nothing')} context, "
            + ", ".join(Path(file).name for file in receipt.get("files", []))
        )

        self._chapter("6", "Undo")
        undone = await ask("gemini/compression/undo")
        self._step("undone", **undone)
        self._say(undone["message"])
        restored = await ask("gemini/session/history", {"view": "model"})
        self._meter(await ask("gemini/context"))
        kinds = [item["kind"] for item in restored["contents"]]
        self._say(
            f"The model gets {len(kinds)} contents again, word for word, and the question asked since is still there."
        )
        if self._may_change:
            await self._use_tools()
        stats = await ask("gemini/stats")
        self._step("summary", stats=stats, before=before["tokenCount"], after=after["tokenCount"])
        self._chapter("✓", "That was it")
        self._say(
            f"{stats['turns']} turns; {before['tokenCount']:,} tokens compressed to {after['tokenCount']:,} and undone"
            " again. `gemini-companion serve` is what your editor starts; `gemini-companion editor` prints its"
            " configuration."
        )

    async def _use_tools(self) -> None:
        self._chapter("7", "Tools: it looks by itself, and asks before it changes or runs anything")
        for path in self._open:  # this editor would not reload them
            self._client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
        for request in REQUESTS:
            await self._chat(request)
        reverted = await self._client.request("gemini/changes/revert")
        self._step("reverted", **reverted)
        names = ", ".join(Path(path).name for path in reverted["reverted"])
        self._say(f"Taken back, word for word: {names}. What a command did outside of files cannot be.")

    # --- what the editor's side does

    def _open_files(self) -> list[Path]:
        files = (
            sorted(path for path in self._folder.rglob("*.py") if path.is_file())[:_WORKSPACE_FILES]
            or sorted(path for path in self._folder.iterdir() if path.is_file())[:_WORKSPACE_FILES]
        )
        for path in files:
            text = path.read_text("utf-8", errors="replace")
            item = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
            self._client.notify("textDocument/didOpen", {"textDocument": item})
        if files:
            lines = min(14, files[0].read_text("utf-8", errors="replace").count("\n"))
            selection = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
            shown = [
                {"uri": path.as_uri(), "lastFocusedAt": len(files) - index, "isActive": index == 0}
                | ({"selection": selection} if index == 0 else {})
                for index, path in enumerate(files)
            ]
            self._client.notify("gemini/ideContext/didChange", {"openFiles": shown, "isTrusted": True})
        return files

    async def _chat(self, prompt: str, shown: str | None = None) -> None:
        self._prompt(shown or prompt)
        result = await self._client.request("gemini/chat", {"prompt": prompt})
        self._end_line()
        self._step(
            "answered",
            prompt=shown or prompt,
            model=result["model"],
            finishReason=result["finishReason"],
            usage=result["usage"],
        )

    async def _paste_logs(self) -> None:
        """Send a long prompt, as in every real session."""
        await self._chat(LOG_OUTPUT, f"(pastes {LOG_OUTPUT.count(chr(10)):,} lines of a test log and asks what failed)")

    def _on_request(self, method: str, params: Any) -> Any:
        """Say yes, as the person of the demo."""
        if method != "gemini/confirmTool":
            return None
        self._step("asked", **params)
        for line in question_lines(params):
            self._say_as_is(_dim(f"   ? {line}"))
        self._say_as_is("   → the demo says: yes, once")
        return {"outcome": "once"}

    def _on_notification(self, method: str, params: Any) -> None:
        if method != "gemini/event":
            return
        event = params["event"]
        match event["type"]:
            case "messageDelta":
                self._stream(event["text"])
            case "ideContextSent":
                self._receipts.append(event)
                self._receipt(event)
            case "compressionProgress":
                self._progress(event)
            case "toolCallStarted":
                self._names[event["toolCallId"]] = event["name"]
            case "toolCallCompleted":
                self._step("called", **{key: value for key, value in event.items() if key != "type"})
                self._say_as_is(_dim(f"   ✓ {outcome_of(event, self._names[event['toolCallId']])}"))
            case _:
                pass

    # --- output

    def _step(self, step: str, **fields: Any) -> None:
        if self._json:
            sys.stdout.write(msgspec.json.encode({"step": step, **fields}).decode() + "\n")
            sys.stdout.flush()

    def _say(self, text: str) -> None:
        if not self._json:
            self._end_line()
            print(_wrapped(text, self._width))

    def _say_as_is(self, line: str) -> None:
        if not self._json:
            self._end_line()
            print(line)

    def _chapter(self, number: str, title: str) -> None:
        if not self._json:
            self._end_line()
            print(f"\n{_bold(f'{number}  {title}')}\n{'─' * self._width}")

    def _prompt(self, text: str) -> None:
        if not self._json:
            self._end_line()
            print(f"\n{_bold('you ›')} {text}")
            sys.stdout.write(f"{_bold('gemini ›')} ")
            sys.stdout.flush()
            self._column = 1

    def _stream(self, text: str) -> None:
        if not self._json:
            sys.stdout.write(harmless(text))
            sys.stdout.flush()
            self._column = 0 if text.endswith("\n") else 1

    def _end_line(self) -> None:
        if self._column and not self._json:
            print()
        self._column = 0

    def _receipt(self, event: dict[str, Any]) -> None:
        if self._json:
            self._step("ideContextSent", **{key: value for key, value in event.items() if key != "type"})
            return
        names = ", ".join(Path(file).name for file in event["files"])
        withheld = "".join(f"; withheld {item['name']} ({item['reason']})" for item in event["withheld"])
        sys.stdout.write(
            _dim(
                f"[sent {event['kind']} editor context: {names}; {event['selectionChars']} selected"
                f" characters{withheld}] "
            )
        )

    def _progress(self, event: dict[str, Any]) -> None:
        if self._json:
            self._step("compressionProgress", phase=event["phase"], elapsedMs=event["elapsedMs"])
            return
        line = f"   {event['elapsedMs']:>5} ms  {event['phase']}"
        if event["phase"] != self._phase:
            self._phase = event["phase"]
            print(line)

    def _meter(self, context: dict[str, Any]) -> None:
        self._step("context", **context)
        if self._json:
            return
        self._end_line()
        used, limit = context["tokenCount"], context["tokenLimit"]
        mark = used + context["tokensUntilCompression"] if context["tokensUntilCompression"] is not None else limit
        filled = max(1, round(METER_WIDTH * min(1.0, used / max(1, mark))))
        print(
            f"   [{'█' * filled}{'·' * (METER_WIDTH - filled)}] {used:,} of {limit:,} tokens; compresses by itself at"
            f" {mark:,}"
        )
        for name, tokens in context["byPart"].items():
            if tokens:
                share = round(METER_WIDTH * tokens / max(1, used))
                print(f"   {_words(name):>20}  {tokens:>8,}  {'▪' * share}")

    def _snapshot(self, snapshot: str) -> None:
        if self._json:
            self._step("snapshot", text=snapshot)
            return
        print(_dim("   ┌─ the snapshot, as the model gets it"))
        lines = harmless(snapshot).splitlines()
        for line in lines[:SNAPSHOT_LINES]:
            print(_dim("   │ ") + line[: self._width - 6])
        if len(lines) > SNAPSHOT_LINES:
            print(_dim(f"   │ … and {len(lines) - SNAPSHOT_LINES} more lines"))
        print(_dim("   └─"))


def _wrapped(text: str, width: int) -> str:
    import textwrap

    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _words(name: str) -> str:
    return "".join(f" {character.lower()}" if character.isupper() else character for character in name)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text


def _dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if sys.stdout.isatty() else text

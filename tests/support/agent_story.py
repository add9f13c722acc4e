"""A piece of work as a model would do it, step by step, and a person who watches over it.

The model is a function of the conversation, not a queue: a request that comes again gets the same answer, and a call
whose result is missing or speaks of an interruption is made again. So the story goes on wherever the daemon was killed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.editor_client import Editor, editor, plain, server_environment
from tests.support.emulator import Gate, RecordedRequest, Reply, answer, call, echo
from tests.support.patience import PATIENCE

BROKEN = '"""Numbers."""\n\n\ndef double(number):\n    return number\n'
PROPOSED = BROKEN.replace("number\n", "number + number + number\n")
CORRECTED = BROKEN.replace("number\n", "number * 3\n")
MENDED = BROKEN.replace("number\n", "number * 2\n")
CHECK = """import pathlib
import time

import calc

print("checking", flush=True)
while pathlib.Path("hold").exists():
    time.sleep(0.01)
assert calc.double(2) == 4, f"double(2) is {calc.double(2)}"
print("all is well")
"""
RUN = "python3 -B check.py"


@dataclass(frozen=True)
class Step:
    """What the model does once all before it is done: `calls` of one answer, or the last words of its turn."""

    name: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    says: str = ""


WORK = (
    Step("look", (("read_file", {"file_path": "calc.py"}), ("grep_search", {"pattern": "double"}))),
    Step("edit", (("write_file", {"file_path": "calc.py", "content": PROPOSED}),)),
    Step("check", (("run_shell_command", {"command": RUN}),)),
    Step("mend", (("replace", {"file_path": "calc.py", "old_string": "* 3", "new_string": "* 2"}),)),
    Step("check again", (("run_shell_command", {"command": RUN}),)),
    Step("done", says="It doubles now."),
)
NOTES = (
    Step("note", (("write_file", {"file_path": "NOTES.md", "content": "Doubling was mended.\n"}),)),
    Step("noted", says="Noted."),
)
ENDLESS = (Step("endless", (("run_shell_command", {"command": "echo begun; sleep 600"}),)), Step("never", says="No."))
STORY: Mapping[str, tuple[Step, ...]] = {
    "Make `double` right.": WORK,
    "Write a note about it.": NOTES,
    "Wait for ever.": ENDLESS,
}
"""The steps of each prompt."""


class Worker:
    """The model. A gate under a step's name holds back the answer that begins the step."""

    def __init__(self, story: Mapping[str, tuple[Step, ...]] = STORY) -> None:
        self.gates: dict[str, Gate] = {}
        self._story = story

    def __call__(self, request: RecordedRequest) -> Reply:
        """The next step."""
        if request.method != "streamGenerateContent":
            return answer("A title")
        if not any(part.get("text") in self._story for content in request.contents for part in content["parts"]):
            return echo(request)
        prompt, done = _done_in(request.contents, self._story)
        step = next(step for step in self._story[prompt] if step.name not in done)
        pieces: list[Any] = [f"Now: {step.name}. ", *([gate] if (gate := self.gates.pop(step.name, None)) else [])]
        calls = [call(name, dict(args), call_id=f"{step.name}/{index}") for index, (name, args) in _numbered(step)]
        return answer(*pieces, *calls, *([step.says] if step.says else []))


def _numbered(step: Step) -> list[tuple[int, tuple[str, Mapping[str, Any]]]]:
    return list(enumerate(step.calls))


def _done_in(contents: Sequence[Mapping[str, Any]], story: Mapping[str, tuple[Step, ...]]) -> tuple[str, set[str]]:
    """The newest prompt of the story, and its steps whose calls all have results that speak of no interruption."""
    prompt, results = "", dict[str, dict[str, Any]]()
    for content in contents:
        for part in content["parts"]:
            if content["role"] == "user" and part.get("text") in story:
                prompt, results = part["text"], {}
            if response := part.get("functionResponse"):
                results[str(response.get("id"))] = response["response"]
    ended = {key for key, result in results.items() if not _is_interrupted(result)}
    return prompt, {
        step.name
        for step in story[prompt]
        if step.calls and all(f"{step.name}/{index}" in ended for index in range(len(step.calls)))
    }


def _is_interrupted(result: Mapping[str, Any]) -> bool:
    error = str(result.get("error") or "")
    return "Interrupted" in error or "restarted" in error


@dataclass
class Person:
    """Answers what the daemon asks: corrects the first text of `calc.py`, and says yes to all else.

    A call whose title is in `silent_at` gets no answer.
    """

    silent_at: set[str] = field(default_factory=set[str])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, params: Any) -> dict[str, Any]:
        """The answer to `gemini/confirmTool`."""
        question = plain(params)
        self.asked.append(question)
        self.news.set()
        if question["title"] in self.silent_at:
            await asyncio.Event().wait()
        if question["name"] == "write_file" and question["path"].endswith("calc.py"):
            return {"outcome": "once", "editedContent": CORRECTED}
        return {"outcome": "once"}

    async def is_asked(self, title: str) -> None:
        """Wait for a question."""
        async with asyncio.timeout(PATIENCE):
            while title not in [one["title"] for one in self.asked]:
                self.news.clear()
                await self.news.wait()


def _asking(person: Person) -> Any:
    async def ask(params: Any) -> dict[str, Any]:
        return await person.answer(params)

    return ask


class Studio:
    """A workspace, and daemons over one store in which the story is played."""

    def __init__(self, tmp_path: Path, gemini: Mapping[str, str]) -> None:
        self.tmp_path, self.gemini = tmp_path, gemini
        self.workspace = tmp_path / "work"
        self.workspace.mkdir(exist_ok=True)
        self.calc.write_text(BROKEN, "utf-8")
        (self.workspace / "check.py").write_text(CHECK, "utf-8")
        self.session_id = ""

    @property
    def calc(self) -> Path:
        """The file that is worked on."""
        return self.workspace / "calc.py"

    @property
    def hold(self) -> Path:
        """While this is there, the check waits."""
        return self.workspace / "hold"

    @asynccontextmanager
    async def daemon(self, person: Person) -> AsyncGenerator[Editor]:
        """A daemon, with the session open if there is one."""
        environment = server_environment(self.tmp_path, **self.gemini)
        options = {"trusted": True, "supports": ["confirmTool"]}
        async with editor(environment, self.workspace, options=options) as spoken:
            spoken.client.feature("gemini/confirmTool")(_asking(person))
            if self.session_id:
                await spoken.ask("gemini/session/open", {"sessionId": self.session_id, "takeOver": True})
            else:
                self.session_id = (await spoken.ask("gemini/session/new"))["sessionId"]
            yield spoken

    async def transcript(self, spoken: Editor) -> list[dict[str, Any]]:
        """The whole transcript."""
        page = await spoken.ask("gemini/session/history", {"view": "transcript", "sessionId": self.session_id})
        return list(page["contents"])

    async def records(self, spoken: Editor) -> list[tuple[str, str]]:
        """The calls of the session: names and outcomes."""
        items = await self.transcript(spoken)
        return [(record["name"], record["outcome"]) for item in items for record in item.get("calls", [])]

    async def logged(self, spoken: Editor) -> str:
        """The session as it stands in the log."""
        exported = await spoken.ask("gemini/session/export", {"sessionId": self.session_id, "format": "companion"})
        return json.dumps(exported)

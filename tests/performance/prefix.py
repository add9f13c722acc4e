"""How much of each request a provider's prefix cache could hold: turns with tools, a moving editor, masks, compressions.

Everything around the conversation changes whenever it is asked: the clock, the folder's names, the repository. What
stands at the head of the requests must not.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from gemini_companion.adapters.gemini.request import wire_parts
from gemini_companion.engine.prompts.git_state import GitState
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.tools.outputs import CutOutputs
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.performance.agent_run import log_of
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import OpenWorkspace, Studio

NAME: Final = "prefix"
TARGET: Final = 5.0
"""Per cent of a request that the next one may have changed."""
TURNS: Final = 50
ROUNDS: Final = 2
LONGEST: Final = 60_000
"""Characters of an output."""
FILES: Final = tuple(f"/project/part{number}.py" for number in range(4))


class Sent(NamedTuple):
    """A request of a turn, in the order in which a provider reads it, and the view's epoch."""

    text: str
    epoch: int


@dataclass(slots=True)
class Course:
    """What was sent."""

    sent: list[Sent] = field(default_factory=list[Sent])
    compressions: int = 0

    def kept(self) -> list[float]:
        """Of each request but the first of an epoch: the share of the one before that stands unchanged at its head."""
        return [
            common(before.text, after.text) / len(before.text)
            for before, after in zip(self.sent, self.sent[1:], strict=False)
            if before.epoch == after.epoch
        ]

    def cached(self) -> float:
        """The share of all characters sent that stood at the head of the request before, changes of epoch included."""
        found = sum(common(one.text, two.text) for one, two in zip(self.sent, self.sent[1:], strict=False))
        return found / sum(len(request.text) for request in self.sent[1:])

    @property
    def view_changes(self) -> int:
        """Between requests: compressions and masks."""
        return sum(one.epoch != two.epoch for one, two in zip(self.sent, self.sent[1:], strict=False))


def common(one: str, two: str) -> int:
    """Characters that two texts have in common at their heads."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def text_of(request: ModelRequest) -> str:
    """A request as one text: instruction, declarations, contents."""
    head = json.dumps([request.system_instruction, request.tools], ensure_ascii=False)
    contents = ([content.role, *(wire_parts(part, False) for part in content.parts)] for content in request.contents)
    return "\n".join((head, *(json.dumps(content, ensure_ascii=False) for content in contents)))


class _Agent(ScriptedModel):
    def __init__(self) -> None:
        super().__init__()
        self.course = Course()
        self.epoch: Callable[[], int] = lambda: 0
        self.left = 0
        self._number = 0

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        self.course.sent.append(Sent(text_of(request), self.epoch()))
        self._number += 1
        part: dict[str, Any] = {"text": f"Done with {self._number}."}
        if self.left:
            self.left -= 1
            args = {"file_path": f"part{self._number}.py"}
            part = {"functionCall": {"id": f"c{self._number}", "name": "read_file", "args": args}}
        yield ModelChunk(parts=(part,), finish_reason="STOP")


class _Restless(OpenWorkspace):
    """Its names are others whenever they are asked for."""

    asked = 0

    async def tree(self, folders: Any, *, limit: int = 200) -> str:
        self.asked += 1
        return f"part{self.asked}.py"

    async def read(self, folders: Sequence[str]) -> list[GitState]:
        self.asked += 1
        return [GitState(folder=folders[0], branch="main", commits=(("1234abc", f"Commit {self.asked}"),))]


async def go(folder: Path, *, turns: int, compress_after: Sequence[int], longest: int = LONGEST) -> Course:
    """Turns with calls, in an editor whose cursor moves and whose files change; compressions after some of them."""
    chance = random.Random(5)

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=log_of(chance, chance.randrange(longest // 10, longest)))

    model, workspace = _Agent(), _Restless()
    tool = SampleTool("read_file", "read", work)
    studio = Studio(folder, model=model, workspace=workspace, tools=[tool], tooling=allowing(outputs=CutOutputs()))
    studio.services.git = workspace
    studio.services.today = lambda: f"Day {workspace.asked}"
    session = await studio.session()
    model.epoch = lambda: session.history.epoch
    try:
        for turn in range(turns):
            model.left = ROUNDS
            active = chance.randrange(len(FILES))
            workspace.texts[FILES[active]] = f"value = {turn}\n" * 40
            studio.client.editor.report(
                [
                    ReportedFile(
                        path=path,
                        last_focused_at=turn * 10 + (number == active),
                        is_active=number == active,
                        cursor=(turn + 1, 0) if number == active else None,
                        selected_text="value" if number == active and turn % 3 == 0 else None,
                    )
                    for number, path in enumerate(FILES)
                ],
                [],
            )
            await studio.chat(f"Mend defect {turn}.")
            if turn + 1 in compress_after:
                await studio.compress()
        model.course.compressions = len(session.history.compressions)
    finally:
        await studio.app.close()
    return model.course


def run(options: Options) -> Iterator[Finding]:
    """What a request changes of the one before, at most, while the view only grows; what all of them find cached."""
    turns = 10 if options.quick else TURNS
    course = asyncio.run(go(options.scratch, turns=turns, compress_after=(turns // 3, 2 * turns // 3)))
    kept = course.kept()
    yield Figure(
        bench=NAME,
        name=f"of a request, changed by the next one, at most ({len(kept)} pairs, {turns} turns)",
        value=100 * (1 - min(kept)),
        unit="%",
        target=TARGET,
        note=f"{course.compressions} compressions; {course.view_changes} changes of the view, whose next request is not"
        " counted",
    )
    yield Figure(bench=NAME, name="the same, on average", value=100 * (1 - sum(kept) / len(kept)), unit="%")
    yield Figure(
        bench=NAME,
        name="of all that was sent, not at the head of the one before",
        value=100 * (1 - course.cached()),
        unit="%",
    )

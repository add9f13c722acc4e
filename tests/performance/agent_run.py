"""A long run of an agent with large outputs: its script, the counter of both sides, our application going through it."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.history.content import Content, Part, user_text
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.tokens.counters import count_content
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.models.port import CountedTokens, LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.tools.outputs import CutOutputs
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import ManualClock, Studio

TOOL: Final = "run_shell_command"
LARGEST: Final = 10_000_000
WINDOW: Final = 1_048_576
"""Tokens that the model of the run accepts, on both sides."""

_LARGE_SHARE: Final = 0.25
_SMALLEST_LARGE: Final = 10_000


class Round(NamedTuple):
    """What the model says and calls, and what the call puts out."""

    said: str
    command: str
    output: str


class Turn(NamedTuple):
    """A prompt and the rounds until it is answered."""

    prompt: str
    rounds: tuple[Round, ...]


# --- the script


def turns_of_corpus(folder: Path) -> list[Turn]:
    """The runs of `swe-agent` below a folder, as far as they call something; empty where there are none."""
    found: list[Turn] = []
    for path in sorted((folder / "swe-agent").glob("*.json")):
        prompt, said, command = "", "", ""
        rounds: list[Round] = []
        for content in json.loads(path.read_text("utf-8"))["history"]:
            for part in content["parts"]:
                if "functionCall" in part:
                    command = json.dumps(part["functionCall"].get("args", {}))
                elif "functionResponse" in part:
                    response = part["functionResponse"]["response"]
                    output = response.get("output")
                    rounds.append(Round(said, command, output if isinstance(output, str) else json.dumps(response)))
                elif content["role"] == "model":
                    said = part.get("text", "")
                elif not rounds:
                    prompt += part.get("text", "")
        if rounds:
            found.append(Turn(prompt, tuple(rounds)))
    return found


def made_turns(count: int, *, seed: int = 7) -> list[Turn]:
    """As many turns of four rounds, without a corpus."""
    chance = random.Random(seed)
    return [
        Turn(
            f"Mend defect {number} of the parser.",
            tuple(Round("Looking.", f"cat part{n}", log_of(chance, chance.randrange(200, 4_000))) for n in range(4)),
        )
        for number in range(count)
    ]


def script_of(turns: Sequence[Turn], *, rounds: int, largest: int = LARGEST, seed: int = 11) -> list[Turn]:
    """The turns again and again up to `rounds` rounds; every fourth output or so is a long one, one is the largest."""
    chance, made, left = random.Random(seed), list[Turn](), rounds
    has_largest = False
    while left:
        turn = turns[len(made) % len(turns)]
        script: list[Round] = []
        for one in turn.rounds[:left]:
            if chance.random() < _LARGE_SHARE:
                size = round(_SMALLEST_LARGE * (largest / _SMALLEST_LARGE) ** chance.random())
                size, has_largest = (size if has_largest else largest), True
                script.append(Round(one.said, one.command, log_of(chance, size)))
            else:
                script.append(one)
        left -= len(script)
        made.append(Turn(turn.prompt, tuple(script)))
    return made


def log_of(chance: random.Random, size: int) -> str:
    """So many characters of what a build and its tests put out: progress, few warnings, fewer errors."""
    lines: list[str] = []
    length = 0
    while length < size:
        number, what = len(lines), chance.random()
        place = f"src/{chance.choice(('parser', 'render', 'store'))}/part{chance.randrange(1_000)}.py"
        if what < 0.995:
            line = f"[{number:06d}] {place}::test_{chance.randrange(10_000)} PASSED in {chance.random():.3f}s"
        elif what < 0.999:
            line = f"{place}:{number % 400}: DeprecationWarning: call of old_{chance.randrange(50)}"
        else:
            line = f"{place}:{number % 400}: error: expected {chance.randrange(9)} but got {chance.randrange(9)}"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:size]


# --- counting


class Counter:
    """Tokens of requests; a part that comes again is not counted again."""

    def __init__(self) -> None:
        self._lexical = LexicalTokenCounter()
        self._counted: dict[int, tuple[Part, float]] = {}

    def contents(self, contents: Iterable[Content]) -> int:
        """Tokens of contents."""
        return round(sum(self._part(part) for content in contents for part in content.parts))

    def request(self, request: ModelRequest) -> int:
        """Tokens of all that is sent."""
        return self.surroundings(request) + self.contents(request.contents)

    def surroundings(self, request: ModelRequest) -> int:
        """Tokens of the system instruction and the declarations."""
        declarations = json.dumps(request.tools) if request.tools else ""
        return round(self._lexical.count_text((request.system_instruction or "") + declarations))

    def _part(self, part: Part) -> float:
        known = self._counted.get(id(part))
        if known is None:
            known = self._counted[id(part)] = (part, count_content((part,), self._lexical))
        return known[1]


@dataclass(slots=True)
class Outcome:
    """What one side sent."""

    sent: int = 0
    """Tokens of all requests, those for snapshots included."""
    largest: int = 0
    """Tokens of the largest request."""
    requests: int = 0
    compressions: int = 0
    faults: list[str] = field(default_factory=list[str])
    """Requests that were too large, or had a call without its result."""

    def take(self, tokens: int, contents: Sequence[Content]) -> None:
        """Note a request."""
        self.requests += 1
        self.sent += tokens
        self.largest = max(self.largest, tokens)
        if tokens > WINDOW:
            self.faults.append(f"request {self.requests} has {tokens:,} tokens")
        if any(_calls(now) != _results(then) for now, then in _neighbours(contents)):
            self.faults.append(f"request {self.requests} has a call without its result, or the other way round")


def _neighbours(contents: Sequence[Content]) -> Iterator[tuple[Content, Content]]:
    nothing = user_text("")
    return zip((nothing, *contents), (*contents, nothing), strict=True)


def _calls(content: Content) -> list[Any]:
    return [part["functionCall"].get("id") for part in content.parts if "functionCall" in part]


def _results(content: Content) -> list[Any]:
    return [part["functionResponse"].get("id") for part in content.parts if "functionResponse" in part]


# --- ours


class _Agent(ScriptedModel):
    """Does what the script says, and counts what it is sent."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        super().__init__()
        self.counter, self.outcome = Counter(), Outcome()
        self.surroundings = 0
        """Tokens of system instruction, declarations and environment."""
        self.steps: Iterator[Round | None] = iter([step for turn in turns for step in (*turn.rounds, None)])
        self._number = 0

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """The next call, or the end of the turn."""
        tokens = self.counter.request(request)
        self.outcome.take(tokens, request.contents)
        self.surroundings = self.surroundings or self.counter.surroundings(request)
        step = next(self.steps)
        parts: tuple[Part, ...] = ({"text": "Done."},)
        if step is not None:
            self._number += 1
            call = {"id": f"c{self._number}", "name": TOOL, "args": {"content": step.command}}
            parts = ({"text": step.said or "Next."}, {"functionCall": call})
        yield ModelChunk(parts=parts, finish_reason="STOP", usage=Usage(prompt_tokens=tokens, output_tokens=50))

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """A snapshot, or a title."""
        if request.role == "utility_compressor":
            self.outcome.take(self.counter.request(request), request.contents)
        return await super().generate(request)

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """The same count."""
        return CountedTokens(total=self.counter.request(request), source="api", covers_system=True)


async def run_ours(folder: Path, turns: Sequence[Turn]) -> tuple[Outcome, int]:
    """The application, with its store on the disk: what it sent, and the tokens that surround every request's history."""
    outputs = iter([step.output for turn in turns for step in turn.rounds])

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=next(outputs))

    tool, model = SampleTool(TOOL, "read", work), _Agent(turns)
    tool.shape = "command"
    store = open_store(folder / "data", "project", clock=ManualClock())
    studio = Studio(folder, model=model, store=store, tools=[tool], tooling=allowing(outputs=CutOutputs()))
    try:
        for turn in turns:
            result = await studio.app.chat(studio.client, ({"text": turn.prompt},))
            if result.finish_reason != "STOP":
                model.outcome.faults.append(f"a turn ended with {result.finish_reason}")
        session = await studio.session()
        model.outcome.compressions = len(session.history.compressions)
    finally:
        await studio.app.close()
    return model.outcome, model.surroundings

"""Random histories of rounds, stops, faults, steering prompts and kills between any two writes, over the real store.

Whatever happens, each request obeys the API's rules (every call is answered in the next content, by the same ids and in
the same order), nothing that was acknowledged is lost, and nothing that acted acts twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Coroutine, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.errors import CompanionError, InvalidInput, ModelUnavailable
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.log import PromptEntry, ToolResultEntry
from gemini_companion.engine.history.part import call_of, response_of, text_of
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import PromptSteered
from gemini_companion.tools.tool import ToolContext, ToolOutput, ToolRefusal
from tests.support.mortal_store import MortalStore, Trouble
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel, calls
from tests.support.sessions import ManualClock, Studio

Behaviour: TypeAlias = Literal["ok", "raises", "refuses", "steer", "stop", "stubborn"]
ROUND = st.lists(
    st.tuples(st.sampled_from(["look", "run"]), st.sampled_from(Behaviour.__args__)),  # type: ignore[attr-defined]
    min_size=1,
    max_size=3,
)
ENDINGS = st.sampled_from(["answer", "fault"])


TROUBLES = st.none() | st.builds(
    Trouble, st.integers(0, 9), st.sampled_from(["killed before", "killed after", "fault"])
)


class CheckedModel(ScriptedModel):
    """Looks at every request as the API does."""

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        check_request(request.contents)
        async for chunk in super().stream(request, local):
            yield chunk


def check_request(contents: Sequence[Content]) -> None:
    """The API's rules for contents."""
    assert contents[0].role == "user"
    for one, following in zip(contents, [*contents[1:], None], strict=True):
        assert following is None or one.role != following.role
        made = [call for part in one.parts if (call := call_of(part)) is not None]
        answered = [] if following is None else [r for part in following.parts if (r := response_of(part)) is not None]
        assert [(call["id"], call["name"]) for call in made] == [(r["id"], r["name"]) for r in answered], (
            one,
            following,
        )
        assert len({call["id"] for call in made}) == len(made)
        if one.role == "user":
            kinds = [response_of(part) is None for part in one.parts]
            assert kinds == sorted(kinds), "results come first"
    assert not any(response_of(part) is not None for part in contents[0].parts)
    assert contents[-1].role == "user"


class Life(RuleBasedStateMachine):
    """One chat, and the processes that have it one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.processes = 0
        self.said = 0
        self.made = 0
        self.acknowledged: list[str] = []
        """What people were told of: prompts with an answer, steering prompts that were accepted."""
        self.acted: list[str] = []
        """Marks of the calls that ran and leave something behind, one for each time."""
        self.behaviours: dict[str, Behaviour] = {}
        self.late: list[asyncio.Event] = []
        self.steers: list[tuple[str, asyncio.Task[Any]]] = []

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(PATIENCE):
                await work

        self.loop.run_until_complete(bounded())

    # --- a process

    @initialize()
    def begin(self) -> None:
        self.do(self._begin())

    async def _begin(self) -> None:
        await self._start()
        self.session_id = (await self.studio.app.new_session(self.studio.client)).session_id

    async def _start(self) -> None:
        self.processes += 1
        clock = ManualClock()
        clock.time += self.processes * 10_000_000
        self.store = MortalStore(open_store(self.folder / "data", "project", clock=clock))
        tools = [SampleTool("look", "read", self._work), SampleTool("run", "command", self._work)]
        self.studio = Studio(self.folder, model=CheckedModel(), store=self.store, tools=tools, tooling=allowing())  # type: ignore[arg-type]
        self.studio.clock = clock
        self.studio.services.clock = clock
        number, inner = self.processes, self.studio.services.new_id
        self.studio.services.new_id = lambda kind: f"{inner(kind)}-{number}"

    async def _restart(self) -> None:
        """The process was killed; another one opens the chat."""
        self._note_steers()
        self.store.killed.set()
        self.store.is_gone = True
        for late in self.late:
            late.set()
        await self.studio.app.close()
        await self._start()
        await self.studio.app.open_session(self.studio.client, self.session_id, take_over=True)

    async def _work(self, args: SampleArgs, context: ToolContext) -> ToolOutput:
        mark = args.content
        if mark.startswith("run"):
            self.acted.append(mark)
        match self.behaviours[mark]:
            case "raises":
                raise RuntimeError("a defect")
            case "refuses":
                raise ToolRefusal("No.")
            case "steer":
                await self._steer()
            case "stop":
                await self.studio.app.cancel(self.studio.client, self.session_id)
                await asyncio.Event().wait()
            case "stubborn":
                late = asyncio.Event()
                self.late.append(late)
                await self.studio.app.cancel(self.studio.client, self.session_id)
                while not late.is_set():
                    with contextlib.suppress(asyncio.CancelledError):
                        await late.wait()
            case "ok":
                await asyncio.sleep(0)
        return ToolOutput(output=f"did {mark}")

    async def _steer(self) -> None:
        self.said += 1
        text = f"steer-{self.said}."
        task = asyncio.create_task(self._chat(text, steer=True))
        self.steers.append((text, task))
        while not task.done() and text not in self._accepted():
            await asyncio.sleep(0)

    def _accepted(self) -> list[str]:
        return [event.prompt[0]["text"] for event in self.studio.heard.of(PromptSteered)]

    def _note_steers(self) -> None:
        accepted = self._accepted()
        self.acknowledged += [text for text in accepted if text not in self.acknowledged]

    async def _chat(self, text: str, **more: Any) -> bool:
        """Whether there was an answer, or an end with what was kept."""
        try:
            await self.studio.app.chat(self.studio.client, ({"text": text},), session_id=self.session_id, **more)
        except (CompanionError, asyncio.CancelledError):
            return False
        return True

    # --- what happens

    @rule(rounds=st.lists(ROUND, max_size=3), ending=ENDINGS, ids=st.booleans(), trouble=TROUBLES)
    def say(self, rounds: list[list[tuple[str, Behaviour]]], ending: str, ids: bool, trouble: Trouble | None) -> None:
        self.said += 1
        text = f"prompt-{self.said}."
        self._script(rounds, ending, ids=ids)
        self.do(self._step(self._chat(text), trouble, text))

    @rule(rounds=st.lists(ROUND, max_size=2), ending=ENDINGS, trouble=TROUBLES)
    def go_on(self, rounds: list[list[tuple[str, Behaviour]]], ending: str, trouble: Trouble | None) -> None:
        async def resume() -> bool:
            with contextlib.suppress(InvalidInput, CompanionError):
                await self.studio.app.resume(self.studio.client, self.session_id)
            return False

        self._script(rounds, ending, ids=True)
        self.do(self._step(resume(), trouble, ""))

    @rule()
    def be_killed(self) -> None:
        self.do(self._restart())

    @precondition(lambda self: self.said > 0)
    @rule()
    def fork(self) -> None:
        self.do(self._fork())

    async def _fork(self) -> None:
        self.studio.model.streams = []
        other, _ = self.studio.connect("other")
        info = await self.studio.app.fork(other, self.session_id, None)
        await self.studio.app.chat(other, ({"text": "And here?"},), session_id=info.session_id)
        self.studio.app.detach(other)

    def _script(self, rounds: list[list[tuple[str, Behaviour]]], ending: str, *, ids: bool) -> None:
        answers: list[Any] = []
        for made in rounds:
            named: list[tuple[str, dict[str, Any]]] = []
            for tool, behaviour in made:
                self.made += 1
                mark = f"{tool}-{self.made}."
                self.behaviours[mark] = behaviour
                named.append((tool, {"content": mark}))
            answers.append(calls(*named, ids=ids))
        if ending == "fault":
            answers.append(ModelUnavailable("Gone.", retryable=False))
        self.studio.model.streams = answers

    async def _step(self, work: Coroutine[Any, Any, bool], trouble: Trouble | None, text: str) -> None:
        self.store.trouble, self.store.writes = trouble, 0
        doing = asyncio.create_task(work)
        dying = asyncio.create_task(self.store.killed.wait())
        await asyncio.wait({doing, dying}, return_when=asyncio.FIRST_COMPLETED)
        if self.store.killed.is_set():
            await self._restart()
        dying.cancel()
        if await doing and text:
            self.acknowledged.append(text)
        for late in self.late:
            late.set()
        for _, task in self.steers:
            await task
        self._note_steers()
        self.steers.clear()
        self.store.trouble = None
        if self.store.killed.is_set():  # by a write that nobody waited for, such as what a title's request has left
            await self._restart()

    # --- what holds

    @invariant()
    def nothing_acknowledged_is_lost_and_nothing_acted_twice(self) -> None:
        if self.processes:
            self.do(self._check())

    async def _check(self) -> None:
        session: Session = await self.studio.app.hold(self.studio.client, self.session_id)
        await session.write_left()  # what a full disk kept from being written
        _, entries = await self.store.real.load(self.session_id)
        said = [text_of(entry.own_parts[0]) for entry in entries if isinstance(entry, PromptEntry | SteerEntry)]
        for text in self.acknowledged:
            assert said.count(text) == 1, (text, said)
        assert len(set(self.acted)) == len(self.acted), "a call was made twice"
        results = str([entry.content for entry in entries if isinstance(entry, ToolResultEntry)])
        answers = str([item.content.parts for item in session.history.sources])
        for mark in self.acted:
            assert mark in answers, "what ran stands in the history"
            assert f"did {mark}" in results or session.history.curated(close=True)
        assert session.tools_state.offered == {}
        assert session.open_turns == {}
        check_request(session.request_contents(user_text("?"), close=True))

    def teardown(self) -> None:
        if self.processes:
            for late in self.late:
                late.set()
            self.do(self.studio.app.close())
        self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)


Life.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=6,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
)
TestNothingIsLost = Life.TestCase


@pytest.mark.parametrize("kind", ["killed before", "killed after", "fault"])
@pytest.mark.parametrize(
    "rounds",
    [
        [[("look", "steer")]],
        [[("run", "steer"), ("run", "ok")]],
        [[("run", "ok"), ("look", "raises")], [("run", "stop")]],
        [[("run", "stubborn")]],
    ],
    ids=["steered while it looks", "steered while it runs", "stopped", "a call that does not stop"],
)
def test_a_turn_that_is_cut_at_each_of_its_writes_loses_nothing_and_the_chat_goes_on(
    rounds: list[list[tuple[str, Behaviour]]], kind: Literal["killed before", "killed after", "fault"]
) -> None:
    for at in range(9):
        life = Life()
        try:
            life.begin()
            life.say(rounds, "answer", ids=True, trouble=Trouble(at, kind))
            life.nothing_acknowledged_is_lost_and_nothing_acted_twice()
            life.fork()
            life.go_on([[("run", "ok")]], "answer", trouble=None)
            life.nothing_acknowledged_is_lost_and_nothing_acted_twice()
            life.say([], "answer", ids=True, trouble=None)
            life.nothing_acknowledged_is_lost_and_nothing_acted_twice()
        finally:
            life.teardown()

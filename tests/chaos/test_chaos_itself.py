"""What a chaos run relies on: the same seed is the same plan, and what is lost is seen."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.chaos.client import Refused
from tests.chaos.elder import judge
from tests.chaos.promises import Promises, compare
from tests.chaos.provider import Provider, marker_of
from tests.chaos.report import Report
from tests.chaos.user import planned
from tests.support.emulator import RecordedRequest


class Said:
    """A daemon that says what a test has it say."""

    def __init__(self) -> None:
        self.info: dict[str, Any] = {"sessionId": "s", "title": "A title"}
        self.prompt: dict[str, Any] = {"kind": "prompt", "turnId": "t", "parts": [{"text": "[[m]] hello"}]}
        self.reply: dict[str, Any] = {"kind": "reply", "turnId": "t", "parts": [{"text": "Hi."}]}
        self.transcript = [self.prompt, self.reply]
        self.view = [{"parts": [{"text": "the rule"}]}]
        self.compressions = [{"compressionId": "c", "state": "inForce", "hides": [1, 2], "rating": 3}]
        self.pins = [{"pinId": "p", "text": "the rule"}]
        self.state = "idle"
        self.is_gone = False

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        if self.is_gone:
            raise Refused(method, {"code": 1001, "message": "There is none.", "data": {"kind": "sessionNotFound"}})
        return {
            "gemini/session/open": self.info,
            "gemini/session/history": {"contents": self.view if params.get("view") == "model" else self.transcript},
            "gemini/compression/list": {"compressions": self.compressions},
            "gemini/compressionStatus": {"state": self.state},
            "gemini/pins": {"pins": self.pins},
        }[method]


@pytest.fixture
def promises(monkeypatch: pytest.MonkeyPatch) -> Promises:
    monkeypatch.setattr("tests.chaos.promises.BETWEEN_LOOKS", 0)
    promises = Promises("s", compressions={"c"}, pins={"p": "the rule"}, ratings={"c": {3}}, titles={"A title"})
    promises.complete("t", "[[m]]", "Hi.")
    return promises


async def test_what_was_promised_and_is_there_is_no_violation(promises: Promises) -> None:
    assert await compare(Said(), promises) == []
    assert promises.is_checked


async def test_what_a_turn_said_before_its_answer_is_no_other_answer(promises: Promises) -> None:
    said = Said()
    said.transcript.insert(1, {"kind": "reply", "turnId": "t", "parts": [{"text": "xxxx"}]})  # a loop was cut short
    assert await compare(said, promises) == []


async def test_a_compression_that_an_earlier_daemon_prepared_does_not_run(promises: Promises) -> None:
    said = Said()
    said.state = "prepared"
    assert await compare(said, promises) == []


async def test_a_change_that_was_asked_for_and_not_acknowledged_may_have_happened_or_not(promises: Promises) -> None:
    said = Said()
    promises.turns["t"].may_be_replaced = True
    promises.may_be_unpinned.add("p")
    promises.titles.add("Another")
    said.prompt["outcome"] = "replaced"
    said.pins.clear()
    said.info["title"] = "Another"
    assert await compare(said, promises) == []
    said.is_gone = promises.may_be_deleted = True
    assert await compare(said, promises) == []


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (lambda said: said.transcript.clear(), "the prompt of t"),
        (lambda said: said.transcript.insert(0, said.prompt), "2 times"),
        (lambda said: said.transcript.remove(said.reply), "the answer of t"),
        (lambda said: said.reply.update(parts=[{"text": "Hi"}]), "the answer of t"),
        (lambda said: said.prompt.update(outcome="interrupted"), "interrupted"),
        (lambda said: said.compressions.clear(), "the compression c is gone"),
        (lambda said: said.compressions[0].update(state="preview"), "the compression c is gone"),
        (lambda said: said.compressions[0].update(rating=1), "the rating of c"),
        (lambda said: said.pins.clear(), "the pin p is gone"),
        (lambda said: said.view.clear(), "not in the model's view"),
        (lambda said: said.info.update(title="Untitled"), "the title"),
        (lambda said: setattr(said, "is_gone", True), "the session s is gone"),
    ],
)
async def test_whatever_is_lost_is_seen(promises: Promises, harm: Any, what: str) -> None:
    said = Said()
    harm(said)
    found = await compare(said, promises)
    assert "lost" in [kind for kind, _ in found]
    assert any(what in sentence for _, sentence in found), found


async def test_what_came_back_is_seen(promises: Promises) -> None:
    promises.undone.add("c")
    promises.unpinned.add("p")
    found = [sentence for _, sentence in await compare(Said(), promises)]
    assert any("it was undone" in sentence for sentence in found)
    assert any("the pin p is back" in sentence for sentence in found)
    promises.deleted = promises.may_be_deleted = True
    assert "can be opened" in (await compare(Said(), promises))[0][1]


async def test_a_status_and_a_turn_that_run_though_nothing_was_asked_for_are_seen(promises: Promises) -> None:
    said = Said()
    said.state = "running"
    assert [kind for kind, _ in await compare(said, promises)] == ["falsely running"]
    promises.busy = 1
    assert await compare(said, promises) == []
    promises.busy, said.state = 0, "idle"
    said.transcript.append({"kind": "prompt", "turnId": "u", "parts": [{"text": "[[n]]"}]})
    assert [kind for kind, _ in await compare(said, promises)] == ["falsely running"]


def test_the_same_seed_is_the_same_plan_and_another_is_another() -> None:
    def plan(seed: int) -> list[tuple[str, float]]:
        return [(name, chance.random()) for name, chance in (planned(seed, "ann", number) for number in range(50))]

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)


def test_the_fate_of_a_prompt_depends_on_its_marker_and_attempt_alone() -> None:
    def fates(markers: list[str]) -> dict[str, str]:
        provider = Provider(Report(7, 1))
        return {marker: re.sub(" at 0x[0-9a-f]+", "", repr(provider(_request(marker)))) for marker in markers}

    markers = [f"ann-{number}" for number in range(40)]
    shuffled = random.Random(1).sample(markers, len(markers))
    assert fates(markers) == fates(shuffled)
    assert marker_of("an old [[ann-1]] and a new [[ann-2]]") == "ann-2"


def test_a_daemon_that_grows_is_seen_and_one_that_is_merely_warm_is_not() -> None:
    flat, growing = Report(1, 1), Report(1, 1)
    judge([(second, (90_000 + 5_000 * (second % 2), 20, 9)) for second in range(600)], flat)
    judge([(second, (90_000 + 100 * second, 20 + second // 30, 9)) for second in range(600)], growing)
    assert flat.violations == []
    assert [kind for kind, _ in growing.violations] == ["not flat", "not flat"]


def _request(marker: str) -> RecordedRequest:
    return RecordedRequest(
        index=0,
        method="streamGenerateContent",
        model="gemini-2.5-pro",
        path="",
        query={},
        headers={"x-goog-api-key": "key"},
        body={"contents": [{"role": "user", "parts": [{"text": f"[[{marker}]] hello"}]}]},
        vertex=False,
    )

"""A run with large outputs stays within the window and keeps each call with its result."""

from __future__ import annotations

from pathlib import Path

from gemini_companion.engine.history.content import Content
from tests.performance.agent_peer import ModelledPeer, run_peer
from tests.performance.agent_run import WINDOW, Outcome, made_turns, run_ours, script_of

CALL = Content(role="model", parts=({"functionCall": {"id": "c1", "name": "x", "args": {}}},))
RESULT = Content(role="user", parts=({"functionResponse": {"id": "c1", "name": "x", "response": {"output": ""}}},))


async def test_a_run_with_outputs_of_a_megabyte_never_passes_the_window_nor_parts_a_call_from_its_result(
    tmp_path: Path,
) -> None:
    script = script_of(made_turns(5), rounds=20, largest=1_000_000)
    assert max(len(step.output) for turn in script for step in turn.rounds) == 1_000_000
    outcome, surroundings = await run_ours(tmp_path, script)
    assert outcome.faults == []
    assert outcome.requests >= 20 + len(script)
    assert 0 < outcome.largest <= WINDOW
    theirs = run_peer(script, ModelledPeer(), surroundings=surroundings)
    assert theirs.faults == []
    assert theirs.requests >= 20 + len(script)


def test_a_call_without_its_result_and_a_request_that_is_too_large_are_noticed() -> None:
    for contents, tokens in (((CALL,), 1), ((RESULT,), 1), ((RESULT, CALL), 1), ((CALL, RESULT), WINDOW + 1)):
        outcome = Outcome()
        outcome.take(tokens, contents)
        assert len(outcome.faults) == 1
    fine = Outcome()
    fine.take(WINDOW, (CALL, RESULT))
    assert fine.faults == []

"""What people are told of a turn that was stopped."""

from typing import get_args

import msgspec
import pytest

from gemini_companion.engine.history.log import Usage
from gemini_companion.protocol.messages import sentence_for
from gemini_companion.sessions.results import ChatResult, StopReason

STOPPED = ChatResult(session_id="s", turn_id="t", text="", finish_reason="", model="m", usage=Usage())


@pytest.mark.parametrize("reason", ["contextWindowWillOverflow", "maxTurns", "maxToolRounds"])
def test_a_turn_that_was_stopped_is_told_in_words_and_with_what_to_do(reason: StopReason) -> None:
    said = sentence_for(msgspec.structs.replace(STOPPED, stopped=reason))
    assert reason not in said
    assert said.count(".") >= 2
    assert reason in get_args(StopReason)


def test_a_window_that_tools_filled_is_not_blamed_on_a_prompt_that_was_sent() -> None:
    filled = msgspec.structs.replace(STOPPED, stopped="contextWindowWillOverflow")
    assert "nothing was sent" not in sentence_for(filled)
    assert "nothing was sent" in sentence_for(msgspec.structs.replace(filled, prompt=({"text": "Hi"},)))


def test_the_question_that_ended_a_turn_is_what_is_told() -> None:
    asked = msgspec.structs.replace(STOPPED, stopped="loopDetected", text="Shall it go on?")
    assert sentence_for(asked) == "Shall it go on?"

"""A turn that goes round in circles: the model is told once, in the log; the second time the turn ends and can go on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import ReplyEntry
from gemini_companion.engine.history.loop_entry import LoopEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.events import LoopDetected, MessageDelta, MessageDiscarded
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import Answer, ScriptedModel, calls, chunks
from tests.support.sessions import Studio

SENTENCE = "Let me look at the test once more, for it still fails in the same way. "


def studio_of(tmp_path: Path, **settings: Any) -> Studio:
    tools = [SampleTool("read_file", "read"), SampleTool("poll", "read", changing())]
    return Studio(tmp_path, tools=tools, tooling=allowing(), **settings)


def changing() -> Any:
    looks = iter(range(1_000))

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=f"{next(looks)} of 1000 done")

    return work


def script(answers: Sequence[Answer]) -> list[Answer]:
    return list(answers)


def chanted(times: int = 30, *, size: int = 7) -> list[ModelChunk]:
    text = SENTENCE * times
    return chunks([text[at : at + size] for at in range(0, len(text), size)])


def loops(session: Session) -> list[tuple[str, str]]:
    return [(entry.kind, entry.outcome) for entry in session.history.entries if isinstance(entry, LoopEntry)]


def reminders(request: ModelRequest) -> list[str]:
    return [
        part["text"]
        for content in request.contents
        for part in content.parts
        if "system_reminder" in str(part.get("text"))
    ]


async def test_the_same_call_five_times_is_told_to_the_model_and_a_turn_that_gets_on_ends_as_ever(
    tmp_path: Path,
) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([calls(("read_file", {"file_path": "a"}))] * 5 + ["I see. It is done."])
    result = await studio.chat("Go.")
    assert (result.stopped, result.text.strip()) == (None, "I see. It is done.")
    requests = studio.model.main()
    assert [len(reminders(request)) for request in requests] == [0, 0, 0, 0, 0, 1]
    assert "read_file(file_path: a)" in reminders(requests[-1])[0]
    (event,) = studio.heard.of(LoopDetected)
    assert (event.kind, event.outcome) == ("repeatedCalls", "told")
    assert loops(await studio.session()) == [("repeatedCalls", "told")]


async def test_the_second_time_the_turn_ends_and_says_which_loop_it_was_and_what_to_do(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([calls(("read_file", {"file_path": "a"}))] * 40)
    result = await studio.chat("Go.")
    assert result.stopped == "loopDetected"
    assert "read_file(file_path: a)" in result.text
    assert "let it go on" in result.text
    assert len(studio.model.main()) == 10
    assert [event.outcome for event in studio.heard.of(LoopDetected)] == ["told", "stopped"]
    session = await studio.session()
    assert loops(session) == [("repeatedCalls", "told"), ("repeatedCalls", "stopped")]
    assert not session.history.has_open_call()


async def test_going_on_with_a_turn_that_was_stopped_begins_the_count_anew(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([calls(("read_file", {"file_path": "a"}))] * 14 + ["Done."])
    await studio.chat("Go.")
    result = await studio.app.resume(studio.client, None)
    assert (result.stopped, result.text.strip()) == (None, "Done.")
    assert len(studio.model.main()) == 15


async def test_a_call_whose_answer_changes_is_no_loop_until_it_was_made_twenty_times(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([calls(("poll", {}))] * 19 + ["Done."])
    assert (await studio.chat("Wait for it.")).stopped is None
    assert studio.heard.of(LoopDetected) == []


async def test_an_answer_that_repeats_itself_is_ended_and_cut_and_the_model_is_told(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([chanted(1_000), "Now I know."])
    result = await studio.chat("Go.")
    assert (result.stopped, result.text.strip()) == (None, "Now I know.")
    assert len(studio.heard.of(MessageDelta)) < 200, "the rest was waited for"
    session = await studio.session()
    cut = next(entry for entry in session.history.entries if isinstance(entry, ReplyEntry))
    text = cut.content.parts[0]["text"]
    assert (cut.finish_reason, text.count("Let me look")) == ("LOOP", 1)
    (discarded,) = studio.heard.of(MessageDiscarded)
    shown = [event.text for event in studio.heard.of(MessageDelta) if event.attempt == discarded.attempt + 1]
    assert shown == [text]
    assert [len(reminders(request)) for request in studio.model.main()] == [0, 1]
    (call,) = [
        entry for entry in session.history.entries if isinstance(entry, ModelCallEntry) and entry.outcome != "ok"
    ]
    assert call.outcome == "cancelled"


async def test_an_answer_that_repeats_itself_again_ends_the_turn_and_is_out_of_the_view_when_it_goes_on(
    tmp_path: Path,
) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([chanted(), chanted(), "Now I know."])
    result = await studio.chat("Go.")
    assert result.stopped == "loopDetected"
    session = await studio.session()
    assert [item.kind for item in session.history.items] == ["prompt", "reply", "steer"]
    assert len([entry for entry in session.history.entries if isinstance(entry, ReplyEntry)]) == 2
    assert (await studio.app.resume(studio.client, None)).text.strip() == "Now I know."


async def test_what_a_void_attempt_said_is_not_counted_when_it_is_said_again(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    broken = chunks([SENTENCE] * 6, None)
    studio.model.streams = script([broken, broken, chunks([SENTENCE] * 6)])
    result = await studio.chat("Go.")
    assert result.stopped is None
    assert len(studio.heard.of(MessageDiscarded)) == 2
    assert studio.heard.of(LoopDetected) == []


async def test_a_text_that_is_said_again_in_every_round_is_a_loop_though_no_answer_has_it_twice(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    again = [*chunks([SENTENCE * 3], None)[:1], *calls(("read_file", {"file_path": "a"}), text="\n\n")]
    other = [*chunks([SENTENCE * 3], None)[:1], *calls(("read_file", {"file_path": "b"}), text="\n\n")]
    studio.model.streams = script([again, other, again, other, again, "Done."])
    assert (await studio.chat("Go.")).stopped is None
    assert [event.kind for event in studio.heard.of(LoopDetected)] == ["repeatedText"]


async def test_what_a_person_says_meanwhile_begins_the_count_anew(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    made: list[int] = []

    async def steered(args: SampleArgs, context: ToolContext) -> ToolOutput:
        made.append(1)
        if len(made) == 4:
            running = (await studio.session()).lane.current
            assert running is not None
            assert running.steer is not None
            await running.steer(({"text": "Once more, please."},), studio.client)
        return ToolOutput(output="the same")

    tool = SampleTool("look", "read", steered)
    studio.services.tools = type(studio.services.tools)([tool])
    studio.model.streams = script([calls(("look", {}))] * 8 + ["Done."])
    assert (await studio.chat("Go.")).stopped is None
    assert studio.heard.of(LoopDetected) == []


async def test_the_reminder_stays_where_it_was_said_so_that_each_request_begins_with_the_one_before(
    tmp_path: Path,
) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([calls(("read_file", {"file_path": "a"}))] * 5 + [calls(("read_file", {})), "Done."])
    await studio.chat("Go.")
    await studio.chat("And now?")
    requests = studio.model.main()
    for before, after in pairwise(requests[5:]):
        assert after.contents[: len(before.contents) - 1] == before.contents[:-1]
        assert len(reminders(after)) == 1
    session = await studio.session()
    assert History(session.ledger.measure, session.history.entries).contents() == session.history.contents()


async def test_the_reminder_is_nobodys_prompt_and_the_transcript_names_it_so(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([calls(("read_file", {"file_path": "a"}))] * 5 + ["Done."])
    await studio.chat("Never touch legacy/. Go.")
    session = await studio.session()
    (entry,) = [entry for entry in session.history.entries if isinstance(entry, SteerEntry)]
    assert entry.own_parts == ()
    page = await history_page(session, "transcript", cursor=None, limit=None)
    (shown,) = [item for item in page.contents if item.kind == "reminder"]
    assert "read_file" in (shown.reason or "")
    assert [rule.text for rule in session.history.standing] == ["Never touch legacy/."]


async def test_secrets_are_in_neither_event_nor_log_of_a_loop(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    key = "AIza" + "Sy4F" * 8 + "abc"
    studio.model.streams = script([calls(("read_file", {"file_path": f"key={key}"}))] * 5 + ["Done."])
    await studio.chat("Go.")
    (event,) = studio.heard.of(LoopDetected)
    session = await studio.session()
    (entry,) = [entry for entry in session.history.entries if isinstance(entry, LoopEntry)]
    assert key not in event.detail + entry.detail
    assert len(event.detail) <= 200


async def test_a_setting_turns_it_off(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, loop_detection=False)
    studio.model.streams = script([calls(("read_file", {"file_path": "a"}))] * 12 + [chanted()])
    assert (await studio.chat("Go.")).text == SENTENCE * 30
    assert studio.heard.of(LoopDetected) == []


async def test_loops_are_counted_in_the_statistics_and_a_cut_answer_is_no_call_twice(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script([chanted(), "Done."])
    await studio.chat("Go.")
    stats = await studio.app.statistics.of_session(await studio.session())
    assert stats.loops == 1
    assert sum(row.calls for row in stats.models if row.purpose == "answer") == 2


async def test_a_crash_between_the_loops_loses_neither_the_reminder_nor_the_round(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    studio.model.streams = script(
        [calls(("read_file", {"file_path": "a"}))] * 5 + [ModelUnavailable("gone", retryable=False)]
    )
    with pytest.raises(ModelUnavailable):
        await studio.chat("Go.")
    session = await studio.session()
    assert [item.kind for item in session.history.items][-2:] == ["toolResult", "steer"]
    studio.model.streams = script(["Done."])
    await studio.app.resume(studio.client, None)
    assert len(reminders(studio.model.main()[-1])) == 1


# --- asked whether it gets on


def long_turn(model: ScriptedModel, rounds: int) -> None:
    model.streams = script([calls(("read_file", {"file_path": str(number)})) for number in range(rounds)] + ["Done."])


async def test_after_thirty_rounds_a_small_model_is_asked_and_its_tokens_are_counted(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    long_turn(studio.model, 46)
    studio.model.answers = ['{"confidence": 0.1, "reason": "new files"}'] * 9
    assert (await studio.chat("Read them all.")).stopped is None
    asked = [request for request in studio.model.requests if request.role == "utility_loop_check"]
    assert len(asked) == 2
    assert asked[0].answers_json
    assert "Read them all." in str(asked[0].contents)
    stats = await studio.app.statistics.of_session(await studio.session())
    assert sum(row.calls for row in stats.models if row.purpose == "loopCheck") == 2


async def test_one_model_that_is_sure_is_not_believed_alone(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    long_turn(studio.model, 32)
    studio.model.answers = ['{"confidence": 0.97, "reason": "stuck"}', '{"confidence": 0.2, "reason": "it gets on"}']
    assert (await studio.chat("Read them all.")).stopped is None
    asked = [request.model for request in studio.model.requests if request.role == "utility_loop_check"]
    assert len(set(asked)) == 2
    assert studio.heard.of(LoopDetected) == []


async def test_two_that_are_sure_have_the_model_told_and_later_the_turn_ended(tmp_path: Path) -> None:
    studio = studio_of(tmp_path)
    long_turn(studio.model, 60)
    studio.model.answers = ['{"confidence": 0.97, "reason": "It undoes its own edits."}'] * 4
    result = await studio.chat("Read them all.")
    assert result.stopped == "loopDetected"
    assert "It undoes its own edits" in result.text
    assert len(reminders(studio.model.main()[30])) == 1
    assert len(studio.model.main()) == 35


@pytest.mark.parametrize("answer", ["no", "{}", '{"confidence": 7}', "", ModelUnavailable("down", retryable=False)])
async def test_an_answer_that_is_none_is_no_loop(tmp_path: Path, answer: Any) -> None:
    studio = studio_of(tmp_path)
    long_turn(studio.model, 41)
    studio.model.answers = [answer] * 4
    assert (await studio.chat("Read them all.")).stopped is None
    assert studio.heard.of(LoopDetected) == []

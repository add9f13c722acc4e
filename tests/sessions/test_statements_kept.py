"""What is kept of a compression, as a person reads it, and what they say need not be."""

from __future__ import annotations

import pytest

from gemini_companion.engine.errors import CompressionNotFound, InvalidInput
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.compression.kept import keep_statement, kept_report
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.results import KeptReport, Statement
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.session import Session
from tests.support.conversations import agent_run, dialogue
from tests.support.sessions import Studio

DRILL = "Grandmother lent me her drill on Sunday for the shelves in the hall."
PORT = "The staging gateway listens on port 8147 behind the old balancer."
ASIDE = f"{DRILL} {PORT}"


def talk(*texts: str) -> list[Content]:
    return [content for text in texts for content in (user_text(text), model_text("Understood."))] + dialogue()


def shown(session: Session) -> str:
    contents = session.history.contents()
    return "\n".join(part.get("text", "") for content in contents for part in content.parts)


def said(report: KeptReport, text: str) -> Statement:
    (found,) = (one for one in report.statements if one.text == text)
    return found


async def drop(session: Session, text: str) -> None:
    await keep_statement(session, said(await kept_report(session, None), text).statement_id, is_kept=False)


async def test_the_list_has_what_the_person_said_in_order_with_its_turn_and_counts_the_rest(studio: Studio) -> None:
    session = await studio.load([*agent_run(), *talk(ASIDE, "```\nfirst pasted line\nsecond one\n```\nLook at this.")])
    result = await studio.compress(strategy="record")
    report = await kept_report(session, None)
    assert report.compression_id == result.compression_id
    listed = report.statements[:4]
    assert [one.text for one in listed] == ["Mend src/parser.py; never touch legacy/.", DRILL, PORT, "Look at this."]
    assert {one.stands for one in listed} == {"whole"}
    turns = [entry.turn_id for entry in session.history.prompts]
    assert [one.turn_id for one in listed] == [turns[0], turns[1], turns[1], turns[2]]
    assert report.whole == sum(one.stands == "whole" for one in report.statements)
    assert 0 < report.tokens <= report.budget
    assert report.calls > 0
    assert not report.is_outdated


async def test_a_list_is_narrowed_to_what_contains_a_text_whatever_its_capitals(studio: Studio) -> None:
    session = await studio.load(talk(ASIDE))
    await studio.compress(strategy="record")
    assert [one.text for one in (await kept_report(session, None, "GATEWAY")).statements] == [PORT]


async def test_what_need_not_be_kept_goes_with_the_next_compression_is_not_missed_and_can_be_kept_again(
    studio: Studio,
) -> None:
    session = await studio.load(talk(ASIDE))
    first = await studio.compress(strategy="record")
    await drop(session, DRILL)
    report = await kept_report(session, None)
    assert (said(report, DRILL).is_kept, said(report, DRILL).stands, report.is_outdated) == (False, "whole", True)
    assert DRILL in shown(session)

    await undo(session, client="c")
    second = await studio.compress(strategy="record")
    report = await kept_report(session, None)
    assert (said(report, DRILL).is_kept, said(report, DRILL).stands, report.is_outdated) == (False, "no", False)
    assert DRILL not in shown(session)
    assert PORT in shown(session)
    assert first.retention is not None
    assert second.retention is not None
    assert second.retention.facts == first.retention.facts - 1
    assert second.retention.missing == first.retention.missing

    await keep_statement(session, said(report, DRILL).statement_id, is_kept=True)
    assert (await kept_report(session, None)).is_outdated
    await undo(session, client="c")
    await studio.compress(strategy="record")
    assert DRILL in shown(session)


async def test_it_holds_pass_after_pass_and_in_a_fork(studio: Studio) -> None:
    session = await studio.load(talk(ASIDE))
    await studio.compress(strategy="record")
    await drop(session, DRILL)
    for number in range(3):
        for turn in range(4):
            await studio.chat(f"go on with {number}.{turn} " + "some talk of no weight " * 80)
        assert (await studio.compress(strategy="record")).status == "COMPRESSED"
        assert DRILL not in shown(session)
        assert shown(session).count(PORT) == 1
    forked = await studio.app.fork(studio.client, session.session_id, None)
    other = await studio.app.load(studio.client, forked.session_id)
    assert not said(await kept_report(other, None), DRILL).is_kept


async def test_another_strategy_does_not_put_it_back_behind_its_snapshot(studio: Studio) -> None:
    rule = "Never touch the folder legacy/payments without asking me."
    session = await studio.load(talk(f"{rule} {PORT}"))
    preview = await studio.compress(preview=True, strategy="record")
    report = await kept_report(session, preview.compression_id)
    for one in session.history.constraints.standing():
        await set_constraint(session, constraint_id=one.constraint_id, state="released")
    await keep_statement(session, said(report, rule).statement_id, is_kept=False)
    result = await studio.compress(strategy="split")
    assert result.status == "COMPRESSED"
    assert "legacy/payments" not in shown(session)
    assert result.retention is not None
    assert [one.text for one in result.retention.missing if "legacy" in one.text] == []


async def test_a_preview_made_before_is_applied_without_what_need_not_be_kept_since(studio: Studio) -> None:
    session = await studio.load(talk(ASIDE))
    preview = await studio.compress(preview=True, strategy="record")
    listed = await kept_report(session, preview.compression_id)
    await keep_statement(session, said(listed, DRILL).statement_id, is_kept=False)
    await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    assert DRILL not in shown(session)
    assert said(await kept_report(session, None), DRILL).stands == "no"


async def test_the_same_words_said_later_are_kept_and_those_said_earlier_are_not(studio: Studio) -> None:
    session = await studio.load(talk(DRILL, ASIDE, DRILL))
    await studio.compress(strategy="record")
    report = await kept_report(session, None)
    second = [one for one in report.statements if one.text == DRILL][1]
    await keep_statement(session, second.statement_id, is_kept=False)
    report = await kept_report(session, None)
    assert [one.is_kept for one in report.statements if one.text == DRILL] == [False, False, True]
    first = next(one for one in report.statements if one.text == DRILL)
    await keep_statement(session, first.statement_id, is_kept=True)
    report = await kept_report(session, None)
    assert [one.is_kept for one in report.statements if one.text == DRILL] == [True, True, True]


async def test_of_a_trifle_only_the_one_that_was_pointed_at_goes(studio: Studio) -> None:
    session = await studio.load(talk("Yes.", PORT, "Yes."))
    await studio.compress(strategy="record")
    report = await kept_report(session, None)
    last = [one for one in report.statements if one.text == "Yes."][-1]
    await keep_statement(session, last.statement_id, is_kept=False)
    report = await kept_report(session, None)
    assert [one.is_kept for one in report.statements if one.text == "Yes."] == [True, False]


async def test_a_rule_in_force_says_so_and_is_released_as_a_rule_first(studio: Studio) -> None:
    await studio.chat("Never touch the folder legacy/. " + PORT)
    session = await studio.session()
    for number in range(6):
        await studio.chat(f"question {number} " + "some talk of no weight " * 80)
    await studio.compress(strategy="record")
    (rule,) = session.history.standing
    statement = said(await kept_report(session, None), "Never touch the folder legacy/.")
    assert statement.constraint_id == rule.constraint_id
    with pytest.raises(InvalidInput, match="a rule that is in force"):
        await keep_statement(session, statement.statement_id, is_kept=False)
    await set_constraint(session, constraint_id=rule.constraint_id, state="released")
    await keep_statement(session, statement.statement_id, is_kept=False)
    report = await kept_report(session, None)
    assert not said(report, statement.text).is_kept
    assert said(report, statement.text).constraint_id is None


@pytest.mark.parametrize("statement_id", ["", "1", "1.99", "2.0", "9999.0", "one.two", "²²²².0", "-1.0"])
async def test_an_id_of_no_statement_of_the_persons_is_refused(studio: Studio, statement_id: str) -> None:
    session = await studio.load(talk(ASIDE))
    with pytest.raises(InvalidInput, match="There is no statement"):
        await keep_statement(session, statement_id, is_kept=False)


async def test_where_no_compression_keeps_what_was_said_the_list_is_empty(studio: Studio) -> None:
    session = await studio.load(talk(ASIDE))
    assert await kept_report(session, None) == KeptReport()
    await studio.compress(strategy="split")
    assert await kept_report(session, None) == KeptReport()
    with pytest.raises(CompressionNotFound):
        await kept_report(session, "nothing")

"""The strategy `record`, which is the default, in a session: a poor snapshot is taken, what was said stands beside it, pass after pass."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.record.record import INTRODUCTION
from gemini_companion.sessions.compression.gating import MADE_UP_FOR
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.session import Session
from tests.support.conversations import dialogue
from tests.support.scripted_model import SNAPSHOT, ScriptedModel
from tests.support.sessions import Studio

SMALL = {"token_limit_override": 16_000}

SAID = [
    f"Leave {name}/core.py in {name}land as it is." for name in ("alpha", "bravo", "delta", "gamma", "kappa", "omega")
]
RULES = [
    f"Never touch {name}.py."
    for name in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
]


def said(*texts: str) -> list[Content]:
    return [content for text in texts for content in (user_text(text), model_text("Understood."))] + dialogue()


def shown(session: Session) -> str:
    contents = session.history.contents()
    return "\n".join(part.get("text", "") for content in contents for part in content.parts)


async def test_a_snapshot_that_says_little_is_taken_and_what_was_said_stands_beside_it(studio: Studio) -> None:
    session = await studio.load(said(*SAID, *RULES))
    result = await studio.compress()
    assert (result.status, result.snapshot, result.strategy) == ("COMPRESSED", SNAPSHOT, "record")
    assert result.model_calls == 2
    assert result.message.endswith(MADE_UP_FOR)
    assert result.appendix is not None
    assert result.appendix.startswith(INTRODUCTION)
    assert [text for text in (*SAID, *RULES) if text not in shown(session)] == []
    assert result.retention is not None
    assert 0.5 < result.retention.score < 1


async def test_of_the_built_in_summariser_which_leaves_the_rest_to_the_record_nobody_is_warned(studio: Studio) -> None:
    studio.model.capabilities = ScriptedModel("offline").capabilities
    session = await studio.load(said(*SAID, *RULES))
    result = await studio.compress()
    assert (result.status, result.snapshot, result.strategy) == ("COMPRESSED", SNAPSHOT, "record")
    assert MADE_UP_FOR not in result.message
    assert [text for text in (*SAID, *RULES) if text not in shown(session)] == []


async def test_of_the_persons_words_so_many_are_quoted_as_the_settings_say(studio: Studio) -> None:
    quoted: list[int] = []
    for share in (0.0, 0.5):
        session = await studio.load(said(*SAID))
        studio.set(own_words=share)
        assert (await studio.compress()).status == "COMPRESSED"
        quoted.append(sum(text in shown(session) for text in SAID))
    assert quoted == [0, len(SAID)]


async def test_every_pass_quotes_the_log_anew_and_an_undo_brings_all_back(studio: Studio) -> None:
    session = await studio.load(said(*SAID))
    before = session.history.contents()
    for number in range(4):
        result = await studio.compress()
        assert result.status == "COMPRESSED"
        assert [text for text in SAID if shown(session).count(text) != 1] == []
        assert shown(session).count(INTRODUCTION) == 1
        for turn in range(4):
            await studio.chat(f"go on with {number}.{turn} " + "some talk of no weight " * 80)
    while any(True for _ in session.history.in_force):
        await undo(session, client="c")
    assert session.history.contents()[: len(before)] == before


async def test_a_preview_that_was_edited_has_the_record_too(studio: Studio) -> None:
    session = await studio.load(said(*SAID))
    preview = await studio.compress(preview=True)
    edited = SNAPSHOT.replace("Mend", "Rewrite")
    await apply_preview(session, client="c", compression_id=preview.compression_id or "", snapshot=edited)
    assert [text for text in SAID if text not in shown(session)] == []
    assert "Rewrite the parser." in shown(session)


async def test_in_a_small_window_the_persons_words_have_room(studio: Studio) -> None:
    studio.set(token_limit_override=16_000)
    wishes = [f"Part {n} of the parser shall read the form {n} of dates and leave the others be." for n in range(50)]
    session = await studio.load(said(*wishes))
    assert (await studio.compress()).status == "COMPRESSED"
    assert [text for text in wishes if text not in shown(session)] == []


@pytest.mark.parametrize(("settings", "cap"), [({"compression_token_cap": 30_000}, 30_000), (SMALL, 8_000)])
async def test_a_record_stays_below_the_count_that_starts_compression_however_much_was_said(
    studio: Studio, settings: dict[str, int], cap: int
) -> None:
    studio.set(**settings)
    text = "This is a sentence {} that says something about part {} of the parser, and what is to be done there. "
    for number in range(12):
        await studio.chat("".join(text.format(number, part) for part in range(cap // 75)))
    session = await studio.session()
    assert [one.result.status for one in session.history.in_force.values()].count("COMPRESSED") > 1
    newest = list(session.history.in_force.values())[-1].result
    assert newest.strategy == "record"
    assert newest.new_token_count < 0.85 * cap


async def test_a_rule_that_was_released_by_hand_is_not_quoted_and_one_that_words_ended_is_with_those_words(
    studio: Studio,
) -> None:
    await studio.chat(f"{RULES[0]} And read the parser.")
    await studio.chat(f"{RULES[1]} And read the tests.")
    await studio.chat("You may touch two.py now.")
    session = await studio.session()
    assert {RULES[0], RULES[1]} <= {rule.text for rule in session.history.constraints.all()}
    for rule in session.history.constraints.all():
        if rule.text == RULES[0]:
            await set_constraint(session, constraint_id=rule.constraint_id, state="released")
    for number in range(6):
        await studio.chat(f"go on with {number} " + "some talk of no weight " * 80)
    assert (await studio.compress()).status == "COMPRESSED"
    assert RULES[0] not in shown(session)
    assert "And read the parser." in shown(session)
    assert shown(session).index(RULES[1]) < shown(session).index("You may touch two.py now.")

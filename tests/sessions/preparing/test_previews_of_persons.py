"""A preview that a person looks at: what is compressed of itself leaves it alone while there is room."""

from __future__ import annotations

import pytest

from gemini_companion.engine.errors import CompressionNotFound, StaleVersion
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.compression.preview import apply_preview, discard_preview
from gemini_companion.sessions.compression_events import CompressionStarted
from gemini_companion.sessions.session import Session
from tests.support.preparing_desk import begin, chat_at, prepared, reach_trigger, settled, within
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser


async def previewed(desk: Studio, session: Session) -> str:
    """The id of a preview that a person asked for, in a chat whose next turn is at the trigger."""
    shown = await desk.compress(preview=True)
    reach_trigger(desk, session)
    assert shown.compression_id is not None
    return shown.compression_id


async def test_what_is_prepared_is_not_installed_over_it_and_it_can_be_edited_and_applied(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await prepared(desk, slow)
    shown = await previewed(desk, session)
    for prompt in ("a turn while it is edited", "and one more"):
        assert (await desk.chat(prompt)).compression is None
        await settled(session)
    applied = await apply_preview(session, client="c", compression_id=shown, snapshot="As I would have it.")
    assert applied.status == "COMPRESSED"
    assert list(session.history.in_force) == [shown]


async def test_one_that_is_thrown_away_holds_nothing_back_also_after_a_restart(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await prepared(desk, slow)
    shown = await previewed(desk, session)
    assert (await desk.chat("a turn while it is looked at")).compression is None
    await settled(session)
    await discard_preview(session, shown)
    assert session.history.preview is None
    assert History(session.history.measure, session.history.entries).preview is None
    for _ in range(2):  # once more is nothing
        await discard_preview(session, shown)
    with pytest.raises(CompressionNotFound):
        await apply_preview(session, client="c", compression_id=shown)
    compressed = (await desk.chat("and now it goes on")).compression
    assert compressed is not None
    assert compressed.status == "COMPRESSED"


async def test_only_a_preview_that_is_shown_can_be_thrown_away(desk: Studio, slow: SlowSummariser) -> None:
    session = await prepared(desk, slow)
    own = session.prepared.entry
    assert own is not None
    for other in (own.compression_id, "preview-of-nobody"):
        with pytest.raises(CompressionNotFound):
            await discard_preview(session, other)
    applied = await previewed(desk, session)
    await apply_preview(session, client="c", compression_id=applied)
    with pytest.raises(CompressionNotFound, match="applied already"):
        await discard_preview(session, applied)


async def test_one_that_was_being_prepared_is_the_persons_and_the_next_one_waits_for_it(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    asked = begin(desk.compress(preview=True))
    await desk.heard.wait_for(CompressionStarted)
    slow.may_summarise.set()
    shown = (await asked).compression_id
    assert shown is not None
    reach_trigger(desk, session)
    for prompt in ("at the trigger", "the next is prepared by now"):
        assert (await desk.chat(prompt)).compression is None
        await settled(session)
    assert (await apply_preview(session, client="c", compression_id=shown)).status == "COMPRESSED"


async def test_with_off_the_turn_leaves_it_alone_too(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    desk.set(compression_background="off")
    slow.may_summarise.set()
    shown = await previewed(desk, session)
    assert (await desk.chat("a turn while it is edited")).compression is None
    assert (await apply_preview(session, client="c", compression_id=shown)).status == "COMPRESSED"


async def test_where_the_prompt_does_not_fit_what_is_prepared_is_installed_all_the_same(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await prepared(desk, slow)
    shown = await previewed(desk, session)
    desk.set(token_limit_override=session.token_count(session.choice()).tokens + 50)
    answered = await desk.chat("word " * 600)
    assert answered.compression is not None
    assert (answered.compression.status, answered.compression.trigger) == ("COMPRESSED", "background")
    with pytest.raises(StaleVersion, match="changed since"):
        await apply_preview(session, client="c", compression_id=shown)


async def test_one_that_the_chat_has_outgrown_holds_up_nothing(desk: Studio, slow: SlowSummariser) -> None:
    session = await prepared(desk, slow)
    await previewed(desk, session)
    triggers = []
    for number in range(12):
        compression = (await desk.chat(f"{number} " + "word " * 400)).compression
        triggers.append(compression and compression.trigger)
        await settled(session)
    assert triggers[0] is None
    assert "background" in triggers

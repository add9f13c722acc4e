"""Our own export loses nothing that counts: the session that it becomes sends what the exported one would have sent."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.compression.rating import rate
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.pins import pin, unpin
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.inspection import compression_list
from tests.support.conversations import agent_run, dialogue
from tests.support.examples import examples
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
RULES = ("Always run make lint before a commit.", "Never touch legacy/.", "Use tabs, not spaces.")

numbers = st.integers(0, 5)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(("And now?", "/etc/hosts: what is it?", RULES[0]))),
        st.tuples(st.just("compress"), st.sampled_from(get_args(StrategyName))),
        st.tuples(st.just("since"), numbers),
        st.tuples(st.just("up to"), numbers),
        st.tuples(st.just("undo"), st.none()),
        st.tuples(st.just("pin"), st.sampled_from(RULES)),
        st.tuples(st.just("unpin"), st.none()),
        st.tuples(st.just("rule"), st.sampled_from(RULES)),
        st.tuples(st.just("rate"), st.integers(1, 2)),
    ),
    max_size=8,
)


async def take(studio: Studio, session: Session, step: tuple[str, Any]) -> None:
    """Do a step; one that is refused, such as an undo of nothing, changes nothing."""
    what, value = step
    turns = list(dict.fromkeys(item.turn_id for item in session.history.sources))
    name = session.session_id
    match what:
        case "say":
            await studio.chat(value + " word" * 100, session_id=name)
        case "compress":
            await studio.compress(strategy=value, session_id=name)
        case "since":
            await studio.compress(since=turns[value % len(turns)], session_id=name)
        case "up to":
            await studio.compress(up_to=turns[value % len(turns)], session_id=name)
        case "undo":
            await undo(session, client="c")
        case "pin":
            await pin(session, text=value)
        case "unpin":
            await unpin(session, next(iter(session.history.pins), "none"))
        case "rule":
            await set_constraint(session, text=value, state="inForce")
        case _:
            newest = next(iter(compression_list(session).compressions), None)
            await rate(session, newest.compression_id if newest else "none", rating=value)


async def sent(studio: Studio, session: Session) -> tuple[str | None, list[Content]]:
    """The system instruction and the contents of its next request."""
    studio.model.requests.clear()
    await studio.chat("Go on.", session_id=session.session_id)
    request = studio.model.main()[-1]
    return request.system_instruction, list(request.contents)


@settings(max_examples=examples(50), deadline=None)
@given(steps)
def test_what_an_imported_export_sends_next_is_what_the_session_would_have_sent(taken: list[tuple[str, Any]]) -> None:
    async def live(folder: Path) -> None:
        studio = Studio(folder, compression_mode="off")
        session = await studio.load(
            [
                *dialogue(3, words=60),
                Content(role="user", parts=({"text": "Look."}, PICTURE)),
                Content(role="model", parts=({"text": "Hm.", "thought": True}, {"text": "A dot."})),
                *agent_run(3, words=60),
                model_text("All green."),
                user_text("Thanks."),
                model_text("Welcome."),
            ]
        )
        for step in taken:
            try:
                await take(studio, session, step)
            except CompanionError:
                continue
        text = "".join(await studio.app.export(studio.client, session.session_id, "companion"))
        file = folder / "session.json"
        file.write_text(text, "utf-8")
        info = await studio.app.import_session(studio.client, str(file))
        again = await studio.app.load(studio.client, info.session_id)
        await accept_rules(session, again)
        assert [item.kind for item in again.history.curated()] == [item.kind for item in session.history.curated()]
        assert [pin.text for pin in again.history.pins.values()] == [pin.text for pin in session.history.pins.values()]
        before, after = compression_list(session).compressions, compression_list(again).compressions
        assert [(one.compression_id, one.state, one.rating) for one in before] == [
            (one.compression_id, one.state, one.rating) for one in after
        ]
        assert await sent(studio, again) == await sent(studio, session)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(live(Path(folder)), PATIENCE))


async def accept_rules(session: Session, again: Session) -> None:
    """A file gives no rule its force: the person who imports it does."""
    held = {one.text for one in session.history.constraints.all() if one.state == "inForce" and one.source != "pin"}
    for one in again.history.constraints.all():
        if one.text in held and one.state == "proposed":
            await set_constraint(again, constraint_id=one.constraint_id, state="inForce")

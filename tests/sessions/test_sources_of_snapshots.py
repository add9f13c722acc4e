"""Lines of a snapshot say which turns they come from."""

from __future__ import annotations

import pytest

from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.sources import snapshot_sources
from gemini_companion.sessions.session import Session
from tests.support.conversations import dialogue
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio

GOAL = "Mend the parser."


def talk() -> list[Content]:
    return [
        user_text("The invoices of zebra customers are rounded twice, mend src/billing/rounding.py."),
        model_text("Looking at the zebra invoices."),
        user_text("Never touch legacy/ while you mend the parser."),
        model_text("Understood."),
        *dialogue(),
    ]


def saying(goal: str, *knowledge: str) -> str:
    lines = "\n".join(knowledge)
    return SNAPSHOT.replace(GOAL, goal).replace(">none</key_knowledge>", f">\n{lines}\n</key_knowledge>", 1)


async def sources(session: Session, compression_id: str | None) -> dict[str, list[int]]:
    """By line the numbers of the contents in the log."""
    entry = session.history.compressions.get(compression_id or "") or (
        session.history.preview and session.history.preview.compression
    )
    assert entry is not None
    lines = (entry.result.snapshot or "").split("\n")
    order = [item.entry_id for item in session.history.sources]
    found = await snapshot_sources(session, compression_id or "")
    return {lines[line.line]: [order.index(entry_id) for entry_id in line.entry_ids] for line in found.lines}


async def test_lines_have_the_sources_that_the_model_named_and_the_text_has_no_numbers(studio: Studio) -> None:
    session = await studio.load(talk())
    studio.model.default_answer = saying(f"{GOAL} [c0, c2]", "- A wise remark. [c1]")
    result = await studio.compress()
    assert result.snapshot == saying(GOAL, "- A wise remark.")
    assert result.snapshot in session.history.contents()[0].parts[0]["text"]
    found = await sources(session, result.compression_id)
    assert found[f"<overall_goal>{GOAL}</overall_goal>"] == [0, 2]
    assert found["- A wise remark."] == [1]


async def test_the_model_is_told_the_numbers_of_the_entries_and_how_to_cite_them(studio: Studio) -> None:
    await studio.load(talk())
    await studio.compress()
    request = studio.model.requests[0]
    assert "[c4, c11]" in (request.system_instruction or "")
    assert "<<<content 2 user" in request.contents[0].parts[0]["text"]


async def test_wrong_numbers_are_dropped_and_such_lines_are_looked_for(studio: Studio) -> None:
    session = await studio.load(talk())
    line = "- src/billing/rounding.py: zebra invoices rounded twice"
    studio.model.default_answer = saying(
        f"{GOAL} [c900]", f"{line} [c901, c77777]", "- Nobody said anything like it. [c999]"
    )
    result = await studio.compress()
    found = await sources(session, result.compression_id)
    assert found[line] == [0]
    assert "- Nobody said anything like it." not in found
    assert "[c9" not in (result.snapshot or "")


async def test_a_model_that_cites_nothing_is_attributed_by_what_its_lines_name(studio: Studio) -> None:
    session = await studio.load(talk())
    line = "- src/billing/rounding.py: zebra invoices rounded twice"
    studio.model.default_answer = saying(GOAL, line, "- All is well.")
    result = await studio.compress()
    found = await sources(session, result.compression_id)
    assert found[line] == [0]
    assert "- All is well." not in found


async def test_a_line_carried_over_keeps_its_sources(studio: Studio) -> None:
    session = await studio.load(talk())
    studio.model.default_answer = saying(GOAL, "- A wise remark. [c1]")
    await studio.compress()
    for number in range(6):
        await studio.chat(f"go on with {number} " + "word " * 400)
    studio.model.default_answer = saying(GOAL, "- a wise  remark.", "- Another one. [c0]")
    second = await studio.compress()
    found = await sources(session, second.compression_id)
    assert found["- a wise  remark."] == [1]
    assert found["- Another one."] > [len(talk()) // 2]


async def test_a_preview_has_sources_and_keeps_them_for_lines_that_are_not_edited(studio: Studio) -> None:
    session = await studio.load(talk())
    studio.model.default_answer = saying(GOAL, "- A wise remark. [c1]", "- Another one. [c2]")
    preview = await studio.compress(preview=True)
    assert (await sources(session, preview.compression_id))["- A wise remark."] == [1]
    edited = (preview.snapshot or "").replace("- Another one.", "- Quite another thing.")
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "", snapshot=edited)
    found = await sources(session, applied.compression_id)
    assert found["- A wise remark."] == [1]
    assert "- Quite another thing." not in found


async def test_lines_and_turns_are_named_as_the_panel_needs_them(studio: Studio) -> None:
    session = await studio.load(talk())
    studio.model.default_answer = saying(f"{GOAL} [c0, c2]")
    result = await studio.compress()
    found = await snapshot_sources(session, result.compression_id or "")
    line = found.lines[0]
    assert (result.snapshot or "").split("\n")[line.line] == f"<overall_goal>{GOAL}</overall_goal>"
    first, third = session.history.sources[0], session.history.sources[2]
    assert line.turn_ids == tuple(dict.fromkeys((first.turn_id, third.turn_id)))
    assert [one.line for one in found.lines] == sorted(one.line for one in found.lines)


async def test_a_compression_that_is_not_there_is_told(studio: Studio) -> None:
    session = await studio.load(talk())
    with pytest.raises(CompressionNotFound):
        await snapshot_sources(session, "nothing")

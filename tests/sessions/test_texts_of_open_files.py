"""What the text of the active file means to a session: tokens, and no facts."""

from __future__ import annotations

import pytest

from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.history.part import visible_text
from tests.sessions.test_ide_context_of_turns import PATHS, show
from tests.support.sessions import Studio


async def test_what_the_text_of_a_file_says_is_no_fact_of_the_conversation(studio: Studio) -> None:
    studio.workspace.texts = {PATHS[0]: "OTHER = '/etc/somewhere/else.conf'\n"}
    show(studio.client, (PATHS[0], 3, ""))
    await studio.chat("one")
    session = await studio.session()
    assert "else.conf" in str(studio.model.main()[-1].contents)
    ide = [source for source in sources_of(list(session.history.sources)) if source.ide_context]
    assert [visible_text(source.content) for source in ide] == [PATHS[0]]


async def test_the_text_of_the_active_file_is_in_the_sessions_one_number(studio: Studio) -> None:
    studio.workspace.texts = {PATHS[0]: "a line of text\n" * 500}
    show(studio.client, (PATHS[0], 3, ""))
    await studio.chat("one")
    session = await studio.session()
    assert session.parts().ide_context > 1_500
    assert session.status(studio.client).token_count >= session.parts().ide_context


@pytest.mark.usefixtures("by_split")
async def test_what_is_due_after_a_compression_is_counted_as_it_will_be_sent(studio: Studio) -> None:
    studio.workspace.texts = {path: f"{path} is a line of text\n" * 300 for path in PATHS}
    session = await studio.session()
    for number, path in enumerate(PATHS * 2):
        show(studio.client, (path, 3, ""), *((other, None, "") for other in PATHS if other != path))
        await studio.chat(f"{number} " + "word " * 300)
    before = session.parts().ide_context
    assert (await studio.compress()).status == "COMPRESSED"
    due = session.parts().ide_context
    assert due < before / 3
    await studio.chat("after")
    assert abs(session.parts().ide_context - due) <= 20

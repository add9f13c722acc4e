"""Which changes go when a person goes back to before a turn, in a chat whose subagents changed files too."""

from __future__ import annotations

from gemini_companion.engine.history.change_record import ChangeRecord
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileChange, FileVersion
from gemini_companion.sessions.tools.changes_chosen import RevertWish, chosen


def prompt(seq: int, turn_id: str) -> PromptEntry:
    content = Content(role="user", parts=(Part(text="Go."),))
    return PromptEntry(id=f"p{seq}", time=seq, seq=seq, turn_id=turn_id, content=content)


def change(seq: int, turn_id: str, name: str, *, time: int, is_done: bool = True) -> ChangeEntry:
    made = FileChange(path=f"/{name}", kind="created", after=FileVersion(digest=name, size=1, mode=0o644))
    changes = (made,) if is_done else ()
    return ChangeEntry(
        id=f"{name}{seq}", time=time, seq=seq, turn_id=turn_id, change_id=name, changes=changes, is_done=is_done
    )


def test_what_a_subagent_of_an_earlier_turn_made_stays_though_its_record_was_closed_later() -> None:
    agent = ChangeRecord(
        [
            change(1, "its", "cut", time=10, is_done=False),
            change(2, "its", "made", time=12),
            change(3, "its", "cut", time=90),
        ]
    )
    chat = ChangeRecord([prompt(1, "one"), prompt(2, "two"), change(3, "two", "edited", time=50)])
    joined = chat.with_those_of({"agent": "one"}, [("agent", agent)])
    assert [step.change_id for step in chosen(joined, RevertWish(since="two"))] == ["edited"]
    assert [step.change_id for step in chosen(joined, RevertWish(since="one"))] == ["edited", "made", "cut"]


def test_the_order_of_turns_is_the_chats_own_whatever_the_clock_said() -> None:
    agent = ChangeRecord([change(1, "its", "made", time=90)])
    chat = ChangeRecord([prompt(1, "one"), prompt(2, "two"), change(3, "two", "edited", time=50)])
    joined = chat.with_those_of({"agent": "one"}, [("agent", agent)])
    assert [step.change_id for step in chosen(joined, RevertWish(since="two"))] == ["edited"]

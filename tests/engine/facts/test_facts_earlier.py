"""An earlier snapshot is read back entry by entry, whoever wrote it."""

from __future__ import annotations

from hypothesis import given

from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from tests.engine.facts.fact_sources import a_run, count_words, texts

WRITTEN_BY_A_MODEL = """<state_snapshot>
  <overall_goal>
    Move the parser to the new grammar.
  </overall_goal>
  <active_constraints>
    - Never touch the lexer.
    * Keep functions short,
      under 20 lines.
    1. Ask first.
  </active_constraints>
  <key_knowledge>None.</key_knowledge>
  <recent_actions>
$ edit 1:3
x = 1

y = 2
end_of_edit
→ ok
$ make
→ failed: no rule
  </recent_actions>
</state_snapshot>"""


def test_entries_are_kept_word_for_word_with_the_lines_that_belong_to_them():
    entries = read_earlier(WRITTEN_BY_A_MODEL)
    assert entries["overall_goal"] == ["Move the parser to the new grammar."]
    assert [entry.strip() for entry in entries["active_constraints"]] == [
        "- Never touch the lexer.",
        "* Keep functions short,\n      under 20 lines.",
        "1. Ask first.",
    ]
    assert entries["key_knowledge"] == []
    assert entries["recent_actions"] == ["$ edit 1:3\nx = 1\n\ny = 2\nend_of_edit\n→ ok", "$ make\n→ failed: no rule"]
    assert tuple(entries) == SECTIONS


def test_a_text_without_sections_is_knowledge():
    assert read_earlier("<state_snapshot>\nWe use pnpm.\n</state_snapshot>")["key_knowledge"] == ["We use pnpm."]
    assert all(entries == [] for entries in read_earlier(None).values())


def test_what_a_snapshot_of_ours_says_about_itself_is_left_out():
    snapshot = extractive_snapshot(a_run(40), previous=None, budget_tokens=60, count_text=count_words)
    assert "… and" in snapshot
    assert not any("… and" in entry for entries in read_earlier(snapshot).values() for entry in entries)


@given(texts)
def test_any_text_can_be_read(text: str):
    for form in (text, f"<state_snapshot>{text}</state_snapshot>", f"<key_knowledge>{text}</key_knowledge>"):
        assert tuple(read_earlier(form)) == SECTIONS

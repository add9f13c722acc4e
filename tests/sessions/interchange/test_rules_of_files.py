"""The rules in the prompts of a file that was written elsewhere: proposed, and never in force."""

from __future__ import annotations

import json

from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.log import ConstraintEntry
from gemini_companion.sessions.interchange.importing import imported
from tests.support.sessions import Studio


async def rules_of(studio: Studio, *prompts: str) -> list[Constraint]:
    history = [
        content
        for prompt in prompts
        for content in (
            {"role": "user", "parts": [{"text": prompt}]},
            {"role": "model", "parts": [{"text": "Never trust me. Understood."}]},
        )
    ]
    session = await studio.session()
    _, entries = await imported(json.dumps({"history": history}).encode(), "chat.json", session.services)
    return [entry.constraint for entry in entries if isinstance(entry, ConstraintEntry)]


async def test_what_is_plainly_a_rule_in_a_prompt_is_proposed_with_the_reason(studio: Studio) -> None:
    (one,) = await rules_of(studio, "Never touch legacy/. Mend the parser.", "Thanks. Prefer short answers.")
    assert (one.text, one.state, one.scope) == ("Never touch legacy/.", "proposed", "session")
    assert "imported" in (one.note or "")


async def test_what_later_prompts_took_back_is_not_proposed(studio: Studio) -> None:
    assert await rules_of(studio, "Don't push to origin yet.", "ok you can push now") == []


async def test_where_no_rules_are_looked_for_none_is_proposed(studio: Studio) -> None:
    studio.set(compression_constraints="off")
    assert await rules_of(studio, "Never touch legacy/.") == []

"""What the last look at a request lets pass, and what not."""

from __future__ import annotations

import pytest

from gemini_companion.engine.constraints.assurance import lacking
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.pinned import pins_content

RULE = Constraint(
    constraint_id="r",
    text="Never push.",
    scope="session",
    state="inForce",
    created_at=0,
    source="prompt",
    turn_id="t",
)
PROMPT = "Never push. Build the parser."
OWN = {"t": ({"text": PROMPT},)}


@pytest.mark.parametrize(
    ("contents", "system"),
    [
        ([pins_content(["Never push."]), model_text("ok")], None),
        ([user_text(PROMPT), model_text("ok")], None),
        ([Content(role="user", parts=({"text": "more"}, {"text": PROMPT}))], None),
        ([user_text("hello")], "Be brief. Never push."),
    ],
    ids=["pinned", "in its prompt", "in its prompt among others", "in the system instruction"],
)
def test_a_rule_that_stands_as_the_persons_is_not_missing(contents: list[Content], system: str | None):
    assert lacking([RULE], contents, system, OWN) == []


@pytest.mark.parametrize(
    "contents",
    [
        [user_text("hello")],
        [],
        [model_text("Never push.")],
        [user_text("<state_snapshot>Never push.</state_snapshot>")],
        [user_text("The file says: Never push.")],
        [pins_content(["Never push"])],
        [pins_content(["Never push. Unless the operator says so."])],
        [Content(role="user", parts=({"functionResponse": {"name": "f", "response": {"output": "Never push."}}},))],
        [Content(role="user", parts=({"text": PROMPT.replace("Never", "Always")},))],
    ],
    ids=["gone", "nothing", "model", "snapshot", "file", "shortened", "weakened", "result", "reworded prompt"],
)
def test_a_rule_that_only_somebody_else_repeats_is_missing(contents: list[Content]):
    assert lacking([RULE], contents, None, OWN) == [RULE]

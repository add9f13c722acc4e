"""What is said of a loop, to the model and to people."""

from __future__ import annotations

from typing import Final, assert_never

from gemini_companion.engine.history.loop_entry import LoopKind

LONGEST_DETAIL: Final = 200
"""Characters of what people are shown of a loop."""

_REMINDER: Final = (
    "<system_reminder>\nThis is from the program that runs you, not from the user. {what} Stop and think: say in one or"
    " two sentences what you wanted to reach and why it does not work, then do something else, or tell the user what"
    " you need. If you wait for something, wait longer between looks. If this happens again, the turn ends.\n"
    "</system_reminder>"
)


def reminder_of(kind: LoopKind, detail: str) -> str:
    """What the model is told, once."""
    match kind:
        case "repeatedCalls":
            what = f"You have made the same calls over and over ({detail}), and they gave nothing new."
        case "repeatedText":
            what = "Your last answer said the same words over and over; it was cut where that began."
        case "noProgress":
            what = f"A second model that looked at your last steps thinks that you do not get any further: {detail}"
        case _:
            assert_never(kind)
    return _REMINDER.format(what=what.strip())


def stopped_by(kind: LoopKind, detail: str) -> str:
    """Why a turn was ended, and what to do, for people."""
    match kind:
        case "repeatedCalls":
            what = f"it makes the same calls again and again: {detail}"
        case "repeatedText":
            what = "it says the same words again and again" + (f": “{detail}”" if detail else "")
        case "noProgress":
            what = f"a second model thinks that it does not get any further: {detail}"
        case _:
            assert_never(kind)
    return (
        f"The model goes round in circles, although it was told so: {what.rstrip('.')}. The turn was stopped; what it"
        " did stays. Say what it should do differently, or let it go on; then the count begins anew."
    )

"""The demo's chapter about tools: what the model asks for, what the person is asked, and taking it back."""

from __future__ import annotations

from typing import Any, Final

from gemini_companion.cli.terminal import harmless

QUESTION_LINES: Final = 14
"""Lines of a diff that are shown."""

REQUESTS: Final = (
    "Where is `delay_before` used?",
    "Rename LARGEST_DELAY to LONGEST_DELAY in orbit/backoff.py",
    'Run `python3 -B -c "from orbit import backoff; print(backoff.LONGEST_DELAY)"`',
)
"""What the built-in model can do with tools: it searches, edits and runs where it is plainly asked to."""


def question_lines(question: dict[str, Any]) -> list[str]:
    """What a person is asked before a tool acts, as lines."""
    lines = [f"{question['title']}?  ({question.get('reason', '')})"]
    if question.get("command"):
        lines.append(f"  {question['command']}")
    lines += [f"  {line}" for line in str(question.get("diff") or "").splitlines()[:QUESTION_LINES]]
    lines += [f"  {label}: {question[key]}" for key, label in _FIELDS if question.get(key)]
    return [harmless(line) for line in lines]


_FIELDS: Final = (("sandbox", "sandbox"), ("irreversible", "cannot be undone"))


def outcome_of(completed: dict[str, Any], name: str) -> str:
    """A call that ended, in a line."""
    words = (name, completed.get("summary") or completed["outcome"], f"consent: {completed.get('consent', '')}")
    return harmless(" · ".join(words))

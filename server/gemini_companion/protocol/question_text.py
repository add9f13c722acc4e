"""A tool's question as plain text, for editors that can only show a message with buttons."""

from __future__ import annotations

from gemini_companion.sessions.tool_results import ToolQuestion


def text_of_question(question: ToolQuestion) -> str:
    """Verb and object, the command line, the diff or the arguments, where, what holds it back, what cannot be taken
    back. All of it is whole, for a yes is to all of it; `question_of` has written out what cannot be seen.
    """
    lines = [f"{question.title}?"]
    if question.command is not None:
        lines += [f"    {line}" for line in question.command.split("\n")]
        lines += [f"needs your yes: {part.text}" for part in question.parts if part.decision != "allow"]
    elif question.diff:
        lines += question.diff.split("\n")
    elif question.args_text:
        lines += [f"    {line}" for line in question.args_text.split("\n")]
    if question.cwd:
        lines.append(f"in {question.cwd}")
    if question.sandbox:
        lines.append(question.sandbox)
    if question.reason:
        lines.append(f"asked because {question.reason} (mode {question.mode})")
    lines += [f"warning: {warning}" for warning in question.warnings]
    if question.irreversible:
        lines.append(f"warning: {question.irreversible}")
    if question.rule_text:
        lines.append(f"for this session: {question.rule_text}")
    return "\n".join(lines)

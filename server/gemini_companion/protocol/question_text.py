"""A tool's question as plain text, for editors that show text: whole, for a yes is to all of it."""

from __future__ import annotations

import json
import unicodedata

from gemini_companion.sessions.tool_results import ToolQuestion


def text_of_question(question: ToolQuestion) -> str:
    """Verb and object, the whole command line or the diff, where, what holds it back, what cannot be taken back."""
    lines = [f"{printable(question.title)}?"]
    if question.command is not None:
        lines += [f"    {printable(line)}" for line in question.command.split("\n")]
        lines += [f"needs your yes: {printable(part.text)}" for part in question.parts if part.decision != "allow"]
    elif question.diff:
        lines += [printable(line) for line in question.diff.split("\n")]
    elif question.args and not question.path:
        lines += [printable(line) for line in json.dumps(question.args, indent=2, ensure_ascii=False).split("\n")]
    if question.cwd:
        lines.append(f"in {printable(question.cwd)}")
    if question.sandbox:
        lines.append(printable(question.sandbox))
    if question.reason:
        lines.append(f"asked because {printable(question.reason)} (mode {question.mode})")
    lines += [f"warning: {printable(warning)}" for warning in question.warnings]
    if question.irreversible:
        lines.append(f"warning: {printable(question.irreversible)}")
    if question.rule_text:
        lines.append(f"for this session: {printable(question.rule_text)}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """The text with what a reader cannot see (controls, directions, zero width, odd blanks) as its number."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign in "\t " or _is_visible(sign) else f"<U+{ord(sign):04X}>" for sign in text)


def _is_visible(sign: str) -> bool:
    return unicodedata.category(sign)[0] not in "CZ"

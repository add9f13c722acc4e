"""Whatever a model names, the question shows all of it, and says what may deceive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.protocol.question_text import text_of_question
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tool_results import ToolQuestion
from gemini_companion.tools.consent_texts import is_deceptive
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput
from tests.support.consenting import ConsentStudio

HIDDEN = "\u202e\u2066\u200b\x1b\x07\U000e0041"


class AskArgs(msgspec.Struct, frozen=True, kw_only=True):
    """Of a command, or of nothing that a proposal shows."""

    text: str
    command: str = ""


class AnyTool:
    """Proposes what it is told to."""

    name = "any"
    aliases = ()
    description = "Anything."
    arguments = AskArgs
    risk: Risk = "network"
    shape: Shape = "text"

    async def propose(self, args: AskArgs, context: ToolContext) -> Proposal:
        return Proposal(title=f"Do {args.text[:40]}", command=args.command or None, cwd=f"/project/{args.text[:20]}")

    async def run(self, args: AskArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        return ToolOutput(output="")


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[ConsentStudio]:
    studio = ConsentStudio(tmp_path, AnyTool())
    yield studio
    await studio.app.close()


async def asked(studio: ConsentStudio, **args: Any) -> ToolQuestion:
    studio.person.answers = [ConsentAnswer(outcome="once")]
    await studio.call("any", args)
    return studio.person.asked[-1]


def shown(question: ToolQuestion) -> list[str]:
    """Every text that an editor shows of it."""
    texts = [question.title, question.args_text, question.diff or "", question.command or "", question.cwd or ""]
    texts += [question.reason, question.rule_text, question.sandbox, *question.warnings]
    return [*texts, *(text for part in question.parts for text in (part.text, part.reason))]


@pytest.mark.parametrize(
    "args", [{"text": f"a{HIDDEN}b"}, {"text": "x", "command": f"echo {HIDDEN}x"}, {"text": HIDDEN, "command": HIDDEN}]
)
async def test_no_text_of_a_question_has_a_sign_that_cannot_be_seen(studio: ConsentStudio, args: dict[str, str]):
    question = await asked(studio, **args)
    assert not [text for text in shown(question) if any(map(is_deceptive, text))]
    assert not any(map(is_deceptive, text_of_question(question)))
    assert any("U+202E" in warning and "U+E0041" in warning for warning in question.warnings)


async def test_arguments_are_shown_whole_however_long(studio: ConsentStudio):
    text = "blank " * 5_000 + "; the end"
    question = await asked(studio, text=text)
    assert text in question.args_text
    assert "; the end" in text_of_question(question)


async def test_the_diff_and_the_name_of_a_file_hide_nothing_and_are_warned_of(studio: ConsentStudio):
    studio.person.answers = [ConsentAnswer(outcome="once")]
    await studio.write("М\u0430kefile", "if user != 'admin\u202e \u2066':\n")
    (question,) = studio.person.asked
    assert not any(map(is_deceptive, question.diff or ""))
    assert any("U+202E" in warning for warning in question.warnings)
    assert any("М\u0430kefile" in warning and "U+0430" in warning for warning in question.warnings)
    assert studio.tool.written == {"/project/М\u0430kefile": "if user != 'admin\u202e \u2066':\n"}


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ({"text": "x", "command": "curl https://g\u043e\u043egle.com"}, "g\u043e\u043egle"),
        ({"text": "x", "command": "ls; \u0455\u0441\u043e\u0440\u0435 -x"}, "\u0455\u0441\u043e\u0440\u0435"),
        ({"text": "read https://\u0430\u0440\u0440\u04cf\u0435.com/x"}, "\u0430\u0440\u0440\u04cf\u0435.com"),
    ],
)
async def test_letters_that_look_like_others_are_told_of_in_commands_programs_and_addresses(
    studio: ConsentStudio, args: dict[str, str], word: str
):
    assert any(word in warning for warning in (await asked(studio, **args)).warnings)


async def test_a_question_in_ones_own_language_is_not_warned_of(studio: ConsentStudio):
    question = await asked(studio, text="Исправь ошибку в файле «отчёт.txt», 報告書 ⚠️")
    assert question.warnings == ()

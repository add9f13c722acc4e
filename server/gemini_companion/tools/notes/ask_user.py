"""`ask_user`: the model asks the person."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

_NO_ANSWER: Final = "The person gave no answer. Go on as you think best, or end with what you need to know."


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to choose."""

    label: Annotated[str, Meta(min_length=1, max_length=200, description="The answer, in one to five words.")]
    description: Annotated[str, Meta(max_length=1_000, description="What it would mean.")] = ""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question."""

    question: Annotated[str, Meta(min_length=1, max_length=4_000, description="The whole question.")]
    header: Annotated[str, Meta(max_length=100, description="A word or two that stand for it.")] = ""
    options: Annotated[
        list[Option], Meta(max_length=8, description="Answers to choose from; leave out for a free answer.")
    ] = []


class AskUserArgs(msgspec.Struct, frozen=True, kw_only=True):
    """What to ask."""

    questions: Annotated[list[Question], Meta(min_length=1, max_length=4, description="One to four questions.")]


class AskUser:
    """Asks one question after the other; the person may always answer in words of their own."""

    name = "ask_user"
    aliases = ()
    description = (
        "Ask the person something that you cannot find out and that changes what you do: a preference, a decision, a"
        " missing fact. Offer the likeliest answers as options. Leave to use a tool needs no question of yours."
    )
    arguments = AskUserArgs
    risk: Risk = "question"
    shape: Shape = "text"

    async def propose(self, args: AskUserArgs, context: ToolContext) -> Proposal:
        """Nothing is touched."""
        return Proposal(title=f"Ask: {args.questions[0].question[:100]}")

    async def run(self, args: AskUserArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Ask. Raises `ToolRefusal` without any answer."""
        answers: list[str] = []
        for one in args.questions:
            labels = list(dict.fromkeys(option.label for option in one.options))
            given = await context.ports.editor.ask(_text_of(one), labels, allows_text=True)
            if given is None:
                break
            answers.append(given.text)
        if not answers:
            raise ToolRefusal(_NO_ANSWER, outcome="declined")
        asked = zip(args.questions, answers, strict=False)
        lines = [f"{one.question}\nAnswer: {answer}" for one, answer in asked]
        if len(answers) < len(args.questions):
            lines.append("The other questions were not answered.")
        return ToolOutput(output="\n\n".join(lines), summary=f"{answers[0][:60]}")


def _text_of(one: Question) -> str:
    described = [f"- {option.label}: {option.description}" for option in one.options if option.description]
    return "\n".join([f"{one.header}: {one.question}" if one.header else one.question, *described])

"""What was said before: requests, rules, tasks, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gemini_companion.adapters.offline.conversation import Conversation, Turn
from gemini_companion.adapters.offline.quoting import as_quotation, listed
from gemini_companion.adapters.offline.wording import Wording, is_own_answer
from gemini_companion.engine.facts.extract import facts_of
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.key_sentences import key_sentences
from gemini_companion.engine.facts.patterns import binding_rule
from gemini_companion.engine.facts.sentences import sentences
from gemini_companion.engine.history.content import Content, user_text

_LISTED: Final = 8
_SEARCHED_FOR_TASKS: Final = 200
"""Messages, the newest."""
_READ: Final = 8_000
"""Characters of a message that are read for rules."""


class Memory:
    """A conversation up to the prompt, told in one language."""

    def __init__(self, conversation: Conversation, wording: Wording) -> None:
        self._conversation = conversation
        self._say = wording
        self.turns = [turn for turn in conversation.turns if not (turn.speaker == "model" and is_own_answer(turn.text))]
        """What was said before but for own answers, which are quotations already."""

    def rules(self) -> Iterator[str]:
        """Every rule and decision of the user, those of the snapshot first."""
        for turn in self.turns:
            if turn.section == "active_constraints":
                yield turn.text.removeprefix("- ")
            elif turn.speaker == "user":
                yield from (sentence for sentence in sentences(turn.text[:_READ]) if binding_rule().search(sentence) or "decided" in sentence)

    def requests(self, question: str) -> Iterator[str]:
        """What the user asked before: the first, the last or all of it, going by the question."""
        requests = self._conversation.requests
        goal = next((turn for turn in self._conversation.turns if turn.section == "overall_goal"), None)
        asked = question.lower()
        if goal is None and not requests:
            yield self._say.no_requests
        elif "first" in asked or "最初" in asked:
            yield self.said(goal) if goal else self._say.first_request
            yield as_quotation((goal or requests[0]).text)
        elif not requests:
            for turn in [turn for turn in self._conversation.turns if turn.section in ("overall_goal", "task_state")][:2]:
                yield self.said(turn)
                yield as_quotation(turn.text)
        elif any(word in asked for word in ("last", "just", "previous", "直前", "さっき", "前の")):
            yield self._say.last_request.format(number=requests[-1].number)
            yield as_quotation(requests[-1].text)
        else:
            lines = [f"{turn.number}. {_first_line(turn.text)}" for turn in requests[-_LISTED:]]
            if len(requests) > _LISTED:
                lines.insert(0, self._say.earlier.format(count=len(requests) - _LISTED))
            yield "\n".join((self._say.requests.format(count=len(requests)), *lines))

    def tasks(self) -> str:
        """What was called a task, or open, by anybody; the newest last."""
        found = [turn.text.removeprefix("- ") for turn in self.turns if turn.section == "task_state"]
        told = [turn for turn in self.turns if turn.speaker in ("user", "model")]
        for number, turn in enumerate((*told[-_SEARCHED_FOR_TASKS:], Turn("user", self._conversation.prompt, 0))):
            facts = facts_of(FactSource(number, _content_of(turn), number))
            found.extend(fact.text for fact in facts if fact.kind == "task")
        tasks = list(dict.fromkeys(found))
        return listed(self._say.tasks, tasks[-2 * _LISTED :]) if tasks else self._say.no_tasks

    def telling_sentences(self) -> list[str]:
        """What says most, in the order in which it was said; questions are left out."""
        said = [turn for turn in self.turns if turn.speaker != "tool"]
        sources = [FactSource(number, _content_of(turn), number) for number, turn in enumerate(said)]
        telling = [sentence for sentence in key_sentences(sources) if not sentence.text.endswith(("?", "？"))][:_LISTED]
        return [sentence.text for sentence in sorted(telling, key=lambda sentence: (sentence.index, sentence.order))]

    def said(self, turn: Turn) -> str:
        """Who said it, and when."""
        match turn.speaker:
            case "user":
                return self._say.you_said.format(number=turn.number)
            case "model":
                return self._say.was_answered.format(number=turn.number)
            case "tool":
                return self._say.tool_said.format(number=turn.number)
            case "snapshot":
                return self._say.remembered.format(section=turn.section)


def _content_of(turn: Turn) -> Content:
    return Content(role="model", parts=({"text": turn.text},)) if turn.speaker == "model" else user_text(turn.text)


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= 160 else f"{line[:159]}…"

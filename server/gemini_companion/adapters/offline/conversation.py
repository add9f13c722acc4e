"""A request, read as a model reads it: what is asked now, what the editor shows, what was said and settled before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.adapters.offline.question import states
from gemini_companion.adapters.offline.quoting import as_quotation, listed
from gemini_companion.adapters.offline.wording import Wording, is_own_answer
from gemini_companion.engine.compression.appendix import read_appendix
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.facts.extract import facts_of, result_text
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.key_sentences import key_sentences
from gemini_companion.engine.facts.neutralise import SNAPSHOT_TAG
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import sentences
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.part import is_thought, response_of, text_of
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT, NEWER, PINS_INTRODUCTION
from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.replay import apply_text
from gemini_companion.engine.prompts.attachments import read_attachment
from gemini_companion.engine.prompts.environment import ENVIRONMENT_TAG
from gemini_companion.sessions.models.port import OpenDocument

Speaker: TypeAlias = Literal["user", "model", "tool", "snapshot"]

_LISTED: Final = 8
_SEARCHED_FOR_TASKS: Final = 200
"""Messages, the newest."""
_READ: Final = 8_000
"""Characters of a message or of a tool's result that are read."""
_ENVIRONMENT: Final = lazy(rf"\s*<{ENVIRONMENT_TAG}>")


class Turn(msgspec.Struct, frozen=True):
    """Something that was said before the prompt."""

    speaker: Speaker
    text: str
    number: int
    """Of the user's messages so far, from 1; that of the message that it follows for what the user did not say."""
    section: str = ""
    """Of the snapshot that it stands in; `pins` for what stands beside it."""


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A request, read."""

    prompt: str
    """The user's newest words; empty if the newest content holds none."""
    turns: tuple[Turn, ...]
    editor: KnownState | None
    """What the editor shows, as far as it was told."""
    attached: tuple[OpenDocument, ...] = ()
    """Files that went along with prompts, each as it was last: those of the newest prompt first and active."""

    @property
    def is_first(self) -> bool:
        """True if nothing was answered before."""
        return not any(turn.speaker in ("model", "snapshot") for turn in self.turns)

    @property
    def requests(self) -> list[Turn]:
        """What the user said before the prompt, in order."""
        return [turn for turn in self.turns if turn.speaker == "user"]


def read_conversation(contents: Sequence[Content]) -> Conversation:
    """Tell prompt, earlier turns and editor state apart; the environment and our acknowledgement are left out.

    Never raises.
    """
    turns: list[Turn] = []
    editor: KnownState | None = None
    number = 0
    prompt_from = 0
    last = len(contents) - 1
    attached: dict[str, OpenDocument] = {}
    for place, content in enumerate(contents):
        if place == last and content.role == "user":
            prompt_from = len(turns)
        pinned = False
        for part in content.parts:
            if is_thought(part):
                continue
            if (response := response_of(part)) is not None:
                if output := result_text(response)[:_READ]:
                    turns.append(Turn("tool", output, number))
                continue
            text = text_of(part)
            if not text or not text.strip() or text.strip() == ACKNOWLEDGEMENT or _ENVIRONMENT().match(text):
                continue
            if content.role == "user" and (file := read_attachment(part)) is not None:
                attached[file.path] = OpenDocument(path=file.path, text=file.text, is_active=place == last)
            elif put_back := read_appendix(text):
                turns.extend(Turn("snapshot", said, number, "appendix") for said in put_back)
            elif text == PINS_INTRODUCTION:
                pinned = True
            elif pinned:
                if not text.startswith(NEWER):
                    turns.append(Turn("snapshot", text, number, "pins"))
            elif content.role == "model":
                turns.append(Turn("model", text, number))
            elif (told := _editor_state(editor, text)) is not None:
                editor = told
                if place == last and any(turn.speaker == "user" for turn in turns[prompt_from:]):
                    continue  # the state came behind the prompt
                prompt_from = len(turns) if place == last else prompt_from
            elif text.lstrip().startswith(f"<{SNAPSHOT_TAG}"):
                turns.extend(_snapshot_turns(text, number))
            else:
                number += 1
                turns.append(Turn("user", text, number))
    is_asked = bool(contents) and contents[-1].role == "user"
    asked = [turn for turn in turns[prompt_from:] if is_asked and turn.speaker == "user"]
    prompt = asked[-1].text.strip() if asked else ""
    earlier = [turn for turn in turns if not asked or turn is not asked[-1]]
    files = sorted(attached.values(), key=lambda file: not file.is_active)
    return Conversation(prompt=prompt, turns=tuple(earlier), editor=editor, attached=tuple(files))


def _editor_state(known: KnownState | None, text: str) -> KnownState | None:
    """The editor's state after a message of ours; `None` if the text is none."""
    if "```json" not in text:
        return None
    try:
        return apply_text(known or KnownState(), text)
    except InvalidInput:
        return None


def _snapshot_turns(text: str, number: int) -> Iterator[Turn]:
    for section, entries in read_earlier(text).items():
        yield from (Turn("snapshot", entry, number, section) for entry in entries)


class Memory:
    """A conversation up to the prompt, in the words of one language."""

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
                yield from (sentence for sentence in sentences(turn.text[:_READ]) if states(sentence))

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
        elif goal and not requests:
            yield self.said(goal)
            yield as_quotation(goal.text)
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
        said = [turn for turn in self.turns if turn.speaker in ("user", "model")]
        for number, turn in enumerate((*said[-_SEARCHED_FOR_TASKS:], Turn("user", self._conversation.prompt, 0))):
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
        say = self._say
        words = {"user": say.you_said, "model": say.was_answered, "tool": say.tool_said, "snapshot": say.remembered}
        return words[turn.speaker].format(number=turn.number, section=turn.section)


def _content_of(turn: Turn) -> Content:
    return Content(role="model", parts=({"text": turn.text},)) if turn.speaker == "model" else user_text(turn.text)


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= 160 else f"{line[:159]}…"

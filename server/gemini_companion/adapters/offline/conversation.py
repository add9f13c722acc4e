"""Reading a request the way a model does: what is asked now, what was said before, what the editor shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.compression.conclude import ACKNOWLEDGEMENT
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.facts.earlier import read_earlier
from gemini_companion.engine.facts.extract import result_text
from gemini_companion.engine.facts.neutralise import SNAPSHOT_TAG
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import is_thought, response_of, text_of
from gemini_companion.engine.history.view import PINS_INTRODUCTION
from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.replay import apply_text
from gemini_companion.engine.prompts.attachments import read_attachment
from gemini_companion.engine.prompts.environment import ENVIRONMENT_TAG
from gemini_companion.sessions.ports import OpenDocument

Speaker: TypeAlias = Literal["user", "model", "tool", "snapshot"]

_LONGEST_RESULT: Final = 8_000
"""Characters of a tool's result that are read."""


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
    """Tell prompt, earlier turns and editor state apart; the environment and our acknowledgement are left out. Never raises."""
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
                if output := result_text(response)[:_LONGEST_RESULT]:
                    turns.append(Turn("tool", output, number))
                continue
            text = text_of(part)
            if not text or not text.strip() or text.strip() == ACKNOWLEDGEMENT or _environment().match(text):
                continue
            if content.role == "user" and (file := read_attachment(part)) is not None:
                attached[file.path] = OpenDocument(path=file.path, text=file.text, is_active=place == last)
            elif text == PINS_INTRODUCTION:
                pinned = True
            elif pinned:
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
    asked = [turn for turn in turns[prompt_from:] if turn.speaker == "user"] if contents and contents[-1].role == "user" else []
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


@cache
def _environment() -> re.Pattern[str]:
    return re.compile(rf"\s*<{ENVIRONMENT_TAG}>")

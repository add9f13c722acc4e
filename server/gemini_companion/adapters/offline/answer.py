"""The offline model's answer to a prompt: quotations, each with where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from gemini_companion.adapters.offline.conversation import Conversation, Memory
from gemini_companion.adapters.offline.question import Intent, read_question, speaks_of
from gemini_companion.adapters.offline.quoting import QUOTED_LINES, Quoter, as_quotation, definition_around, listed
from gemini_companion.adapters.offline.search import (
    Passage,
    file_passages,
    line_passages,
    rank,
    terms_of,
    turn_passages,
)
from gemini_companion.adapters.offline.wording import wording_for
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.sessions.models.port import OpenDocument

_WEAK: Final = 0.6
"""Share of the best score below which a passage is left out."""
_PASSAGES: Final = 3
_SEARCHED: Final = {"user": 0.9, "model": 0.7, "snapshot": 0.8, "tool": 0.5}
_REMEMBERED: Final = {"user": 1.3, "snapshot": 1.2, "model": 0.9, "tool": 0.5}
"""What a passage is worth by who said it, where anything may be meant, and where the conversation is."""


def compose_answer(
    conversation: Conversation,
    documents: Sequence[OpenDocument],
    *,
    is_fallback: bool = False,
    folders: Sequence[str] = (),
    poll: Callable[[], None] = lambda: None,
) -> str:
    """The whole answer as Markdown, with a note of who answers, and why if it answers for want of a key.

    Pure, deterministic, total.
    """
    return _Answer(conversation, documents, is_fallback=is_fallback, folders=folders, poll=poll).write()


class _Answer:
    def __init__(
        self,
        conversation: Conversation,
        documents: Sequence[OpenDocument],
        *,
        is_fallback: bool,
        folders: Sequence[str],
        poll: Callable[[], None],
    ) -> None:
        self._poll = poll
        self._is_fallback = is_fallback
        self._conversation = conversation
        self._prompt = conversation.prompt
        self._question = read_question(conversation.prompt)
        self._say = wording_for(self._prompt)
        self._open = self._shown(documents)
        attached = conversation.attached
        # Those that the prompt attaches, what is open, what earlier prompts attached.
        ranked = (*(file for file in attached if file.is_active), *self._open, *attached)
        by_path: dict[str, OpenDocument] = {}
        for document in ranked:
            by_path.setdefault(document.path, document)
        self._documents = list(by_path.values())
        self._quoter = Quoter(self._documents, self._say, folders)
        self._memory = Memory(conversation, self._say)

    def write(self) -> str:
        first = self._say.first_note_fallback if self._is_fallback else self._say.first_note
        note = first if self._conversation.is_first else self._say.note
        if not self._prompt:
            return f"{note}\n\n{self._say.no_prompt}"
        blocks = list(self._blocks()) or [self._nothing()]
        if self._question.rules and self._question.intent not in (Intent.TASKS, Intent.STATED):
            blocks = [*self._noted(), *blocks]
        return "\n\n".join((note, *blocks))

    def _blocks(self) -> Iterable[str]:
        say = self._say
        by_intent: dict[Intent, Callable[[], Iterable[str]]] = {
            Intent.GREETING: lambda: [say.greeting],
            Intent.THANKS: lambda: [say.thanks],
            Intent.ABILITIES: lambda: [say.abilities],
            Intent.OPEN_FILES: self._open_files,
            Intent.REQUESTS: lambda: self._memory.requests(self._question.text),
            Intent.TASKS: lambda: [self._memory.tasks()],
            Intent.SUMMARY: self._summary,
            Intent.MEMORY: self._remembered,
            Intent.STATED: self._noted,
            Intent.THIS: lambda: list(self._this()) or self._find(),
            Intent.FIND: self._find,
        }
        return by_intent[self._question.intent]()

    # --- What the editor shows ----------------------------------------------------------------------------------------

    def _shown(self, documents: Sequence[OpenDocument]) -> list[OpenDocument]:
        """The open files, the active one first; its selection alone where no text was handed over."""
        editor = self._conversation.editor
        shown = sorted(documents, key=lambda document: not document.is_active)
        active = editor.active if editor else None
        if editor and active and editor.selected_text and all(document.path != active for document in shown):
            shown.insert(0, OpenDocument(path=active, text=editor.selected_text, is_active=True))
        return shown

    def _open_files(self) -> Iterator[str]:
        editor = self._conversation.editor
        paths = list(
            dict.fromkeys((*(document.path for document in self._open), *sorted(editor.open if editor else ())))
        )
        active = next((document.path for document in self._open if document.is_active), editor and editor.active)
        marks = (f" ({self._say.active})" if path == active else "" for path in paths)
        lines = [f"- `{self._quoter.name(path)}`{mark}" for path, mark in zip(paths, marks, strict=True)]
        yield "\n".join((self._say.open_files.format(count=len(paths)), *lines)) if paths else self._say.no_open_files

    def _this(self) -> Iterator[str]:
        """The lines that the prompt names, else the selection, the definition around the cursor, or the active file."""
        if named := list(self._named_place()):
            yield from named
        elif self._documents:
            document = self._documents[0]
            cursor = self._cursor_line(document)
            if span := self._selected_lines(document):
                yield from self._quoter.selection(document, *span)
            elif cursor and (around := definition_around(document, cursor)):
                yield from self._quoter.definition(around, document)
            else:
                yield from self._quoter.outline(document)

    def _named_place(self) -> Iterator[str]:
        first, last = self._question.lines or (0, 0)
        for document in self._documents if first else ():
            if document.path in self._prompt or _base_name(document.path) in self._prompt:
                if first <= document.text.count("\n") + 1:
                    yield from self._quoter.place(document, first, last)
                return

    def _selected_lines(self, document: OpenDocument) -> tuple[int, int] | None:
        if document.selection is not None:
            count = document.text.count("\n") + 1
            first = min(max(1, document.selection[0]), count)
            return first, min(max(first, document.selection[1]), count)
        editor = self._conversation.editor
        selected = editor.selected_text if editor and editor.active == document.path else None
        if not selected or (start := document.text.find(selected)) < 0:
            return None
        first = document.text.count("\n", 0, start) + 1
        return first, first + selected.rstrip("\n").count("\n")

    def _cursor_line(self, document: OpenDocument) -> int:
        editor = self._conversation.editor
        return editor.cursor.line if editor and editor.cursor and editor.active == document.path else 0

    # --- Finding ------------------------------------------------------------------------------------------------------

    def _find(self) -> Iterator[str]:
        """What is named, else the passages that speak of it, in files, conversation and the prompt's own text."""
        blocks = list(self._named_place()) or list(self._named_files()) or list(self._named_definitions())
        if blocks and not self._question.brings_text:
            yield from blocks
            return
        passages = [passage for document in self._documents for passage in file_passages(document)]
        passages.extend(turn_passages(self._memory.turns, _SEARCHED))
        if self._question.brings_text:
            passages.extend(line_passages(self._prompt, self._question.text))
        yield from self._quoted(self._best(terms_of(self._question.text), passages))

    def _named_files(self) -> Iterator[str]:
        """Outlines of the files that the question names by path, or by name without ending."""
        text = self._question.text
        named = {path.rpartition("/")[2] for path in paths_in(text)}
        defined = self._quoter.find_definitions(self._question.names)
        stems = set[str]() if defined else {name.lower() for name in self._question.names}
        for document in self._documents:
            base = _base_name(document.path)
            if base in named or document.path in text or base.partition(".")[0].lower() in stems:
                yield from self._quoter.outline(document)

    def _named_definitions(self) -> Iterator[str]:
        for document, definition in self._quoter.find_definitions(self._question.names)[:2]:
            yield from self._quoter.definition(definition, document)

    def _best(
        self, terms: Sequence[str], passages: Sequence[Passage], most: int = _PASSAGES, hints: Sequence[str] = ()
    ) -> list[Passage]:
        """The best passages, without those that say the same again."""
        found = rank(terms, passages, hints, poll=self._poll)
        chosen: dict[str, Passage] = {}
        for score, passage in found:
            if len(chosen) >= most or score < _WEAK * found[0][0]:
                break
            text = passage.text.strip("-*> \n")
            if not any(text in other or other in text for other in chosen):
                chosen[text] = passage
        return list(chosen.values())

    def _quoted(self, passages: Sequence[Passage]) -> Iterator[str]:
        for passage in passages:
            if passage.turn is not None:
                yield self._memory.said(passage.turn)
                yield as_quotation(passage.text)
            else:
                where = self._quoter.where(passage.path or self._say.your_message, passage.first, passage.last)
                yield self._say.passage.format(where=where)
                yield self._quoter.lines(OpenDocument(path=passage.path, text=passage.text), 1, QUOTED_LINES)

    # --- Remembering --------------------------------------------------------------------------------------------------

    def _remembered(self) -> Iterator[str]:
        """What was said that speaks of the question; else every rule; with the file, where that is asked for too."""
        text = self._question.text
        clauses = [clause for clause in _CLAUSES().split(text) if clause.strip()]
        about = [clause for clause in clauses if speaks_of(Intent.MEMORY, clause)] or clauses
        rules = _RULES().search(text) is not None
        turns = list(turn_passages(self._memory.turns, _REMEMBERED, rules=rules))
        remembered = self._best(_topic(about), turns)
        blocks = list(self._quoted(remembered))
        if places := [clause for clause in clauses if _PLACE().search(clause)]:
            files = [passage for document in self._documents for passage in file_passages(document)]
            hints = [term for passage in remembered[:1] for term in terms_of(passage.text)]
            own, every = (self._best(_topic(terms), files, most=1, hints=hints) for terms in (places, clauses))
            blocks.extend(self._quoted(own or every))
        if not blocks and (stated := list(self._memory.rules())):
            blocks = [listed(self._say.rules, stated)]
            if _topic(about):
                blocks.insert(0, self._say.nothing_by_words)
        yield from blocks or self._find()

    def _summary(self) -> Iterator[str]:
        about_file = _FILE().search(self._question.text)
        if self._documents and (about_file or not self._memory.turns):
            yield from list(self._named_files()) or self._quoter.outline(self._documents[0])
            return
        telling = self._memory.telling_sentences()
        yield from [listed(self._say.summary, telling)] if telling else self._memory.requests(self._question.text)

    def _noted(self) -> Iterator[str]:
        yield self._say.noted
        yield as_quotation("\n".join(self._question.rules))

    # --- Words --------------------------------------------------------------------------------------------------------

    def _nothing(self) -> str:
        names = self._question.names
        nothing = self._say.not_found_name.format(name=names[0]) if names else self._say.not_found
        return "\n\n".join((nothing, *self._open_files()))


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _topic(clauses: Sequence[str]) -> list[str]:
    return [term for term in terms_of(" ".join(clauses)) if term not in _ABOUT_MEMORY]


_CLAUSES: Final = lazy(
    r"(?i)[,;.?!] +(?=and |also )|,? and (?=(?:(?:in|on|at|to) )?(?:which|where|what|who|how|when)\b)|[、。？]"
)
"""Between the questions of one sentence."""
_RULES: Final = lazy(
    r"(?i)\b(?:rules?|constraints?|requirements?|preferences?|guidelines?|conventions?|decid\w*|decisions?|agreed?"
    r"|settled?|chose|never|always|allowed|forbidden|must)\b|ルール|規則|制約|方針|約束|決め|決定|規约|规则|约束"
)
_FILE: Final = lazy(r"(?i)file|code|module|ファイル|コード")
_PLACE: Final = lazy(r"(?i)\b(?:files?|where|code|lines?|modules?)\b|ファイル|どこ|コード|モジュール")
_ABOUT_MEMORY: Final = frozenset(
    "decide decided decision decisions agree agreed settle settled choose chose chosen earlier before previous "  # noqa: SIM905
    "previously remember recall again said told ask asked mention mentioned want wanted last time talk talked rule "
    "rules gave given give preference preferences "
    "constraint constraints code module ルー ール ファ ァイ イル コー ード 決め 決定 言っ 以前 先ほ 覚え めた".split()
)

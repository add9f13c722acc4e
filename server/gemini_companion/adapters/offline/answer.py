"""The offline model's answer to a prompt: quotations, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gemini_companion.adapters.offline.conversation import Conversation
from gemini_companion.adapters.offline.intent import Intent, read_question
from gemini_companion.adapters.offline.quoting import QUOTED_LINES, Quoter, as_quotation, definition_around, listed
from gemini_companion.adapters.offline.ranking import Passage, file_passages, line_passages, rank, terms_of, turn_passages
from gemini_companion.adapters.offline.remembering import Memory
from gemini_companion.adapters.offline.wording import wording_for
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.sessions.ports import OpenDocument

_WEAK: Final = 0.6
"""Share of the best score below which a passage is left out."""
_PASSAGES: Final = 3
_SEARCHED: Final = {"user": 0.9, "model": 0.7, "snapshot": 0.8, "tool": 0.5}
_REMEMBERED: Final = {"user": 1.3, "snapshot": 1.2, "model": 0.9, "tool": 0.5}
"""What a passage is worth by who said it, where anything may be meant, and where the conversation is."""


def compose_answer(conversation: Conversation, documents: Sequence[OpenDocument], *, stands_in: bool = False) -> str:
    """The whole answer as Markdown, with a note of who answers, and why if it stands in for Gemini. Pure, deterministic, total."""
    return _Answer(conversation, documents, stands_in=stands_in).write()


class _Answer:
    def __init__(self, conversation: Conversation, documents: Sequence[OpenDocument], *, stands_in: bool) -> None:
        self._stands_in = stands_in
        self._conversation = conversation
        self._prompt = conversation.prompt
        self._question = read_question(conversation.prompt)
        self._say = wording_for(self._prompt)
        self._open = self._shown(documents)
        self._documents = self._with_attached(self._open)
        self._quoter = Quoter(self._documents, self._say)
        self._memory = Memory(conversation, self._say)

    def write(self) -> str:
        first = self._say.first_note_standing_in if self._stands_in else self._say.first_note
        note = first if self._conversation.is_first else self._say.note
        if not self._prompt:
            return f"{note}\n\n{self._say.no_prompt}"
        blocks = list(self._blocks()) or [self._nothing()]
        if self._question.rules and self._question.intent not in (Intent.TASKS, Intent.TOLD):
            blocks = [*self._noted(), *blocks]
        return "\n\n".join((note, *blocks))

    def _blocks(self) -> Iterator[str]:
        match self._question.intent:
            case Intent.GREETING:
                yield self._say.greeting
            case Intent.THANKS:
                yield self._say.thanks
            case Intent.ABILITIES:
                yield self._say.abilities
            case Intent.OPEN_FILES:
                yield from self._open_files()
            case Intent.REQUESTS:
                yield from self._memory.requests(self._question.text)
            case Intent.TASKS:
                yield self._memory.tasks()
            case Intent.SUMMARY:
                yield from self._summary()
            case Intent.MEMORY:
                yield from self._remembered()
            case Intent.TOLD:
                yield from self._noted()
            case Intent.THIS:
                yield from list(self._this()) or self._find()
            case Intent.FIND:
                yield from self._find()

    # --- What the editor shows ---------------------------------------------------------------------------------------------------

    def _shown(self, documents: Sequence[OpenDocument]) -> list[OpenDocument]:
        """The open files, the active one first; its selection alone where no text was handed over."""
        editor = self._conversation.editor
        shown = sorted(documents, key=lambda document: not document.is_active)
        if editor is not None and editor.active and editor.selected_text and all(document.path != editor.active for document in shown):
            shown.insert(0, OpenDocument(path=editor.active, text=editor.selected_text, is_active=True))
        return shown

    def _with_attached(self, opened: Sequence[OpenDocument]) -> list[OpenDocument]:
        """In front of the open files those that the prompt attaches, behind them those of earlier prompts."""
        by_path = {document.path: document for document in self._conversation.attached if document.is_active}
        for document in (*opened, *self._conversation.attached):
            by_path.setdefault(document.path, document)
        return list(by_path.values())

    def _open_files(self) -> Iterator[str]:
        editor = self._conversation.editor
        paths = dict.fromkeys(document.path for document in self._open)
        if editor is not None:
            paths.update(dict.fromkeys(sorted(editor.open)))
        if not paths:
            yield self._say.no_open_files
            return
        active = next((document.path for document in self._open if document.is_active), editor.active if editor else None)
        lines = [f"- `{path}`" + (f" ({self._say.active})" if path == active else "") for path in paths]
        yield "\n".join((self._say.open_files.format(count=len(paths)), *lines))

    def _this(self) -> Iterator[str]:
        """The lines that the prompt names, else the selection, else the definition that the cursor is in, else the active file."""
        if named := list(self._named_place()):
            yield from named
            return
        document = next(iter(self._documents), None)
        if document is None:
            return
        span = self._selected_lines(document)
        cursor = self._cursor_line(document)
        around = definition_around(document, cursor) if cursor else None
        if span is not None:
            yield from self._quoter.selection(document, *span)
        elif around is not None:
            yield from self._quoter.definition(around, document)
        else:
            yield from self._quoter.outline(document)

    def _named_place(self) -> Iterator[str]:
        if self._question.lines is None:
            return
        named = [document for document in self._documents if document.path in self._prompt or _base_name(document.path) in self._prompt]
        for document in named[:1]:
            first, last = self._question.lines
            if first <= document.text.count("\n") + 1:
                yield from self._quoter.place(document, first, last)

    def _selected_lines(self, document: OpenDocument) -> tuple[int, int] | None:
        if document.selection is not None:
            count = document.text.count("\n") + 1
            first = min(max(1, document.selection[0]), count)
            return first, min(max(first, document.selection[1]), count)
        editor = self._conversation.editor
        if editor is None or editor.active != document.path or not editor.selected_text:
            return None
        start = document.text.find(editor.selected_text)
        if start < 0:
            return None
        first = document.text.count("\n", 0, start) + 1
        return first, first + editor.selected_text.rstrip("\n").count("\n")

    def _cursor_line(self, document: OpenDocument) -> int:
        editor = self._conversation.editor
        return editor.cursor.line if editor is not None and editor.cursor is not None and editor.active == document.path else 0

    # --- Finding -----------------------------------------------------------------------------------------------------------------

    def _find(self) -> Iterator[str]:
        """What is named, else the passages that speak of it, from files, conversation and the prompt's own text alike."""
        blocks = list(self._named_place()) or list(self._named_files()) or list(self._named_definitions())
        if blocks and not self._question.brings_text:
            yield from blocks
            return
        passages = [passage for document in self._documents for passage in file_passages(document)]
        passages.extend(turn_passages(self._memory.turns, _SEARCHED))
        if self._question.brings_text:
            passages.extend(line_passages(self._prompt, self._question.text))
        yield from self._best(terms_of(self._question.text), passages)

    def _named_files(self) -> Iterator[str]:
        """Outlines of the files that the question names by path, or by name without ending."""
        text = self._question.text
        named = {path.rpartition("/")[2] for path, _ in paths_in(text)}
        stems = {name.lower() for name in self._question.names}
        for document in self._documents:
            base = _base_name(document.path)
            by_stem = base.partition(".")[0].lower() in stems and not self._quoter.find_definitions(self._question.names)
            if base in named or document.path in text or by_stem:
                yield from self._quoter.outline(document)

    def _named_definitions(self) -> Iterator[str]:
        for document, definition in self._quoter.find_definitions(self._question.names)[:2]:
            yield from self._quoter.definition(definition, document)

    def _best(self, terms: Sequence[str], passages: Sequence[Passage], most: int = _PASSAGES, hints: Sequence[str] = ()) -> Iterator[str]:
        for passage in self._best_passages(terms, passages, most, hints):
            yield from self._passage(passage)

    def _best_passages(self, terms: Sequence[str], passages: Sequence[Passage], most: int = _PASSAGES, hints: Sequence[str] = ()) -> list[Passage]:
        """The best ones, without those that say the same again."""
        found = rank(terms, passages, hints)
        chosen: dict[str, Passage] = {}
        for score, passage in found:
            if len(chosen) >= most or score < _WEAK * found[0][0]:
                break
            text = passage.text.strip("-*> \n")
            if not any(text in other or other in text for other in chosen):
                chosen[text] = passage
        return list(chosen.values())

    def _passage(self, passage: Passage) -> Iterator[str]:
        if passage.turn is not None:
            yield self._memory.said(passage.turn)
            yield as_quotation(passage.text)
            return
        path = passage.path or self._say.your_message
        yield self._say.passage.format(where=self._quoter.where(path, passage.first, passage.last))
        yield self._quoter.lines(OpenDocument(path=passage.path, text=passage.text), 1, QUOTED_LINES)

    # --- Remembering -------------------------------------------------------------------------------------------------------------

    def _remembered(self) -> Iterator[str]:
        """What was said that speaks of the question; else every rule; with the file, where that is asked for too."""
        every = terms_of(self._question.text)
        terms = [term for term in every if term not in _ABOUT_MEMORY]
        remembered = self._best_passages(terms, list(turn_passages(self._memory.turns, _REMEMBERED)))
        blocks = [block for passage in remembered for block in self._passage(passage)]
        if any(word in self._question.text.lower() for word in ("file", "where", "code", "line", "ファイル", "どこ", "コード")):
            files = [passage for document in self._documents for passage in file_passages(document)]
            hints = [term for passage in remembered[:1] for term in terms_of(passage.text)]
            blocks.extend(self._best(terms, files, most=1, hints=hints))
        if not blocks and (rules := list(self._memory.rules())):
            blocks = [listed(self._say.rules, rules)]
        yield from blocks or self._find()

    def _summary(self) -> Iterator[str]:
        about_file = any(word in self._question.text.lower() for word in ("file", "code", "module", "ファイル", "コード"))
        if self._documents and (about_file or not self._memory.turns):
            yield from list(self._named_files()) or self._quoter.outline(self._documents[0])
            return
        telling = self._memory.telling_sentences()
        yield from [listed(self._say.summary, telling)] if telling else self._memory.requests(self._question.text)

    def _noted(self) -> Iterator[str]:
        yield self._say.noted
        yield as_quotation("\n".join(self._question.rules))

    # --- Words -------------------------------------------------------------------------------------------------------------------

    def _nothing(self) -> str:
        names = self._question.names
        nothing = self._say.not_found_name.format(name=names[0]) if names else self._say.not_found
        return "\n\n".join((nothing, *self._open_files()))


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


_ABOUT_MEMORY: Final = frozenset(
    {"decid", "decision", "agre", "settl", "chos", "earli", "before", "befor", "previou", "remember", "recall", "again", "said", "told", "ask"}
    | {"mention", "want", "last", "tim", "talk", "rul", "gav", "giv", "preference", "preferenc", "constraint"}
    | {"決め", "決定", "言っ", "以前", "先ほ", "覚え"}
)

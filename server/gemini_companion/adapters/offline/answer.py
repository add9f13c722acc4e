"""The offline model's answer to a prompt: quotations, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gemini_companion.adapters.offline.conversation import Conversation, Turn
from gemini_companion.adapters.offline.intent import Intent, intent_of, named_in
from gemini_companion.adapters.offline.ranking import Passage, file_passages, rank, terms_of, turn_passages
from gemini_companion.adapters.offline.symbols import Definition, definitions_in, documentation_of, uses_of
from gemini_companion.adapters.offline.wording import Wording, is_own_answer, wording_for
from gemini_companion.engine.facts.extract import FactSource
from gemini_companion.engine.facts.key_sentences import key_sentences
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.sessions.ports import OpenDocument

_QUOTED_LINES: Final = 24
"""Of one quotation from a file."""
_QUOTED_CHARACTERS: Final = 600
"""Of one quotation from the conversation."""
_WEAK: Final = 0.45
"""Share of the best score below which a passage is left out."""
_LISTED: Final = 8


def compose_answer(conversation: Conversation, documents: Sequence[OpenDocument]) -> str:
    """The whole answer as Markdown. Pure, deterministic, total."""
    wording = wording_for(conversation.prompt)
    note = wording.first_note if conversation.is_first else wording.note
    return f"{note}\n\n{_Answer(conversation, _shown(conversation, documents), wording).write()}"


def _shown(conversation: Conversation, documents: Sequence[OpenDocument]) -> list[OpenDocument]:
    """The open files, the active one first; its selection alone where no text was handed over."""
    editor = conversation.editor
    shown = sorted(documents, key=lambda document: not document.is_active)
    if editor is not None and editor.active and editor.selected_text and all(document.path != editor.active for document in shown):
        shown.insert(0, OpenDocument(path=editor.active, text=editor.selected_text, is_active=True))
    return shown


class _Answer:
    def __init__(self, conversation: Conversation, documents: list[OpenDocument], wording: Wording) -> None:
        self._conversation = conversation
        self._documents = documents
        self._say = wording
        self._texts = {document.path: document for document in documents}

    def write(self) -> str:
        prompt = self._conversation.prompt
        if not prompt:
            return self._say.no_prompt
        match intent_of(prompt):
            case Intent.GREETING:
                blocks = [self._say.greeting]
            case Intent.THANKS:
                blocks = [self._say.thanks]
            case Intent.ABILITIES:
                blocks = [self._say.abilities]
            case Intent.OPEN_FILES:
                blocks = list(self._open_files())
            case Intent.REQUESTS:
                blocks = list(self._requests(prompt))
            case Intent.SUMMARY:
                blocks = list(self._summary(prompt))
            case Intent.MEMORY:
                blocks = self._memory(prompt) or self._find(prompt)
            case Intent.THIS:
                blocks = list(self._this()) or self._find(prompt)
            case Intent.FIND:
                blocks = self._find(prompt)
        return "\n\n".join(blocks or [self._nothing(prompt)])

    # --- What the editor shows ---------------------------------------------------------------------------------------------------

    def _open_files(self) -> Iterator[str]:
        editor = self._conversation.editor
        paths = [document.path for document in self._documents]
        if editor is not None:
            paths.extend(path for path in sorted(editor.open) if path not in self._texts)
        if not paths:
            yield self._say.no_open_files
            return
        active = next((document.path for document in self._documents if document.is_active), editor.active if editor else None)
        lines = [f"- `{path}`" + (f" ({self._say.active})" if path == active else "") for path in paths]
        yield "\n".join((self._say.open_files.format(count=len(paths)), *lines))

    def _this(self) -> Iterator[str]:
        """The selection, else the definition that the cursor is in, else the active file."""
        document = next((document for document in self._documents if document.is_active), next(iter(self._documents), None))
        if document is None:
            return
        span = self._selected_lines(document)
        if span is not None:
            yield self._say.selection.format(where=self._where(document.path, *span))
            yield self._quote(document, *span)
            inside = [definition for definition in definitions_in(document) if span[0] <= definition.first <= span[1]]
            yield from self._about(inside, document, span)
            return
        around = self._around_cursor(document)
        if around is not None:
            yield from self._definition(around, document)
            return
        yield from self._outline(document)

    def _selected_lines(self, document: OpenDocument) -> tuple[int, int] | None:
        if document.selection is not None:
            first, last = document.selection
            return max(1, first), max(1, first, last)
        editor = self._conversation.editor
        if editor is None or editor.active != document.path or not editor.selected_text:
            return None
        start = document.text.find(editor.selected_text)
        if start < 0:
            return None
        first = document.text.count("\n", 0, start) + 1
        return first, first + editor.selected_text.rstrip("\n").count("\n")

    def _around_cursor(self, document: OpenDocument) -> Definition | None:
        editor = self._conversation.editor
        if editor is None or editor.cursor is None or editor.active != document.path:
            return None
        line = editor.cursor.line
        return max((found for found in definitions_in(document) if found.first <= line <= found.last), key=lambda found: found.first, default=None)

    def _about(self, definitions: Sequence[Definition], document: OpenDocument, span: tuple[int, int]) -> Iterator[str]:
        if definitions and (text := documentation_of(definitions[0], document)):
            yield self._say.says_of_itself.format(text=text)
        if len(definitions) > 1:
            yield "\n".join((self._say.contents, *self._listing(definitions)))
        for definition in self._mentioned(document, span):
            yield self._say.also.format(where=f"`{definition.name}`: {self._where(definition.path, definition.first, definition.last)}")

    def _mentioned(self, document: OpenDocument, span: tuple[int, int]) -> list[Definition]:
        """Definitions elsewhere in the open files whose names stand in the quoted lines."""
        quoted = set(terms_of("")) | {word for line in document.text.split("\n")[span[0] - 1 : span[1]] for word in _identifiers(line)}
        found: list[Definition] = []
        for other in self._documents:
            for definition in definitions_in(other):
                outside = other.path != document.path or not span[0] <= definition.first <= span[1]
                if outside and definition.name in quoted and definition.kind not in _MINOR and len(definition.name) > 2:
                    found.append(definition)
        return found[:3]

    def _outline(self, document: OpenDocument) -> Iterator[str]:
        lines = document.text.count("\n") + 1
        definitions = [found for found in definitions_in(document) if found.indent <= 4 and found.kind not in _MINOR]
        if definitions:
            yield "\n".join((self._say.file_outline.format(where=self._where(document.path, 1, lines)), *self._listing(definitions)))
        yield self._say.passage.format(where=self._where(document.path, 1, min(lines, _QUOTED_LINES)))
        yield self._quote(document, 1, min(lines, _QUOTED_LINES))

    # --- Finding -----------------------------------------------------------------------------------------------------------------

    def _find(self, prompt: str) -> list[str]:
        """Definitions of what is named, else the passages that speak of it, from files and conversation alike."""
        blocks: list[str] = []
        quoted: list[tuple[str, int, int]] = []
        names = named_in(prompt)
        for document in self._documents:
            if document.path.rpartition("/")[2] in names or document.path in prompt:
                blocks.extend(self._outline(document))
                quoted.append((document.path, 1, _QUOTED_LINES))
        for document, definition in self._definitions(names)[:2]:
            blocks.extend(self._definition(definition, document))
            quoted.append((definition.path, definition.first, definition.last))
        passages = [passage for document in self._documents for passage in file_passages(document)]
        passages.extend(turn_passages(self._earlier(), {"user": 0.9, "model": 0.7, "snapshot": 0.8, "tool": 0.5}))
        found = rank(terms_of(prompt), passages)
        room = 1 if blocks else 3
        for score, passage in found:
            if room == 0 or score < _WEAK * found[0][0]:
                break
            if not any(path == passage.path and passage.first <= last and first <= passage.last for path, first, last in quoted):
                blocks.extend(self._passage(passage))
                room -= 1
        return blocks

    def _definitions(self, names: Sequence[str]) -> list[tuple[OpenDocument, Definition]]:
        """Definitions of the names: exact before alike, classes and functions before variables."""
        found: list[tuple[int, OpenDocument, Definition]] = []
        wanted = [name for name in names if name]
        lowered = [name.lower() for name in wanted]
        for document in self._documents:
            for definition in definitions_in(document):
                if definition.name in wanted:
                    found.append((2 * wanted.index(definition.name) + (definition.kind in _MINOR), document, definition))
                elif definition.name.lower() in lowered:
                    found.append((100 + lowered.index(definition.name.lower()), document, definition))
        found.sort(key=lambda entry: entry[0])
        return [(document, definition) for _, document, definition in found]

    def _definition(self, definition: Definition, document: OpenDocument) -> Iterator[str]:
        where = self._where(definition.path, definition.first, definition.last)
        yield self._say.definition.format(name=definition.name, kind=definition.kind, where=where)
        yield self._quote(document, definition.first, definition.last)
        if text := documentation_of(definition, document):
            yield self._say.says_of_itself.format(text=text[:_QUOTED_CHARACTERS])
        places = [
            f"`{other.path}`:{line}"
            for other in self._documents
            for line in uses_of(definition.name, other)
            if other.path != definition.path or not definition.first <= line <= definition.last
        ]
        if places:
            more = [self._say.left_out.format(count=len(places) - _LISTED)] if len(places) > _LISTED else []
            yield self._say.used.format(places=", ".join((*places[:_LISTED], *more)))

    def _passage(self, passage: Passage) -> Iterator[str]:
        if passage.turn is None:
            yield self._say.passage.format(where=self._where(passage.path, passage.first, passage.last))
            yield self._quote(self._texts[passage.path], passage.first, passage.last)
        else:
            yield self._said(passage.turn)
            yield _as_quotation(passage.text)

    # --- Remembering -------------------------------------------------------------------------------------------------------------

    def _earlier(self) -> list[Turn]:
        """What was said before, without the offline model's own answers: they are quotations already."""
        return [turn for turn in self._conversation.turns if not (turn.speaker == "model" and is_own_answer(turn.text))]

    def _requests(self, prompt: str) -> Iterator[str]:
        requests = self._conversation.requests
        if not requests:
            remembered = [turn for turn in self._conversation.turns if turn.section in ("overall_goal", "task_state")]
            if not remembered:
                yield self._say.no_requests
            for turn in remembered[:2]:
                yield self._said(turn)
                yield _as_quotation(turn.text)
            return
        lowered = prompt.lower()
        if "first" in lowered or "最初" in prompt:
            goal = next((turn for turn in self._conversation.turns if turn.section == "overall_goal"), None)
            yield self._said(goal) if goal else self._say.first_request
            yield _as_quotation((goal or requests[0]).text)
        elif any(word in lowered for word in ("last", "just", "previous")) or any(word in prompt for word in ("直前", "さっき", "前の")):
            yield self._say.last_request.format(number=requests[-1].number)
            yield _as_quotation(requests[-1].text)
        else:
            listed = [f"{turn.number}. {_first_line(turn.text)}" for turn in requests[-_LISTED:]]
            more = [self._say.left_out.format(count=len(requests) - _LISTED)] if len(requests) > _LISTED else []
            yield "\n".join((self._say.requests.format(count=len(requests)), *listed, *more))

    def _memory(self, prompt: str) -> list[str]:
        """What was said that speaks of the question; what the user said counts most."""
        passages = list(turn_passages(self._earlier(), {"user": 1.3, "snapshot": 1.2, "model": 0.9, "tool": 0.5}))
        terms = [term for term in terms_of(prompt) if term not in _ABOUT_MEMORY]
        found = rank(terms, passages) or rank(terms_of(prompt), passages)
        blocks: list[str] = []
        for score, passage in found[:3]:
            if score >= _WEAK * found[0][0] and passage.turn is not None:
                blocks.extend((self._said(passage.turn), _as_quotation(passage.text)))
        return blocks

    def _summary(self, prompt: str) -> Iterator[str]:
        about_file = any(word in prompt.lower() for word in ("file", "code", "module", "ファイル", "コード"))
        if self._documents and (about_file or not self._conversation.turns):
            yield from self._outline(self._documents[0])
            return
        said = [turn for turn in self._earlier() if turn.speaker in ("user", "model", "snapshot")]
        sources = [FactSource(number, _content_of(turn), number) for number, turn in enumerate(said)]
        chosen = sorted(key_sentences(sources)[:_LISTED], key=lambda sentence: (sentence.index, sentence.order))
        if chosen:
            yield "\n".join((self._say.summary, *(f"- {sentence.text}" for sentence in chosen)))
        else:
            yield from self._requests("")

    # --- Words -------------------------------------------------------------------------------------------------------------------

    def _said(self, turn: Turn) -> str:
        match turn.speaker:
            case "user":
                return self._say.you_said.format(number=turn.number)
            case "model":
                return self._say.was_answered.format(number=turn.number)
            case "tool":
                return self._say.tool_said.format(number=turn.number)
            case "snapshot":
                return self._say.remembered.format(section=turn.section)

    def _where(self, path: str, first: int, last: int) -> str:
        return (self._say.lines if last > first else self._say.one_line).format(path=path, first=first, last=last)

    def _quote(self, document: OpenDocument, first: int, last: int) -> str:
        lines = document.text.split("\n")[first - 1 : last]
        shown = lines[:_QUOTED_LINES]
        if len(lines) > _QUOTED_LINES:
            shown.append(self._say.left_out.format(count=len(lines) - _QUOTED_LINES))
        body = "\n".join(shown)
        fence = "```"
        while fence in body:
            fence += "`"
        return f"{fence}{_language_of(document.path)}\n{body}\n{fence}"

    def _listing(self, definitions: Sequence[Definition]) -> list[str]:
        listed = [f"- {self._say.defines.format(kind=found.kind, name=found.name, line=found.first)}" for found in definitions[: 2 * _LISTED]]
        more = len(definitions) - 2 * _LISTED
        return [*listed, f"- {self._say.left_out.format(count=more)}"] if more > 0 else listed

    def _nothing(self, prompt: str) -> str:
        names = named_in(prompt)
        nothing = self._say.not_found_term.format(term=names[0]) if names else self._say.not_found
        return "\n\n".join((nothing, *self._open_files()))


def _content_of(turn: Turn) -> Content:
    return Content(role="model", parts=({"text": turn.text},)) if turn.speaker == "model" else user_text(turn.text)


def _as_quotation(text: str) -> str:
    shown = text if len(text) <= _QUOTED_CHARACTERS else f"{text[:_QUOTED_CHARACTERS].rstrip()} …"
    return "\n".join(f"> {line}" for line in shown.split("\n"))


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= 160 else f"{line[:159]}…"


def _identifiers(line: str) -> Iterator[str]:
    word = ""
    for character in line[:400]:
        if character.isidentifier() or (word and character.isdigit()):
            word += character
        else:
            if word:
                yield word
            word = ""
    if word:
        yield word


def _language_of(path: str) -> str:
    ending = path.rpartition(".")[2].lower()
    return ending if ending.isalnum() and len(ending) <= 10 and "/" not in path.rpartition(".")[2] else ""


_MINOR: Final = frozenset({"const", "let", "var", "val", "type", "impl"})
_ABOUT_MEMORY: Final = frozenset(
    "decid decision agre settl chos chose earli before befor previous remember recall again said told ask mention want last tim time say talk 決め 決定 言っ 以前 先ほ 覚え"
    .split()
)

"""A request is read the way a model reads it; passages and definitions are found in any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.offline.conversation import Turn, read_conversation
from gemini_companion.adapters.offline.question import Intent, read_question
from gemini_companion.adapters.offline.search import Passage, file_passages, rank, terms_of, turn_passages
from gemini_companion.adapters.offline.symbols import definitions_in, documentation_of
from gemini_companion.engine.compression.appendix import APPENDIX_INTRODUCTION
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.pinned import PINS_INTRODUCTION
from gemini_companion.engine.prompts.attachments import excerpt, file_part
from gemini_companion.engine.prompts.environment import environment_content
from gemini_companion.sessions.models.port import OpenDocument
from tests.adapters.offline.offline_requests import SERVER
from tests.support.examples import examples

FULL = 'Now.\n```json\n{"activeFile": {"path": "/w/a.py", "cursor": {"line": 3, "character": 1}}, "otherOpenFiles": ["/w/b.py"]}\n```'
DELTA = 'Changed.\n```json\n{"changes": {"filesClosed": ["/w/b.py"], "cursorMoved": {"path": "/w/a.py", "cursor": {"line": 9, "character": 1}}}}\n```'


def test_environment_editor_state_and_acknowledgement_are_no_turns():
    environment = environment_content("2026-01-01", "linux", ["/w"], "a.py")
    contents = [
        Content(role="user", parts=(*environment.parts, {"text": FULL}, {"text": "First?"})),
        model_text("Answer."),
        model_text("Got it. Thanks for the additional context!"),
        Content(role="user", parts=({"text": DELTA}, {"text": "Second?"})),
    ]
    conversation = read_conversation(contents)
    assert conversation.prompt == "Second?"
    assert [(turn.speaker, turn.text, turn.number) for turn in conversation.turns] == [
        ("user", "First?", 1),
        ("model", "Answer.", 1),
    ]
    assert conversation.editor is not None
    assert conversation.editor.open == {"/w/a.py"}
    assert conversation.editor.cursor is not None
    assert conversation.editor.cursor.line == 9
    assert not conversation.is_first


def test_pins_are_remembered_as_such():
    contents = [
        Content(role="user", parts=({"text": PINS_INTRODUCTION}, {"text": "Never push."})),
        model_text("ok"),
        user_text("What now?"),
    ]
    conversation = read_conversation(contents)
    assert conversation.turns[0] == Turn("snapshot", "Never push.", 0, "pins")


def test_what_a_snapshots_appendix_says_is_remembered_and_nobody_is_taken_to_have_said_it_now():
    appendix = f"{APPENDIX_INTRODUCTION}\n- the user said: Never push.\n- paths: src/a.py, src/b.py"
    contents = [
        Content(
            role="user",
            parts=(
                {"text": "<state_snapshot>\n<task_state>\n- x\n</task_state>\n</state_snapshot>"},
                {"text": appendix},
            ),
        ),
        model_text("ok"),
        user_text("What now?"),
    ]
    turns = read_conversation(contents).turns
    assert [turn.text for turn in turns if turn.section == "appendix"] == ["Never push.", "src/a.py, src/b.py"]
    assert not any(turn.speaker == "user" for turn in turns)


def test_the_editors_state_may_stand_behind_the_prompt():
    conversation = read_conversation([Content(role="user", parts=({"text": "Which?"}, {"text": FULL}))])
    assert conversation.prompt == "Which?"
    assert conversation.editor is not None


def test_tool_results_are_no_prompt():
    contents = [
        user_text("Look."),
        Content(role="user", parts=({"functionResponse": {"name": "ls", "response": {"output": "a.py"}}},)),
    ]
    conversation = read_conversation(contents)
    assert [(turn.speaker, turn.text) for turn in conversation.turns if turn.speaker == "tool"] == [("tool", "a.py")]
    assert read_conversation([model_text("x")]).prompt == ""


def test_a_fence_of_json_that_is_no_editor_state_is_said_by_the_user():
    text = 'Parse this:\n```json\n{"a": 1\n```'
    assert read_conversation([user_text(text)]).prompt == text


@pytest.mark.parametrize(
    ("prompt", "intent"),
    [
        ("hello!", Intent.GREETING),
        ("explain this", Intent.THIS),
        ("Where is connect defined?", Intent.FIND),
        ("what did we decide about the cache?", Intent.MEMORY),
        ("what did I say about tabs?", Intent.MEMORY),
        ("what did I ask?", Intent.REQUESTS),
        ("What is left to do?", Intent.TASKS),
        ("Summarize this file", Intent.SUMMARY),
        ("Never use tabs.", Intent.STATED),
        ("We decided to use Redis.", Intent.STATED),
        ("どのファイルが開いていますか?", Intent.OPEN_FILES),
        ("何を決めましたか?", Intent.MEMORY),
    ],
)
def test_the_intent_is_told_by_the_question(prompt: str, intent: Intent):
    assert read_question(prompt).intent is intent


def test_only_the_question_is_asked_and_the_rules_are_set_apart():
    question = read_question("I repair it. Never retry POST. Where is `fetch`, on lines 3 to 5?")
    assert question.text == "Where is `fetch`, on lines 3 to 5?"
    assert question.rules == ("Never retry POST.",)
    assert question.names[0] == "fetch"
    assert question.lines == (3, 5)


def test_definitions_are_found_in_any_language_with_their_lines():
    python = {
        found.name: (found.kind, found.first, found.last)
        for found in definitions_in(OpenDocument(path="a.py", text=SERVER))
    }
    assert python["connect"] == ("def", 9, 13)
    assert python["Server"] == ("class", 16, 20)
    script = "export async function load(url) {\n  return url;\n}\n\nconst limit = 3;\n"
    found = [
        (found.kind, found.name, found.first, found.last)
        for found in definitions_in(OpenDocument(path="a.ts", text=script))
    ]
    assert found == [("function", "load", 1, 3), ("const", "limit", 5, 5)]
    rust = "/// Adds.\npub fn add(a: i32) -> i32\n{\n    a\n}\n"
    (add,) = definitions_in(OpenDocument(path="a.rs", text=rust))
    assert (add.name, add.first, add.last) == ("add", 2, 5)
    assert documentation_of(add, OpenDocument(path="a.rs", text=rust)) == "Adds."
    text = "# One\na\n## Two\nb\n# Three\n"
    assert [
        (found.name, found.first, found.last) for found in definitions_in(OpenDocument(path="a.md", text=text))
    ] == [("One", 1, 4), ("Two", 3, 4), ("Three", 5, 6)]


def test_terms_take_identifiers_and_japanese_apart():
    assert terms_of("openSocket retries") == ["open", "socket", "retries"]
    assert terms_of("open_socket") == ["open", "socket"]
    assert terms_of("東京タワー") == ["東京", "京タ", "タワ", "ワー", "ー"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("retries", "never retry a request"),
        ("open socket", "x = openSocket()"),
        ("the socket's opening", "open_socket(host)"),
        ("タワー", "東京タワーに行く"),
        ("数据库", "我们的数据库是 PostgreSQL"),
        ("Größe", "die GRÖSSE der Datei, die Größe"),
        ("café", "the Cafe"),
    ],
)
def test_a_passage_is_found_by_other_forms_of_its_words(question: str, text: str):
    passages = [Passage(text="nothing of the sort"), Passage(text=text)]
    assert [passage.text for _, passage in rank(terms_of(question), passages)] == [text]


@given(st.text(), st.text())
def test_no_question_is_an_operator_of_the_index(question: str, text: str):
    assert len(rank(terms_of(question), [Passage(text=text), Passage(text="x")])) <= 2
    assert rank(terms_of('" OR * NEAR( body: -x ^'), [Passage(text="body")])


def test_searching_ends_when_the_poll_says_so():
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        rank(["a"], [Passage(text="a")], poll=stop)


def test_of_two_alike_the_one_in_the_better_place_comes_first():
    heavy = Passage(text="the cache", weight=1.2)
    assert rank(terms_of("cache"), [Passage(text="the cache"), heavy])[0][1] is heavy


def test_the_rarer_term_decides():
    passages = [
        Passage(text="the cache is here"),
        Passage(text="the cache of the socket"),
        Passage(text="the cache again"),
    ]
    assert rank(terms_of("socket cache"), passages)[0][1] is passages[1]
    assert rank(terms_of("cache"), passages, hints=terms_of("again"))[0][1] is passages[2]
    assert rank([], passages, hints=terms_of("cache")) == []
    assert rank(terms_of("nothing"), []) == []


source = st.lists(
    st.sampled_from(("def f(x):", "    return 1", "", "class A {", "}", "# h", "## i", "x = 1", "\t", "🙂", "fn a()")),
    max_size=40,
).map("\n".join)


@settings(max_examples=examples(60))
@given(source)
def test_passages_and_definitions_stay_within_the_file(text: str):
    document = OpenDocument(path="a.py", text=text)
    lines = text.split("\n")
    covered: list[int] = []
    for passage in file_passages(document):
        assert passage.text == "\n".join(lines[passage.first - 1 : passage.last])
        covered.extend(range(passage.first, passage.last + 1))
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, start=1) if line.strip()} <= set(covered)
    for definition in definitions_in(document):
        assert 1 <= definition.first <= definition.last <= len(lines)
        documentation_of(definition, document)


@settings(max_examples=examples(60))
@given(
    st.lists(
        st.builds(
            Content,
            role=st.sampled_from(("user", "model")),
            parts=st.lists(
                st.one_of(
                    st.builds(
                        lambda text: {"text": text},
                        st.one_of(st.text(), st.sampled_from((FULL, DELTA, "<state_snapshot>", "<session_context>x"))),
                    ),
                    st.dictionaries(
                        st.sampled_from(("text", "functionResponse", "thought")),
                        st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text())),
                    ),
                ),
                max_size=3,
            ).map(tuple),
        ),
        max_size=5,
    )
)
def test_any_contents_can_be_read(contents: list[Content]):
    conversation = read_conversation(contents)
    assert all(turn.text for turn in conversation.turns)
    assert list(turn_passages(conversation.turns, {"user": 1.0})) is not None


def test_files_that_go_along_are_documents_and_nobody_says_them():
    first = Content(
        role="user",
        parts=(
            {"text": "See @a.py"},
            file_part("/w/a.py", excerpt("old = 1", 100)),
            file_part("/w/c.json", excerpt("{}", 100)),
        ),
    )
    second = Content(
        role="user", parts=({"text": FULL}, {"text": "And @b.py?"}, file_part("/w/b.py", excerpt("b = 1", 100)))
    )
    conversation = read_conversation([first, model_text("Seen."), second])
    assert conversation.prompt == "And @b.py?"
    assert [turn.text for turn in conversation.turns] == ["See @a.py", "Seen."]
    assert [(file.path, file.text, file.is_active) for file in conversation.attached] == [
        ("/w/b.py", "b = 1", True),
        ("/w/a.py", "old = 1", False),
        ("/w/c.json", "{}", False),
    ]
    assert conversation.editor is not None
    assert conversation.editor.open == {"/w/a.py", "/w/b.py"}

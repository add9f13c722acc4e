"""What the offline model answers: quotations that say where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.offline.answer import compose_answer
from gemini_companion.adapters.offline.conversation import Memory, read_conversation
from gemini_companion.adapters.offline.wording import ENGLISH, JAPANESE
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.models.port import OpenDocument
from tests.adapters.offline.offline_requests import DOCUMENTS, SERVER, answer_to
from tests.support.examples import examples

SNAPSHOT = """<state_snapshot>
<overall_goal>
Build a server.
</overall_goal>
<active_constraints>
- Never use tabs, only spaces.
- The database must be PostgreSQL.
</active_constraints>
<task_state>
- Next: write the docs.
</task_state>
</state_snapshot>"""
COMPRESSED = (user_text(SNAPSHOT), model_text("Got it. Thanks for the additional context!"))
RULE = "Never retry a request that is not idempotent."


@pytest.mark.parametrize(
    "prompt",
    ["Explain this", "explain the selected code", "What does this do?", "これを説明して", "この関数は何ですか?"],
)
async def test_this_is_the_selection_with_its_lines_and_what_it_rests_on(prompt: str):
    answer = await answer_to(prompt)
    assert "`/w/app/server.py`" in answer
    assert "9–13" in answer
    assert "\n".join(SERVER.split("\n")[8:13]) in answer
    assert "Open a socket to the host, trying again on refusal." in answer
    assert "`/w/app/sockets.py`" in answer


@pytest.mark.parametrize(
    "prompt",
    [
        "Where is open_socket?",
        "where is the function open_socket defined",
        "What does `open_socket` do?",
        "open_socket はどこ?",
    ],
)
async def test_a_name_is_answered_with_its_definition_and_its_uses(prompt: str):
    answer = await answer_to(prompt)
    assert "`/w/app/sockets.py`" in answer
    assert "2–4" in answer
    assert "def open_socket(host, port):" in answer
    assert "`/w/app/server.py`:13" in answer


async def test_a_question_in_plain_words_finds_the_passage():
    assert "timeout = 30" in await answer_to("How long is the timeout of a socket?")
    assert "`/w/README.md`, lines 3–5" in await answer_to("How do I run it?")


async def test_a_file_that_is_named_is_outlined():
    answer = await answer_to("What is in server.py?")
    assert "- class `Server`, line 16" in answer
    assert "- def `connect`, line 9" in answer


@pytest.mark.parametrize(
    "prompt",
    [
        "What does the selected code in /w/app/sockets.py, lines 2 to 3 do, and what should I know about it?",
        "Explain the code at line 3 in /w/app/sockets.py, lines 3 to 3, step by step.",
        "Fix this warning in /w/app/sockets.py, line 3: unused",
    ],
)
async def test_lines_that_the_prompt_names_are_quoted(prompt: str):
    answer = await answer_to(prompt)
    assert "`/w/app/sockets.py`, lines 2" in answer
    assert "timeout = 30" in answer


async def test_open_files_are_listed_with_the_active_one_marked():
    answer = await answer_to("Which files are open?")
    assert "- `/w/app/server.py` (active)\n- `/w/app/sockets.py`\n- `/w/README.md`" in answer


async def test_the_selection_is_known_from_the_editors_message_where_no_text_was_handed_over():
    told = 'The editor.\n```json\n{"activeFile": {"path": "/w/a.py", "selectedText": "x = connect()"}, "otherOpenFiles": ["/w/b.py"]}\n```'
    content = Content(role="user", parts=({"text": told}, {"text": "Explain this"}))
    answer = await answer_to(content, documents=())
    assert "`/w/a.py`" in answer
    assert "x = connect()" in answer
    assert "- `/w/b.py`" in await answer_to(
        Content(role="user", parts=({"text": told}, {"text": "which files are open?"})), documents=()
    )


@pytest.mark.parametrize("prompt", ["What did I say about retries?", "Which rule did I give you about retrying?"])
async def test_what_was_said_earlier_is_found(prompt: str):
    answer = await answer_to(f"I repair a client. {RULE}", "ok", "Thanks", "ok", prompt)
    assert "You said (message 1):" in answer
    assert f"> I repair a client. {RULE}" in answer


async def test_a_rule_and_the_file_that_it_is_about_are_found_together():
    answer = await answer_to(
        RULE, "ok", "Which rule did I give you about retries, and in which file is the retry code?"
    )
    assert f"> {RULE}" in answer
    assert "for attempt in range(retries):" in answer
    assert "`/w/app/server.py`" in answer


@pytest.mark.parametrize(
    ("prompt", "section", "entry"),
    [
        ("What did I say about tabs?", "active_constraints", "- Never use tabs, only spaces."),
        ("Which database did we choose?", "active_constraints", "- The database must be PostgreSQL."),
        ("What did I ask first?", "overall_goal", "Build a server."),
    ],
)
async def test_what_only_the_snapshot_still_holds_is_found_there(prompt: str, section: str, entry: str):
    answer = await answer_to(*COMPRESSED, prompt, documents=())
    assert f"From the snapshot of the older part of this conversation ({section}):\n\n> {entry}" in answer
    assert answer.startswith(ENGLISH.note)


async def test_a_question_about_decisions_that_no_word_leads_to_gets_all_of_them():
    answer = await answer_to(
        "We decided to use SQLite. Never use an ORM.", "ok", "データについて何を決めましたか?", documents=()
    )
    assert "- We decided to use SQLite.\n- Never use an ORM." in answer


ARCHIVE = OpenDocument(
    path="/w/archive.py",
    text='''"""Sending pictures."""

import hashlib

CHUNK = 65536


def upload(picture, *, quota):
    """Compress a picture and upload it; nothing over the quota is sent."""
    data = picture.read()
    if len(data) > quota:
        raise TooLarge(picture.name)
    return send(hashlib.sha256(data).hexdigest(), data)
''',
)
ERRORS = OpenDocument(
    path="/w/errors.py",
    text="class TooLarge(Exception):\n    def __init__(self, upload_size=None):\n        self.upload_size = upload_size\n",
    is_active=True,
)
QUOTA_RULE = "Never upload a picture that is over its quota."
KEPT = f"""<state_snapshot>
<overall_goal>
First request, word for word: I maintain a photo archive. {QUOTA_RULE} Where is a picture uploaded?
</overall_goal>
<active_constraints>
- {QUOTA_RULE}
</active_constraints>
<recent_actions>
- user: Where is the upload?
</recent_actions>
<task_state>
- [DONE] Where is a picture uploaded?
- [TODO] Write down as a task: test the upload.
</task_state>
</state_snapshot>"""


@pytest.mark.parametrize(
    "prompt",
    [
        "Which rule did I give you about uploads, and in which file is the upload code?",
        "What did I tell you about uploading? And which file does it?",
        "What did I rule about uploads, and where is that code?",
    ],
)
@pytest.mark.parametrize(
    "before",
    [
        (user_text(KEPT), model_text("Got it. Thanks for the additional context!")),
        (user_text("Where is a picture uploaded?"), model_text("There."), user_text(QUOTA_RULE), model_text("ok")),
    ],
    ids=["snapshot", "turns"],
)
async def test_a_rule_answers_before_a_question_of_ones_own_and_the_definition_before_a_mere_name(
    prompt: str, before: tuple[Content, ...]
):
    answer = await answer_to(*before, prompt, documents=(ARCHIVE, ERRORS))
    quoted = [line for line in answer.split("\n") if line.startswith("> ")]
    assert quoted[0].removeprefix("> ").removeprefix("- ") == QUOTA_RULE
    assert not any("Where is" in line for line in quoted if QUOTA_RULE not in line)
    assert "`/w/archive.py`, lines 8–13" in answer
    assert "errors.py" not in answer


@pytest.mark.parametrize(
    "prompt",
    [
        "アップロードについてどんなルールを伝えましたか？",
        "アップロードについて何を決めましたか。また、upload のコードはどのファイルにありますか？",
    ],
)
async def test_a_japanese_rule_answers_before_a_question_of_ones_own(prompt: str):
    rule = "写真をアップロードする前に必ず圧縮してください。"
    answer = await answer_to(
        rule, "はい。", "アップロードはどこで行われますか？", "そこです。", prompt, documents=(ARCHIVE, ERRORS)
    )
    assert f"> {rule}" in answer
    assert "> アップロードはどこ" not in answer
    assert ("`/w/archive.py` の 8–13 行目" in answer) is ("ファイル" in prompt)


async def test_in_which_file_is_answered_with_the_file_and_the_place_first():
    answer = await answer_to("In which file are pictures uploaded?", documents=(ERRORS, ARCHIVE))
    assert answer.split("\n\n")[1] == "In `/w/archive.py`, lines 8–13:"


async def test_every_rule_is_listed_where_nothing_narrows_the_question():
    answer = await answer_to(f"{QUOTA_RULE} Use tabs only.", "ok", "Which rules did I give you?", documents=())
    assert f"{ENGLISH.rules}\n- {QUOTA_RULE}\n- Use tabs only." in answer
    assert ENGLISH.nothing_by_words not in answer


async def test_a_rule_is_noted_word_for_word():
    assert f"> {RULE}" in await answer_to(RULE)
    answer = await answer_to(f"{RULE} Where is open_socket?")
    assert f"> {RULE}" in answer
    assert "def open_socket" in answer


async def test_requests_are_listed_and_the_first_and_the_last_are_known():
    asked = ("Where is connect?", "There.", "And Server?", "There.")
    assert "1. Where is connect?\n2. And Server?" in await answer_to(*asked, "What did I ask you so far?")
    assert "> Where is connect?" in await answer_to(*asked, "What was my first question?")
    assert "Before this you wrote (message 2):\n\n> And Server?" in await answer_to(*asked, "what did I just ask?")
    assert "> And Server?" in await answer_to(*asked, "さっきの質問は何?")
    assert ENGLISH.no_requests in await answer_to("What did I ask before?")


async def test_open_tasks_are_listed():
    answer = await answer_to(
        "Write down as a task: add a test for retry_after.", "ok", "What is left to do?", documents=()
    )
    assert "- Write down as a task: add a test for retry_after." in answer
    assert ENGLISH.no_tasks in await answer_to("What is left to do?", documents=())


async def test_a_summary_quotes_what_stands_out():
    answer = await answer_to(
        "We moved the server to Frankfurt on May 3.", "ok", "Hi", "Hello", "Summarize our conversation", documents=()
    )
    assert "- We moved the server to Frankfurt on May 3." in answer


async def test_a_text_that_the_prompt_brings_is_searched_by_lines():
    log = "\n".join(f"test_case_{number} PASSED" for number in range(200))
    answer = await answer_to(f"Which test failed?\n{log}\nFAILED test_post - AssertionError\n{log}")
    assert "In `your message`, line 202:\n\n```\nFAILED test_post - AssertionError\n```" in answer


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("hi", ENGLISH.greeting),
        ("こんにちは", JAPANESE.greeting),
        ("Thanks!", ENGLISH.thanks),
        ("Who are you?", ENGLISH.abilities),
        ("Tell me about quantum chromodynamics", ENGLISH.not_found),
        ("What does `frobnicate` do?", "I find no “frobnicate”"),
        ("量子色力学について教えて", JAPANESE.not_found),
        ("", ENGLISH.no_prompt),
    ],
)
async def test_small_talk_and_what_it_does_not_know_are_answered_honestly(prompt: str, sentence: str):
    assert sentence in await answer_to(prompt)


async def test_a_japanese_question_is_answered_in_japanese():
    answer = await answer_to("connect はどこで定義されていますか?")
    assert answer.startswith(JAPANESE.first_note)
    assert "`connect`(def)は `/w/app/server.py` の 9–13 行目 で定義されています" in answer


async def test_own_answers_are_not_quoted_again():
    first = await answer_to("Where is open_socket?")
    answer = await answer_to("Where is open_socket?", first, "What did you say about open_socket?", documents=())
    assert "is defined in" in first
    assert "is defined in" not in answer
    assert "Where is open_socket?" in answer


def test_memory_holds_no_own_answers():
    conversation = read_conversation(
        [user_text("Hi"), model_text(f"{ENGLISH.note}\n\nHello."), model_text("Said by Gemini."), user_text("And?")]
    )
    assert [turn.text for turn in Memory(conversation, ENGLISH).turns] == ["Hi", "Said by Gemini."]


async def test_quoted_code_cannot_close_its_fence():
    document = OpenDocument(path="/w/a.md", text="Retry so:\n```\nretry()\n```\nNever else.", is_active=True)
    answer = await answer_to("How do I retry?", documents=(document,))
    assert "````md\nRetry so:" in answer


texts = st.lists(
    st.sampled_from(
        ("where is x?", "def x():", "# h", "\n", "これ", "`x`", "what did I", "line 3 of /w/a.py", "  ", "\ud800")
    ),
    max_size=8,
).map(" ".join)


@settings(max_examples=examples(80))
@given(st.lists(texts, max_size=5), st.lists(texts, max_size=2), st.tuples(st.integers(-3, 9), st.integers(-3, 9)))
def test_every_conversation_gets_an_answer(turns: list[str], files: list[str], selection: tuple[int, int]):
    contents = [(user_text if index % 2 == 0 else model_text)(turn) for index, turn in enumerate(turns)]
    documents = [
        OpenDocument(path=f"/w/{number}.py", text=text, is_active=True, selection=selection)
        for number, text in enumerate(files)
    ]
    conversation = read_conversation(contents)
    answer = compose_answer(conversation, documents)
    assert answer.split("\n\n", 1)[1].strip()
    assert answer == compose_answer(conversation, documents)


def test_documents_that_are_open_are_read_when_asked_and_not_before():
    conversation = read_conversation([user_text("Where is open_socket?")])
    assert "sockets.py" not in compose_answer(conversation, ())
    assert "sockets.py" in compose_answer(conversation, DOCUMENTS)

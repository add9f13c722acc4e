"""Files and folders that a prompt mentions: what goes along, what stays behind and why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gemini_companion.adapters.offline.provider import OfflineProvider
from gemini_companion.adapters.storage.search import searchable_text
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import PromptEntry, decode_entry, encode_entry
from gemini_companion.engine.prompts.attachments import read_attachment
from gemini_companion.sessions.context.mentions import HUGE_BYTES, MAX_CHARACTERS, MAX_FILES
from gemini_companion.sessions.events import ContextWindowWillOverflow, FilesAttached, PromptQueued
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import HistoryItem
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

KEY = "AIza" + "B7" * 17 + "x"


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "parser.py").write_text("def parse(text):\n    return text.split()\n", "utf-8")
    (folder / "notes.md").write_text("Never touch legacy/.\n", "utf-8")
    (folder / ".env").write_text("TOKEN=hunter2\n", "utf-8")
    return folder


@pytest.fixture
async def studio(tmp_path: Path, ws: Path) -> AsyncIterator[Studio]:
    studio = Studio(tmp_path, workspace=DiskWorkspace())
    studio.client.folders = (str(ws),)
    yield studio
    await studio.app.close()


def sent(studio: Studio) -> list[str]:
    """The texts behind the person's words in the last request."""
    return [part["text"] for part in studio.model.main()[-1].contents[-1].parts if read_attachment(part)]


async def transcript(studio: Studio) -> list[HistoryItem]:
    session = await studio.session()
    return [
        item
        for item in (await history_page(session, "transcript", cursor=None, limit=None)).contents
        if item.kind != "ide"
    ]


async def test_a_mentioned_file_stands_behind_the_persons_words_in_the_request(studio: Studio, ws: Path) -> None:
    await studio.chat("What does @src/parser.py do?")
    parts = studio.model.main()[-1].contents[-1].parts
    assert parts[-2] == {"text": "What does @src/parser.py do?"}
    assert "def parse(text):\n    return text.split()" in parts[-1]["text"]
    (told,) = studio.heard.of(FilesAttached)
    assert [(file.path, file.lines, file.truncated) for file in told.files] == [
        (str(ws / "src" / "parser.py"), (1, 2), False)
    ]
    assert told.withheld == ()


async def test_the_log_and_the_transcript_know_which_parts_are_the_files(studio: Studio, ws: Path) -> None:
    await studio.chat("compare @src/parser.py and @notes.md and @.env")
    prompt = (await transcript(studio))[0]
    assert [attachment.path for attachment in prompt.attachments] == [
        str(ws / "src" / "parser.py"),
        str(ws / "notes.md"),
    ]
    assert prompt.parts[: -len(prompt.attachments)] == ({"text": "compare @src/parser.py and @notes.md and @.env"},)
    assert [(item.name, item.reason) for item in prompt.withheld] == [(".env", "a secret by its name")]
    session = await studio.session()
    entry = next(entry for entry in session.history.entries if isinstance(entry, PromptEntry))
    stored = decode_entry(encode_entry(entry))
    assert isinstance(stored, PromptEntry)
    assert stored.own_parts == ({"text": "compare @src/parser.py and @notes.md and @.env"},)


async def test_what_names_nothing_is_text_like_any_other(studio: Studio) -> None:
    await studio.chat("mail me@notes.md, @property, @gone.py, @/etc/passwd, @../ws/x")
    assert sent(studio) == []
    assert studio.heard.of(FilesAttached) == []
    assert (await transcript(studio))[0].attachments == ()


async def test_the_editors_buffer_counts_more_than_the_disk(studio: Studio, ws: Path) -> None:
    studio.client.editor.open(str(ws / "notes.md"), lambda: "unsaved thoughts")
    await studio.chat("@notes.md")
    assert "unsaved thoughts" in sent(studio)[0]
    assert "legacy" not in sent(studio)[0]


async def test_the_file_is_read_when_its_turn_begins_and_not_when_its_prompt_was_sent(studio: Studio, ws: Path) -> None:
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("one"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("@notes.md"))
    await studio.heard.wait_for(PromptQueued)
    (ws / "notes.md").write_text("written meanwhile", "utf-8")
    studio.model.gate.set()
    await asyncio.gather(first, second)
    assert "written meanwhile" in sent(studio)[0]


async def test_from_an_untrusted_workspace_no_contents_go_along_but_names_do(studio: Studio) -> None:
    studio.trusted = False
    await studio.chat("@notes.md and @src")
    (told,) = studio.heard.of(FilesAttached)
    assert [(item.name, item.reason) for item in told.withheld] == [("notes.md", "the workspace is not trusted")]
    assert "legacy" not in str(studio.model.main()[-1].contents)
    assert "parser.py" in sent(studio)[0]


async def test_a_folder_goes_along_as_the_names_below_it(studio: Studio, ws: Path) -> None:
    await studio.chat("what is in @src/ ?")
    assert "  parser.py" in sent(studio)[0]
    (told,) = studio.heard.of(FilesAttached)
    assert [(file.path, file.lines) for file in told.files] == [(f"{ws}/src/", None)]


async def test_secrets_in_a_file_are_masked_and_what_follows_keeps_its_line(studio: Studio, ws: Path) -> None:
    body = "\n".join(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{number}" for number in range(10))
    pem = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    (ws / "conf.py").write_text(f"api = '{KEY}'\nblock = '''{pem}'''\nafter = 1\n", "utf-8")
    await studio.chat("@conf.py")
    assert KEY not in str(studio.model.main()[-1].contents)
    assert "MIIEvQ" not in str(studio.model.main()[-1].contents)
    read = read_attachment({"text": sent(studio)[0]})
    assert read is not None
    assert read.text.split("\n").index("after = 1") == 13
    (told,) = studio.heard.of(FilesAttached)
    assert [(item.name, item.reason) for item in told.withheld] == [("conf.py", "2 secrets masked")]


@pytest.mark.parametrize(("data", "reason"), [(b"\x00\x01" * 50, "not a text file"), (None, "larger than 20 MB")])
async def test_binary_and_huge_files_stay_behind(studio: Studio, ws: Path, data: bytes | None, reason: str) -> None:
    with (ws / "blob").open("wb") as file:
        if data is None:
            file.truncate(HUGE_BYTES + 1)
        else:
            file.write(data)
    await studio.chat("@blob")
    (told,) = studio.heard.of(FilesAttached)
    assert [(item.name, item.reason) for item in told.withheld] == [("blob", reason)]
    assert sent(studio) == []


async def test_only_so_many_files_and_characters_go_along_and_what_is_cut_says_so(studio: Studio, ws: Path) -> None:
    for number in range(MAX_FILES + 1):
        (ws / f"{number}.txt").write_text("line\n", "utf-8")
    await studio.chat(" ".join(f"@{number}.txt" for number in range(MAX_FILES + 1)))
    told = studio.heard.of(FilesAttached)[-1]
    assert len(told.files) == MAX_FILES
    assert [item.name for item in told.withheld] == [f"{MAX_FILES}.txt"]
    for name in ("a", "b", "c"):
        (ws / f"{name}.log").write_text(("x" * 999 + "\n") * 250, "utf-8")
    await studio.chat("@a.log @b.log @c.log")
    told = studio.heard.of(FilesAttached)[-1]
    assert [(file.lines, file.truncated) for file in told.files] == [((1, 250), False), ((1, 150), True)]
    assert [item.name for item in told.withheld] == ["c.log"]
    assert sum(len(text) for text in sent(studio)) < MAX_CHARACTERS + 1_000


async def test_a_file_is_attached_once_however_often_it_is_named(studio: Studio, ws: Path) -> None:
    await studio.chat(f"@notes.md, @./notes.md and @{ws}/notes.md.")
    assert len(sent(studio)) == 1


async def test_the_overflow_test_counts_what_goes_along_and_hands_back_the_persons_words_alone(
    studio: Studio, ws: Path
) -> None:
    studio.set(token_limit_override=10_000, compression_threshold=1.0)
    (ws / "big.txt").write_text("many words on one line\n" * 5_000, "utf-8")
    result = await studio.chat("read @big.txt")
    assert result.stopped == "contextWindowWillOverflow"
    assert result.prompt == ({"text": "read @big.txt"},)
    (overflow,) = studio.heard.of(ContextWindowWillOverflow)
    assert overflow.estimated_request_token_count > 5_000
    assert studio.heard.of(FilesAttached) == []


async def test_a_prompt_that_failed_keeps_its_files_in_the_transcript_and_none_in_the_view(studio: Studio) -> None:
    studio.model.streams = [ModelUnavailable("down", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("@notes.md")
    (item,) = await transcript(studio)
    assert (item.outcome, item.reason, len(item.attachments)) == ("failed", "down", 1)
    assert (await studio.session()).history.contents() == []


async def test_a_title_is_of_what_was_typed_and_not_of_what_was_pasted_before_it(studio: Studio) -> None:
    studio.model.title = ""
    log = "\n".join(f"line {number}" for number in range(100))
    parts = ({"text": log}, {"text": "\n\nWhat went wrong in "}, {"text": log}, {"text": "?"})
    async with asyncio.timeout(PATIENCE):
        await studio.app.chat(studio.client, parts)
    assert (await studio.session()).meta.title == "What went wrong in …?"
    async with asyncio.timeout(PATIENCE):
        while not (titles := [request for request in studio.model.requests if request.role == "utility_title"]):
            await asyncio.sleep(0)
    assert "What went wrong in …?" in str(titles[0].contents)
    assert "line 7" not in str(titles[0].contents)


async def test_title_and_search_take_the_persons_words_alone(studio: Studio) -> None:
    studio.model.title = ""  # its own would take the place of the first one, sooner or later
    await studio.chat("@notes.md what may I not do?")
    session = await studio.session()
    assert session.meta.title == "@notes.md what may I not do?"
    async with asyncio.timeout(PATIENCE):
        while not (titles := [request for request in studio.model.requests if request.role == "utility_title"]):
            await asyncio.sleep(0)
    assert "what may I not do?" in str(titles[0].contents)
    assert "legacy" not in str(titles[0].contents)
    prompt = next(entry for entry in session.history.entries if isinstance(entry, PromptEntry))
    assert searchable_text(prompt) == "@notes.md what may I not do?"


async def test_the_offline_model_answers_from_what_goes_along(studio: Studio) -> None:
    studio.take_key_away(offline=OfflineProvider(count_text=lambda text: len(text) / 4))
    answer = await studio.chat("What does parse do in @src/parser.py?")
    assert "return text.split()" in answer.text
    later = await studio.chat("And where is `parse` defined?")
    assert "parser.py" in later.text
    told = await studio.chat("What did I ask you first?")
    assert "return text.split()" not in told.text

"""The text of the active file goes along: what the service got is what the preview and the receipt say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator

pytestmark = pytest.mark.asyncio

LINES = [f"line {number}: {'x' * 40}" for number in range(1, 1001)]


def accounts(emulator: Emulator) -> list[dict[str, Any]]:
    """The JSON accounts of the editor in the newest request."""
    request = emulator.asked("streamGenerateContent")[-1]
    texts = [part.get("text", "") for content in request.contents for part in content["parts"]]
    return [json.loads(text.split("\n```json\n")[1].removesuffix("\n```")) for text in texts if "\n```json\n" in text]


def show(online: Editor, *uris: str, **more: Any) -> None:
    """Report open files, the first one active, with `more` fields."""
    files = [{"uri": uri, "lastFocusedAt": 100 - index, "isActive": index == 0} for index, uri in enumerate(uris)]
    online.notify("gemini/ideContext/didChange", {"openFiles": [{**files[0], **more}, *files[1:]]})


def by_name(preview: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {file["name"]: file for file in preview["openFiles"]}


async def test_a_small_file_goes_along_whole_and_the_chip_says_so_without_a_session(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    uri = (workspace / "parser.py").as_uri()
    show(online, uri)
    preview = await online.ask("gemini/context/preview")
    assert preview["openFiles"] == [{"uri": uri, "name": "parser.py", "extent": "whole", "isActive": True}]
    assert await online.ask("gemini/session/list") == {"sessions": []}
    await online.ask("gemini/chat", {"prompt": "What does parser.py do?"})
    assert accounts(emulator)[0]["activeFile"]["content"] == {"text": (workspace / "parser.py").read_text("utf-8")}
    receipt = online.of("ideContextSent")[0]
    assert receipt["texts"] == preview["texts"] == [{"path": str(workspace / "parser.py"), "extent": "whole"}]
    assert (await online.ask("gemini/context"))["byPart"]["ideContext"] > 20


async def test_the_preview_of_a_new_session_is_not_that_of_the_current_one(online: Editor, workspace: Path) -> None:
    show(online, (workspace / "parser.py").as_uri())
    await online.ask("gemini/chat", {"prompt": "What does parser.py do?"})
    assert (await online.ask("gemini/context/preview"))["kind"] == "none"
    fresh = await online.ask("gemini/context/preview", {"ofNewSession": True})
    assert (fresh["kind"], fresh["texts"][0]["extent"]) == ("full", "whole")


async def test_of_a_long_file_the_same_lines_are_in_the_request_the_preview_the_receipt_and_the_transcript(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    (workspace / "long.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    show(online, (workspace / "long.txt").as_uri(), cursor={"line": 699, "character": 0})
    chip = (await online.ask("gemini/context/preview"))["openFiles"][0]
    await online.ask("gemini/chat", {"prompt": "What is this?"})
    content = accounts(emulator)[0]["activeFile"]["content"]
    first, last = chip["lines"]
    assert (chip["extent"], chip["lineCount"]) == ("lines", 1000)
    assert first < 700 < last
    assert content["text"] == "\n".join(LINES[first - 1 : last]) + "\n"
    assert content["lines"] == {"startLine": first, "endLine": last}
    assert len(content["text"]) <= 16_384
    texts = online.of("ideContextSent")[0]["texts"]
    assert [(text["extent"], text["lines"], text["lineCount"]) for text in texts] == [("lines", [first, last], 1000)]
    history = await online.ask("gemini/session/history", {"view": "transcript"})
    assert history["contents"][0]["receipt"]["texts"] == texts


async def test_only_what_changed_is_sent_again_unsaved_or_saved(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    path = workspace / "parser.py"
    path.write_text("\n".join(LINES[:20]), "utf-8")
    online.open(path)
    show(online, path.as_uri())
    await online.ask("gemini/chat", {"prompt": "one"})
    await online.ask("gemini/chat", {"prompt": "two"})
    assert len(accounts(emulator)) == 1
    document = {"uri": path.as_uri(), "version": 2}
    online.notify(
        "textDocument/didChange",
        {
            "textDocument": document,
            "contentChanges": [{"text": "\n".join(LINES[:20]).replace("line 10:", "ten:")}],
        },
    )
    await online.ask("gemini/chat", {"prompt": "three"})
    change = accounts(emulator)[-1]["changes"]["contentChanged"]["content"]
    assert change["unsaved"] is True
    assert [line for line in change["diff"].split("\n") if line[0] in "+-"] == [f"-{LINES[9]}", "+ten: " + "x" * 40]
    assert online.of("ideContextSent")[-1]["texts"] == [
        {"path": str(path), "extent": "whole", "unsaved": True, "asChanges": True}
    ]
    path.write_text("\n".join(LINES[:20]).replace("line 10:", "ten:"), "utf-8")
    online.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})
    await online.ask("gemini/chat", {"prompt": "four"})
    assert accounts(emulator)[-1]["changes"]["contentChanged"]["content"] == {"unchanged": True}


async def test_the_whole_text_is_sent_again_after_a_compression_and_after_its_undo(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    path = workspace / "parser.py"
    show(online, path.as_uri())
    for number in range(6):
        await online.ask("gemini/chat", {"prompt": f"{number} " + "word " * 400})
    whole = {"text": path.read_text("utf-8")}
    assert (await online.ask("gemini/compress"))["status"] == "COMPRESSED"
    await online.ask("gemini/chat", {"prompt": "after it"})
    assert [account["activeFile"]["content"] for account in accounts(emulator)] == [whole]
    await online.ask("gemini/compression/undo")
    await online.ask("gemini/chat", {"prompt": "after its undo"})
    assert [account["activeFile"]["content"] for account in accounts(emulator)] == [whole]


async def test_what_does_not_go_along_says_why_before_it_is_sent(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    (workspace / ".gitignore").write_text("ignored.py\n", "utf-8")
    (workspace / "ignored.py").write_text("ignored_secret = 1\n", "utf-8")
    (workspace / "blob.bin").write_bytes(b"\0\1\2" * 100)
    (workspace / "book.ipynb").write_text('{"cells": ["notebook_cell"]}', "utf-8")
    outside = workspace.parent / "outside.py"
    outside.write_text("outside_secret = 1\n", "utf-8")
    names = ["ignored.py", "blob.bin", "book.ipynb", ".env", "../outside.py"]
    for name in names:
        uri = (workspace / name).resolve().as_uri()
        show(online, uri, "untitled:Untitled-1")
        preview = await online.ask("gemini/context/preview")
        file = preview["openFiles"][0]
        expected = {
            "ignored.py": ("none", "ignored by .gitignore"),
            "blob.bin": ("path", "not a text file"),
            "book.ipynb": ("path", "a notebook"),
            ".env": ("none", "a secret by its name"),
            "../outside.py": ("none", "outside the workspace folders"),
        }[name]
        assert (file["extent"], file["reason"]) == expected
        assert by_name(preview)["Untitled-1"]["reason"] == "not saved yet"
        await online.ask("gemini/chat", {"prompt": "hello"})
    sent = json.dumps([request.body for request in emulator.requests])
    for text in ("ignored_secret", "outside_secret", "hunter2", "notebook_cell", "Untitled"):
        assert text not in sent
    withheld = [item["name"] for event in online.of("ideContextSent") for item in event["withheld"]]
    assert {"ignored.py", ".env", "outside.py", "Untitled-1"} <= set(withheld)


def report(online: Editor, uri: str, *, text: str, **more: Any) -> None:
    """The editor shows one document, which no file holds."""
    file = {"uri": uri, "lastFocusedAt": 1, "isActive": True, "text": text, **more}
    online.notify("gemini/ideContext/didChange", {"openFiles": [file], "isTrusted": True})


async def test_an_untitled_text_and_what_is_selected_in_it_go_along(online: Editor, emulator: Emulator) -> None:
    start, end = {"line": 1, "character": 0}, {"line": 1, "character": 6}
    report(
        online,
        "untitled:Untitled-1",
        text="first\nsecond\n",
        selection={"start": start, "end": end},
        selectedText="second",
    )
    preview = await online.ask("gemini/context/preview")
    assert [(file["name"], file["extent"], file["unsaved"]) for file in preview["openFiles"]] == [
        ("untitled:Untitled-1", "whole", True)
    ]
    await online.ask("gemini/chat", {"prompt": "hello"})
    active = accounts(emulator)[-1]["activeFile"]
    assert (active["path"], active["content"], active["selectedText"]) == (
        "untitled:Untitled-1",
        {"unsaved": True, "text": "first\nsecond\n"},
        "second",
    )
    # Taken out, nothing of it goes along.
    uri = "untitled:Untitled-1"
    file = {"uri": uri, "lastFocusedAt": 1, "isActive": True}
    online.notify("gemini/ideContext/didChange", {"openFiles": [file], "isTrusted": True, "excluded": [uri]})
    (listed,) = (await online.ask("gemini/context/preview"))["openFiles"]
    assert (listed["extent"], listed["reason"]) == ("none", "taken out by you")


async def test_the_cell_of_a_notebook_that_is_worked_in_goes_along(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    (workspace / ".gitignore").write_text("ignored.ipynb\n", "utf-8")
    for name in ("book.ipynb", "ignored.ipynb"):
        (workspace / name).write_text('{"cells": ["whole_notebook"]}', "utf-8")
    book = (workspace / "book.ipynb").resolve()
    report(online, book.as_uri(), text="x = frame.mean()\n", cell=3)
    (listed,) = (await online.ask("gemini/context/preview"))["openFiles"]
    assert (listed["uri"], listed["name"], listed["extent"]) == (book.as_uri(), "book.ipynb#cell-3", "whole")
    await online.ask("gemini/chat", {"prompt": "hello"})
    active = accounts(emulator)[-1]["activeFile"]
    assert (active["path"], active["content"]) == (f"{book}#cell-3", {"text": "x = frame.mean()\n"})
    report(online, (workspace / "ignored.ipynb").resolve().as_uri(), text="ignored_cell", cell=1)
    await online.ask("gemini/chat", {"prompt": "hello"})
    sent = json.dumps([request.body for request in emulator.requests])
    assert "whole_notebook" not in sent
    assert "ignored_cell" not in sent


async def test_open_files_beyond_the_ten_are_listed_as_left_out(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    for number in range(14):
        (workspace / f"file{number}.py").write_text(f"text_of_{number} = 1\n", "utf-8")
    show(online, *((workspace / f"file{number}.py").as_uri() for number in range(14)))
    preview = await online.ask("gemini/context/preview")
    left_out = [file["name"] for file in preview["openFiles"] if file["extent"] == "none"]
    assert left_out == [f"file{number}.py" for number in range(10, 14)]
    assert {file["reason"] for file in preview["openFiles"][10:]} == {"only 10 open files go along"}
    await online.ask("gemini/chat", {"prompt": "hello"})
    account = accounts(emulator)[0]
    assert len(account["otherOpenFiles"]) == 9
    assert online.of("ideContextSent")[0]["moreOpenFiles"] == preview["moreOpenFiles"] == 4


async def test_a_long_selection_is_cut_after_a_line_and_chip_receipt_and_request_name_the_same_lines(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    path = workspace / "long.txt"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    online.open(path)
    selection = {"start": {"line": 10, "character": 0}, "end": {"line": 510, "character": 0}}
    cut_by_the_client = "\n".join(LINES[10:510])[:16_384]
    show(online, path.as_uri(), selection=selection, selectedText=cut_by_the_client)
    chip = (await online.ask("gemini/context/preview"))["openFiles"][0]
    await online.ask("gemini/chat", {"prompt": "What is this?"})
    account = accounts(emulator)[0]["activeFile"]
    first, last = account["selectionCut"]["sent"]
    assert (first, account["selectionCut"]["selected"]) == (11, [11, 510])
    assert account["selectedText"] == "\n".join(LINES[10:last]) + "\n… [truncated]"
    assert chip["selectionCut"] == account["selectionCut"] == online.of("ideContextSent")[0]["selectionCut"]


async def test_files_of_a_folder_that_is_renamed_on_disk_are_reported_as_closed_and_why(
    online: Editor, workspace: Path
) -> None:
    (workspace / "sub").mkdir()
    for number in range(3):
        (workspace / "sub" / f"file{number}.py").write_text("x = 1\n", "utf-8")
    show(online, *((workspace / "sub" / f"file{number}.py").as_uri() for number in range(3)))
    await online.ask("gemini/chat", {"prompt": "one"})
    (workspace / "sub").rename(workspace / "renamed")
    preview = await online.ask("gemini/context/preview")
    assert [(file["extent"], file["reason"]) for file in preview["openFiles"]] == [("none", "not on disk")] * 3
    await online.ask("gemini/chat", {"prompt": "two"})
    receipt = online.of("ideContextSent")[-1]
    assert sorted(receipt["files"]) == sorted(receipt["closed"])
    assert len(receipt["closed"]) == len(receipt["withheld"]) == 3


async def test_of_a_workspace_that_is_not_trusted_only_paths_and_selections_go_along(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    async with editor(server_environment(tmp_path, **gemini_environment), workspace) as spoken:
        spoken.open(workspace / "parser.py", "unsaved_idea = 1\n")
        show(spoken, (workspace / "parser.py").as_uri())
        preview = await spoken.ask("gemini/context/preview")
        assert preview["openFiles"][0]["reason"] == "the workspace is not trusted"
        await spoken.ask("gemini/chat", {"prompt": "hello"})
        assert accounts(emulator)[0]["activeFile"]["content"] == {
            "unsaved": True,
            "omitted": "the workspace is not trusted",
        }
        assert "unsaved_idea" not in json.dumps([request.body for request in emulator.requests])


async def test_how_much_of_the_active_file_goes_along_is_a_setting(
    online: Editor, emulator: Emulator, workspace: Path
) -> None:
    (workspace / "long.txt").write_text("\n".join(LINES) + "\n", "utf-8")
    show(online, (workspace / "long.txt").as_uri())
    for budget, extent in ((500, "lines"), (0, "path"), (400_000, "whole")):
        settings = {"companion": {"ide": {"activeFileCharacters": budget}}}
        online.notify("workspace/didChangeConfiguration", {"settings": {"geminiCompanion": settings}})
        file = (await online.ask("gemini/context/preview"))["openFiles"][0]
        assert file["extent"] == extent
    await online.ask("gemini/chat", {"prompt": "hello"})
    assert LINES[-1] in emulator.asked("streamGenerateContent")[-1].text

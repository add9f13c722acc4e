"""Which files somebody means who has typed a part of a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.engine.prompts.mentions import mentions_in
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.file_names import find_files
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.ports import Listed, Listing
from tests.support.examples import examples
from tests.support.sessions import OpenWorkspace, RecordingSink


class ListedWorkspace(OpenWorkspace):
    """A workspace of names alone."""

    def __init__(self, *paths: str, folder: str = "/w", truncated: bool = False) -> None:
        super().__init__()
        entries = tuple(Listed(folder=folder, path=path.rstrip("/"), is_folder=path.endswith("/")) for path in paths)
        self.known = Listing(entries=entries, truncated=truncated)

    async def listing(self, folders: object) -> Listing:
        return self.known


def client(*folders: str) -> Client:
    made = Client("c", RecordingSink())
    made.folders = folders or ("/w",)
    return made


async def found(query: str, *paths: str, limit: int = 50) -> list[str]:
    return [file.path for file in (await find_files(ListedWorkspace(*paths), client(), query, limit)).files]


PATHS = (
    "README.md",
    "src/",
    "src/parser.py",
    "src/parse_errors.py",
    "tests/test_parser.py",
    "docs/comparison.md",
    "src/HttpClient.ts",
    "src/utils/httpd.c",
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("parser.py", "src/parser.py"),
        ("parser", "src/parser.py"),
        ("pars", "src/parser.py"),
        ("pe", "src/parse_errors.py"),
        ("tp", "tests/test_parser.py"),
        ("test/parser", "tests/test_parser.py"),
        ("src/pa", "src/parser.py"),
        ("hc", "src/HttpClient.ts"),
        ("HTTPD", "src/utils/httpd.c"),
        ("readme", "README.md"),
        ("src", "src"),
        ("src\\parser", "src/parser.py"),
        ('"comp', "docs/comparison.md"),
        ("par ser", "src/parser.py"),
    ],
)
async def test_the_file_that_is_most_likely_meant_comes_first(query: str, first: str) -> None:
    assert (await found(query, *PATHS))[0] == first


@pytest.mark.parametrize("query", ["xyz", "resrap", "parser.pyy", "[", "\\"])
async def test_what_does_not_hold_all_signs_in_order_is_no_match(query: str) -> None:
    assert "src/parser.py" not in await found(query.replace("\\", "\\q"), *PATHS)


async def test_of_two_that_match_alike_the_shorter_one_comes_first() -> None:
    assert await found("main", "a/very/long/way/to/main.py", "b/main.py") == ["b/main.py", "a/very/long/way/to/main.py"]


async def test_without_a_query_open_files_come_first_newest_in_front_and_then_what_lies_nearest() -> None:
    editor = client()
    files = [
        ReportedFile(path="/w/src/parser.py", last_focused_at=1),
        ReportedFile(path="/w/docs/secret.md", last_focused_at=3),
    ]
    editor.editor.report(
        [
            *files,
            ReportedFile(path="/w/README.md", last_focused_at=2),
            ReportedFile(path="/elsewhere/x.py", last_focused_at=9),
        ]
    )
    answer = await find_files(ListedWorkspace("a.txt", *PATHS), editor, "", 4)
    assert [file.path for file in answer.files] == ["README.md", "src/parser.py", "a.txt", "src"]
    assert [file.is_directory for file in answer.files] == [False, False, False, True]
    assert answer.files[1].uri == "file:///w/src/parser.py"
    assert answer.truncated


async def test_an_open_file_wins_over_another_that_matches_alike() -> None:
    editor = client()
    editor.editor.report([ReportedFile(path="/w/b/main.py")])
    answer = await find_files(ListedWorkspace("a/main.py", "b/main.py"), editor, "main", 5)
    assert [file.path for file in answer.files] == ["b/main.py", "a/main.py"]
    assert not answer.truncated


async def test_a_workspace_that_was_listed_in_part_says_so() -> None:
    assert (await find_files(ListedWorkspace("a", truncated=True), client(), "", 5)).truncated


async def test_with_several_folders_a_path_begins_with_its_folders_name_and_is_absolute_where_two_have_the_same(
    tmp_path: Path,
) -> None:
    folders = [tmp_path / "one" / "app", tmp_path / "two" / "app", tmp_path / "lib"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "main.py").write_text("", "utf-8")
    names = [str(folder) for folder in folders]
    workspace = DiskWorkspace()
    answer = await find_files(workspace, client(*names), "main", 10)
    assert {file.path for file in answer.files} == {
        str(folders[0] / "main.py"),
        str(folders[1] / "main.py"),
        "lib/main.py",
    }
    for file in answer.files:
        (named,) = await workspace.find(mentions_in(f"@{file.path}"), names)
        assert named is not None
        assert Path(named.path).as_uri() == file.uri, "what is offered is what a mention of it means"


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.text(st.sampled_from("abAB_./-[ \u0130"), min_size=1, max_size=12), max_size=8),
    st.text(st.sampled_from('abA./[]^-\\" \u0130'), max_size=5),
)
async def test_any_query_is_answered_with_paths_that_hold_its_signs(paths: list[str], query: str) -> None:
    wanted = [sign for sign in query.lower().replace("\\", "/") if sign not in ' "']
    for path in await found(query, *paths):
        rest = iter(path.lower())
        assert all(sign in rest for sign in wanted if sign != "/")


async def test_a_query_that_nearly_matches_everywhere_is_refused_in_one_pass_over_each_path() -> None:
    paths = [f"{'a' * 60}/{number}/{'ab' * 30}.py" for number in range(2_000)]
    assert await found("a" * 80 + "c", *paths) == []

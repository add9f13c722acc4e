"""What names mean in a workspace on disk, what lies below a folder, and everything that can be named."""

import itertools
import os
from pathlib import Path

import pytest

from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.adapters.workspace import listing as listings
from gemini_companion.adapters.workspace.ignore import IgnoreFiles
from gemini_companion.adapters.workspace.listing import KEPT_SECONDS, MAX_SECONDS, Listings


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    make(
        tmp_path / "ws",
        "src/a.py",
        "src/deep/b.py",
        "src/deep/er/c.py",
        "notes.md",
        ".env",
        "build/out.js",
        "secrets/.ssh/id",
    )
    (tmp_path / "ws" / ".gitignore").write_text("build/\n*.log\n", "utf-8")
    make(tmp_path, "outside.txt")
    return tmp_path / "ws"


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, "utf-8")
    return folder


async def named(*paths: str, folders: list[Path]) -> tuple[str, str | None] | None:
    """The path and the reason of the refusal."""
    (found,) = await DiskWorkspace().find([paths], [str(folder) for folder in folders])
    return None if found is None else (found.path, found.withheld.reason if found.withheld else None)


async def test_a_path_names_what_is_there_from_a_folder_on_or_from_the_root(ws: Path):
    expected = (str(ws / "src" / "a.py"), None)
    for path in ("src/a.py", "./src/../src/a.py", str(ws / "src" / "a.py"), "src/a.py/"):
        assert await named(path, folders=[ws]) == expected
    assert await named("src", folders=[ws]) == (str(ws / "src"), None)
    assert await named("src/", folders=[ws]) == (str(ws / "src"), None)
    assert await named("./", folders=[ws]) == (str(ws), None)


async def test_the_first_path_of_a_group_that_names_something_counts(ws: Path):
    assert await named("notes.md.", "notes.md", folders=[ws]) == (str(ws / "notes.md"), None)


@pytest.mark.parametrize(
    "path", ["gone.py", "a\0b", "x" * 5_000, "../outside.txt", "/etc/passwd", "//host/share", "~/a", "src/a.py/b"]
)
async def test_what_is_not_there_or_lies_outside_by_its_name_names_nothing(ws: Path, path: str):
    assert await named(path, folders=[ws]) is None


async def test_nothing_outside_is_so_much_as_looked_at(ws: Path, monkeypatch: pytest.MonkeyPatch):
    looked_at: list[str] = []
    real_stat = os.stat

    def spying(path: str, *args: object, **more: object) -> os.stat_result:
        looked_at.append(str(path))
        return real_stat(path, *args, **more)  # pyright: ignore[reportArgumentType, reportCallIssue]

    workspace = DiskWorkspace()
    monkeypatch.setattr(os, "stat", spying)
    await workspace.find([("/etc/passwd", "../outside.txt", f"{ws}-other/a")], [str(ws)])
    assert [path for path in looked_at if "passwd" in path or "outside" in path or "-other" in path] == []


async def test_what_is_named_is_admitted_like_any_file(ws: Path):
    (ws / "way-out").symlink_to(ws.parent / "outside.txt")
    (ws / "link.py").symlink_to(ws / "src" / "a.py")
    os.mkfifo(ws / "pipe")
    assert await named(".env", folders=[ws]) == (str(ws / ".env"), "a secret by its name")
    assert await named("build/out.js", folders=[ws]) == (str(ws / "build" / "out.js"), "ignored by .gitignore")
    assert await named("build", folders=[ws]) == (str(ws / "build"), "ignored by .gitignore")
    assert await named("secrets/.ssh", folders=[ws]) == (str(ws / "secrets" / ".ssh"), "a secret by its name")
    assert await named("way-out", folders=[ws]) == (str(ws / "way-out"), "outside the workspace folders")
    assert await named("link.py", folders=[ws]) == (str(ws / "link.py"), None)
    assert await named("pipe", folders=[ws]) is None


async def test_of_several_folders_one_can_be_named_in_front_and_else_the_first_that_has_it_counts(
    ws: Path, tmp_path: Path
):
    other = make(tmp_path / "other", "notes.md", "only.md", "ws/notes.md")
    folders = [ws, other]
    assert await named("notes.md", folders=folders) == (str(ws / "notes.md"), None)
    assert await named("only.md", folders=folders) == (str(other / "only.md"), None)
    assert await named("other/notes.md", folders=folders) == (str(other / "notes.md"), None)
    assert await named("ws/notes.md", folders=folders) == (str(ws / "notes.md"), None)
    assert await named("other", folders=folders) == (str(other), None)
    assert await named("ws/notes.md", folders=[other]) == (str(other / "ws" / "notes.md"), None)


async def test_below_a_folder_two_levels_are_shown_and_the_rules_above_it_hold(ws: Path):
    make(ws, "src/debug.log", "src/deep/debug.log")
    names = await DiskWorkspace().names_below(str(ws / "src"), [str(ws)])
    assert names.text.split("\n") == [f"{ws}/src/", "  a.py", "  deep/", "    b.py", "    er/ …"]
    assert not names.truncated


async def test_names_that_are_left_out_are_told_to_be(ws: Path):
    make(ws, *(f"many/{number}.txt" for number in range(30)))
    names = await DiskWorkspace().names_below(str(ws / "many"), [str(ws)], limit=10)
    assert names.truncated
    assert "20 more" in names.text


async def test_nothing_is_listed_below_a_folder_that_is_outside(ws: Path):
    (ws / "way-out").symlink_to(ws.parent)
    assert (await DiskWorkspace().names_below(str(ws / "way-out"), [str(ws)])).text == ""


async def paths(*folders: Path, workspace: DiskWorkspace | None = None) -> list[str]:
    listing = await (workspace or DiskWorkspace()).listing([str(folder) for folder in folders])
    assert not listing.truncated
    return [entry.path + ("/" if entry.is_folder else "") for entry in listing.entries]


async def test_everything_that_may_be_shown_is_listed_those_near_first_and_no_link_followed(ws: Path):
    (ws / "way-out").symlink_to(ws.parent)
    (ws / "link.py").symlink_to(ws / "src" / "a.py")
    make(ws, ".git/config", "invisible\u202e.py")
    assert await paths(ws) == [
        ".gitignore",
        "notes.md",
        "secrets/",
        "src/",
        "src/a.py",
        "src/deep/",
        "src/deep/b.py",
        "src/deep/er/",
        "src/deep/er/c.py",
    ]


async def test_names_with_odd_blanks_and_joiners_are_listed(tmp_path: Path):
    names = ["Screenshot at 9.41.00\u202fAM.md", "10\u00a0000.md", "設定\u3000値.md", "می\u200cخ.md", "co\u00adop.md"]
    make(tmp_path, *names, "tab\t.md", "z\u200b.md")
    assert sorted(await paths(tmp_path)) == sorted(names)


async def test_folders_within_folders_are_listed_once(ws: Path):
    assert sorted(await paths(ws, ws / "src")) == sorted(
        [".gitignore", "notes.md", "secrets/", "src/", "a.py", "deep/", "deep/b.py", "deep/er/", "deep/er/c.py"]
    )
    assert await paths(Path("relative"), ws / "gone") == []


async def test_a_workspace_that_is_too_large_is_listed_in_part_and_says_so(ws: Path, monkeypatch: pytest.MonkeyPatch):
    whole = len((await DiskWorkspace().listing([str(ws)])).entries)
    for most in range(1, 12):
        monkeypatch.setattr(listings, "MAX_SCANNED", most)
        listing = await DiskWorkspace().listing([str(ws)])
        assert len(listing.entries) <= most
        assert listing.truncated == (len(listing.entries) < whole)


async def test_a_listing_is_kept_for_some_seconds(ws: Path):
    now = [100.0]
    kept = Listings(IgnoreFiles(), monotonic=lambda: now[0])
    first = await kept.read([str(ws)])
    make(ws, "new.py")
    assert await kept.read([str(ws)]) is first
    now[0] += KEPT_SECONDS + 1
    assert "new.py" in [entry.path for entry in (await kept.read([str(ws)])).entries]
    assert next(entry.path for entry in (await kept.read([str(ws / "src")])).entries) == "a.py"


async def test_a_listing_that_takes_too_long_ends_and_says_so(ws: Path):
    """Every look at the clock takes a second here: a slow disk, or hostile ignore files."""
    clock = itertools.count(0.0, 1.0)
    listing = await Listings(IgnoreFiles(), monotonic=lambda: next(clock)).read([str(ws)])
    assert listing.truncated
    assert len(listing.entries) <= MAX_SECONDS

"""What a command changed is noticed by stamps, and nothing is said of what could not be looked at."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.files.stamps import StampScan
from gemini_companion.sessions.tools.changes_noticed import Stamp, Stamps, not_after, noticed

_PATHS = st.sampled_from([os.path.join(os.sep, "w", *parts) for parts in (["a"], ["b"], ["d", "c"], ["d", "e", "f"])])
_TABLES = st.dictionaries(_PATHS, st.builds(Stamp, st.integers(0, 2), st.just(1), st.just(1), st.just(0o644)))


@given(_TABLES, _TABLES)
def test_what_is_noticed_leads_from_one_look_to_the_other(before: dict[str, Stamp], after: dict[str, Stamp]) -> None:
    found = noticed(Stamps(before), Stamps(after))
    made = {path: stamp for path, stamp in before.items() if path not in found.deleted}
    made |= {path: after[path] for path in (*found.created, *found.changed)}
    assert made == after
    assert not found.is_partial


@given(_TABLES, _TABLES)
def test_of_a_folder_that_was_looked_into_once_nothing_is_said(
    before: dict[str, Stamp], after: dict[str, Stamp]
) -> None:
    folder = os.path.join(os.sep, "w", "d")
    seen = {path: stamp for path, stamp in before.items() if not path.startswith(folder)}
    found = noticed(Stamps(seen, frozenset({folder})), Stamps(after))
    assert not [path for path in found.paths if path.startswith(folder)]
    assert found.is_partial


async def test_ignored_files_are_left_out_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    for folder in (outside, root / "sub", root / ".git"):
        folder.mkdir(parents=True)
    for path in (outside / "x", root / "a", root / "b.log", root / "sub" / "c", root / ".git" / "index"):
        path.write_text("x")
    (root / ".gitignore").write_text("*.log\n")
    (root / "link").symlink_to(outside)
    found = await StampScan(seconds=60)([str(root)])
    assert {os.path.relpath(path, root) for path in found.files} == {
        ".gitignore",
        "a",
        "link",
        os.path.join("sub", "c"),
    }
    assert found.unlisted == frozenset()


async def test_a_workspace_too_large_says_where_it_was_not_looked(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(5):
            (tmp_path / folder / str(number)).write_text("x")
    found = await StampScan(most=5, seconds=60)([str(tmp_path)])
    assert len(found.unlisted) == 1
    ticks = iter(range(100))
    slow = await StampScan(seconds=0, monotonic=lambda: float(next(ticks)))([str(tmp_path)])
    assert (slow.files, slow.unlisted) == ({}, frozenset({str(tmp_path)}))


def test_what_was_changed_long_after_a_killed_daemons_last_sign_of_life_was_changed_by_somebody_else() -> None:
    second = 10**9
    was = {"/w/both": Stamp(1, 1, 1, 0o100644, 1), "/w/later": Stamp(1, 1, 2, 0o100644, 1)}
    now = {
        "/w/both": Stamp(2, 2, 1, 0o100644, 101 * second),
        "/w/later": Stamp(2, 2, 2, 0o100644, 500 * second),
        "/w/new": Stamp(1, 1, 3, 0o100644, 103 * second),
        "/w/persons": Stamp(1, 1, 4, 0o100644, 500 * second),
    }
    before = Stamps(was, at_ns=90 * second)
    assert noticed(before, not_after(Stamps(now), before, 100_000)).paths == ["/w/both", "/w/new"]
    assert noticed(before, not_after(Stamps(now), before, 1)).paths == [], "it had begun by then"
    assert len(noticed(before, not_after(Stamps(now), before, None)).paths) == 4

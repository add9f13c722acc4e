"""A file that was written while an editor still shows what was in it."""

from __future__ import annotations

import msgspec
import pytest

from gemini_companion.sessions.tools.changes_versions import Look, caught_up, version_of
from gemini_companion.tools.ports import Place

PLACE = Place(path="/project/a", root="/work", shown="a", kind="file")
OLD, NEW, OTHER = version_of(b"old"), version_of(b"new"), version_of(b"other")
BEFORE = Look(place=PLACE, disk=OLD, is_open=True)


def test_an_editor_that_shows_what_was_there_before_is_behind_and_the_disk_counts() -> None:
    now = Look(place=PLACE, disk=NEW, unsaved=OLD, is_open=True)
    assert caught_up(BEFORE, now).shown == NEW


@pytest.mark.parametrize("before", [BEFORE, msgspec.structs.replace(BEFORE, unsaved=OTHER)])
def test_what_somebody_typed_counts_before_the_disk(before: Look) -> None:
    now = Look(place=PLACE, disk=NEW, unsaved=OTHER, is_open=True)
    assert caught_up(before, now).shown == OTHER

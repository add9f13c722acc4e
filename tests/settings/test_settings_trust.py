"""Trust is given by a person, never by a workspace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.settings.trust import is_trusted

folders = st.lists(st.sampled_from(["/", "/a", "/a/b", "/ab", "/c", "a", "/a/../c"]), max_size=3)


@pytest.mark.parametrize(
    ("trusted", "opened", "expected"),
    [
        ([], ["/a"], False),
        (["/a"], ["/a"], True),
        (["/a"], ["/a/b"], True),
        (["/a"], ["/ab"], False),
        (["/a/b"], ["/a"], False),
        (["/a", "/c"], ["/a", "/c/d"], True),
        (["/a"], ["/a", "/c"], False),
        (["/a"], [], False),
        (["/a"], ["/a/../c"], False),
        (["a"], ["a"], False),
        (["/"], ["/anything"], True),
    ],
)
def test_every_workspace_folder_must_lie_in_a_trusted_one(trusted: list[str], opened: list[str], expected: bool):
    assert is_trusted(None, trusted, opened) is expected


@given(st.booleans(), folders, folders)
def test_what_a_client_states_counts_in_both_directions(stated: bool, trusted: list[str], opened: list[str]):
    assert is_trusted(stated, trusted, opened) is stated


@given(folders, folders, folders)
def test_another_workspace_folder_never_makes_it_more_trusted(trusted: list[str], opened: list[str], more: list[str]):
    assert not opened or is_trusted(None, trusted, opened) >= is_trusted(None, trusted, [*opened, *more])

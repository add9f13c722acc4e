"""The repository's state in the system prompt: bounded, and data whatever its names are."""

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.prompts.git_state import MOST_CHANGED, MOST_COMMITS, GitState, git_section

texts = st.text(max_size=400)


def test_it_names_branch_changes_and_commits():
    text = git_section(
        [
            GitState(
                folder="/project",
                branch="main",
                upstream="origin/main",
                ahead=2,
                changed=((" M", "/project/a.py"),),
                uncounted=3,
                commits=(("1234abc", "Mend the parser"),),
            )
        ]
    )
    for part in (
        "In /project:",
        "Branch: main, tracks origin/main (2 ahead)",
        " M /project/a.py",
        "and 3 more",
        "Mend the",
    ):
        assert part in text


def test_without_a_repository_there_is_no_section():
    assert git_section([]) == ""


def test_what_was_not_looked_up_is_not_called_clean():
    text = git_section([GitState(folder="/project", branch="main", is_partial=True)])
    assert "No changed files" not in text
    assert "not looked up" in text


@given(
    st.lists(
        st.builds(
            GitState,
            folder=texts,
            branch=texts,
            upstream=texts,
            changed=st.lists(st.tuples(st.just("??"), texts), max_size=60).map(tuple),
            commits=st.lists(st.tuples(st.just("1234abc"), texts), max_size=9).map(tuple),
        ),
        max_size=5,
    )
)
def test_it_is_bounded_and_a_name_stays_on_its_line(states: list[GitState]):
    text = git_section(states)
    assert text.count("\n") <= 2 + 3 * (7 + MOST_CHANGED + MOST_COMMITS)
    assert all(len(line) < 1_400 for line in text.split("\n"))
    assert "<state_snapshot" not in text.lower()

from __future__ import annotations

import pytest

from tests.support.shell_lines import ROOT, ToldFacts, judged
from tests.tools.shell.asked_lines import ASKED
from tests.tools.shell.further_lines import FURTHER, GENEROUS

LINES = [(kind, line) for kind, lines in FURTHER.items() for line in lines]


def test_there_are_hundreds_of_lines_beside_the_others_and_none_twice() -> None:
    written = [line for _, line in LINES]
    assert len(set(written)) == len(written)
    assert len(set(written) - set(ASKED)) >= 600


@pytest.mark.parametrize("kind", FURTHER)
def test_no_such_line_runs_unasked_by_rules_as_people_keep_them(kind: str) -> None:
    files = ToldFacts(folders=ToldFacts().folders | {f"{ROOT}/src"})
    ran = [line for line in FURTHER[kind] if judged(line, *GENEROUS, files=files).decision == "allow"]
    assert ran == []

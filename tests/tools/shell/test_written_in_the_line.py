from __future__ import annotations

import pytest

from tests.support.shell_lines import judged, rule

ALLOWED = (rule("python3", "build.py"), rule("cp"), rule("tee"), rule("mv"), rule("sed", "-i"))


@pytest.mark.parametrize(
    "line",
    [
        "echo x > build.py && python3 build.py",
        "echo x >> ./build.py; python3 build.py",
        "cp src/a.py build.py && python3 build.py",
        "mv src/build.py . && python3 build.py",
        "echo x | tee build.py; python3 build.py",
        "sed -i s/a/b/ build.py && python3 build.py",
        "python3 build.py | tee build.py",
    ],
)
def test_what_a_line_writes_is_not_run_by_the_same_line_unasked(line: str) -> None:
    verdict = judged(line, *ALLOWED)
    assert verdict.decision == "ask"
    assert any("written in this turn" in part.reason for part in verdict.parts)


def test_what_a_line_does_not_write_runs_by_its_rule() -> None:
    assert judged("cat build.py && python3 build.py", *ALLOWED).decision == "allow"

from __future__ import annotations

from contextlib import suppress

from hypothesis import example, given
from hypothesis import strategies as st

from gemini_companion.tools.shell.scan import scan
from gemini_companion.tools.shell.script import NotPlain
from tests.support.shell_lines import judged
from tests.tools.shell.allowed_lines import ALLOWED

INJECTIONS = (
    "; id", "&& id", "|| id", "| id", "|& id", "& id", "\nid", "\n id\n", "; id #", "$(id)", "`id`", "<(id)", ">(id)", "${x:-$(id)}",
    "$[$(id)]", "$((a[$(id)]))", "> /etc/x", ">> ~/.bashrc", ">f", "2>f", "&>f", ">&f", "< /etc/passwd", "<<< \"$(id)\"", "; eval id",
    "; bash -c id", "; exec id", "; . ./x", "; alias ls=id", "; ls() { id; }", "| xargs id", "| sh", "; PATH=. ls", "; trap id EXIT", "/etc/passwd; cat /etc/passwd",
    "; cat /etc/passwd", "\\\n", "\u00a0", "\u202e", "\0", "*", "{a,b}", "; \\id", "; i\"d\"", "; $'\\x69d'", "; (id)", "; { id; }", "; if true; then id; fi", "; ! id", "; time id",
    "; ((x))", "; [[ -v x ]]", "; env id", "; sudo id", "; printf -v x y", "; cd .. ; ls", "; [ -v x ]",
)  # fmt: skip


def places(line: str) -> list[int]:
    """Where the words of a line end: what stands there is read by the shell, not quoted."""
    return sorted({end for start, end in scan(line).spans if not line[start:end].startswith("#") and "<<" not in line})


@given(st.sampled_from([line for line in ALLOWED if line and places(line)]), st.sampled_from(INJECTIONS), st.data())
@example("ls", "; id", None)
def test_an_allowed_line_with_a_command_put_in_never_runs_unasked(
    line: str, injected: str, data: st.DataObject | None
) -> None:
    at = data.draw(st.sampled_from(places(line))) if data else len(line)
    blank = data.draw(st.sampled_from(["", " ", "  ", "\t"])) if data else " "
    assert judged(line[:at] + blank + injected + line[at:]).decision != "allow"


SIGNS = st.sampled_from(
    [*"ls cat git'\"\\`$(){}[]<>|&;#!*?~=-/.:\n\t 0aEx", "<<", "$(", "ls", "id", "cat ", " && ", "E\n", "a.py"]
)


@given(st.lists(SIGNS, max_size=30).map("".join))
def test_whatever_is_written_is_judged(line: str) -> None:
    verdict = judged(line)
    assert bool(verdict.reason) == (verdict.decision != "allow")
    if verdict.decision == "allow":
        assert "id" not in {part.argv[0] for part in verdict.parts}


@given(st.text(max_size=60))
def test_the_hand_reader_ends_on_any_text(line: str) -> None:
    with suppress(NotPlain):
        assert all(0 <= start < end <= len(line) for start, end in scan(line).spans)

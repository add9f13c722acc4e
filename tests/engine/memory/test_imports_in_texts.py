"""Where a text imports, and what that puts together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.memory.assembling import CUT, Link, Node, assemble
from gemini_companion.engine.memory.imports import MAX_IMPORTS, Import, imports_in, may_be_a_mention, readings


def paths(text: str) -> list[str]:
    return [found.path for found in imports_in(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@a.md and @./b/c.md\n@/abs.md", ["a.md", "./b/c.md", "/abs.md"]),
        ("me@a.md @@a.md @1.md @~/a.md (@a.md)", []),
        ("`@a.md` ``x ` @a.md`` @b.md", ["b.md"]),
        ("```md\n@a.md\n````\n@b.md", ["b.md"]),
        ("````\n```\n@a.md\n```\n````\n@b.md", ["b.md"]),
        ("a ` tick @a.md", ["a.md"]),
        ("```\nnever closed @a.md", ["a.md"]),
        ("~~~ text\n@a.md ` \n~~~~\n@b.md ` @c.md", ["b.md", "c.md"]),
        ("~~~\n@a.md\n~~\n", ["a.md"]),
        ("@" + "a" * 2_000, []),
    ],
)
def test_imports_stand_outside_of_code(text: str, expected: list[str]):
    assert paths(text) == expected


@given(st.text(alphabet="@a./`~ \n", max_size=200))
def test_each_import_is_where_it_says(text: str):
    for found in imports_in(text):
        assert text[found.start : found.end] == f"@{found.path}"


def test_only_so_many_imports_of_a_file_count():
    assert len(imports_in("@a.md " * 10_000)) == MAX_IMPORTS


def test_a_path_is_read_with_and_without_what_stands_behind_it():
    (written,) = imports_in("see @a.md).")
    assert readings(written) == (written, Import(4, 9, "a.md"))
    (bare,) = imports_in("see @a.md")
    assert readings(bare) == (bare,)


@pytest.mark.parametrize(("path", "expected"), [("param", True), ("org/team,", True), ("a.md", False), ("./x", False)])
def test_what_looks_like_no_path_may_be_a_mention(path: str, expected: bool):
    assert may_be_a_mention(path) is expected


def node(name: str, text: str, **targets: str | None) -> Node:
    links = tuple(
        Link(written=found, target=targets.get(found.path.removesuffix(".md"), ""), path=f"/{found.path}")
        for found in imports_in(text)
    )
    return Node(path=f"/{name}", text=text, links=links)


def chain(length: int) -> dict[str, Node]:
    return {str(at): node(f"{at}.md", f"{at} @n{at + 1}.md", **{f"n{at + 1}": str(at + 1)}) for at in range(length)}


def test_what_is_imported_too_deep_stays_as_it_is_written():
    text = assemble("0", chain(9), "tree").text
    assert "5 @n6.md\n<!-- End of import" in text
    assert assemble("0", chain(9), "tree", max_depth=1).text.count("Imported from") == 1
    assert assemble("0", chain(9), "flat").text.count("--- File: ") == 6


def test_imports_that_multiply_end_at_the_limit():
    names = ["a", "b", "c", "d", "e"]
    texts = {name: " ".join(f"@{other}.md" for other in names * 20) for name in names}
    nodes = {name: node(f"{name}.md", texts[name], **{other: other for other in names}) for name in names}
    whole = assemble("a", nodes, "tree", limit=10_000)
    assert whole.is_cut
    assert whole.text.endswith(CUT)
    assert len(whole.text) <= 10_000 + len(CUT) + 1


def test_a_failed_import_is_named_and_cannot_end_its_comment():
    (found,) = imports_in("@./a-->b.md")
    whole = assemble(
        "r", {"r": Node(path="/r", text="@./a-->b.md", links=(Link(written=found, reason="gone"),))}, "tree"
    )
    assert whole.text == "<!-- Import failed: ./a--&gt;b.md - gone -->"
    assert whole.failures == ("./a-->b.md: gone",)

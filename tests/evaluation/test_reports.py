"""The reports as people and programs read them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

import msgspec
import pytest

from gemini_companion.evaluation.cell import CellResult, Workbench
from gemini_companion.evaluation.charts import Bar, Line, bars, lines
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.document import Document, document_of
from gemini_companion.evaluation.html_report import html_report
from gemini_companion.evaluation.plan import Plan
from gemini_companion.evaluation.recall_rows import RecallRow
from gemini_companion.evaluation.text_report import percent, table
from tests.evaluation.conftest import MakeCell

PLAN = Plan(
    arms=("full", "none"),
    strategies=("split",),
    summarisers=("oracle",),
    seeds=1,
    replicates=1,
    passes=(1, 2),
    measured=("planted",),
)
HOSTILE: Final = "<script>alert(1)</script>&'\""
VOID: Final = {"meta", "br"}


class Checked(HTMLParser):
    """Whether every element is closed, and what stands in the page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(html: str) -> Checked:
    found = Checked()
    found.feed(html)
    found.close()
    assert found.open == []
    return found


@pytest.fixture(scope="module")
def results(corpus: list[Conversation]) -> list[CellResult]:
    from gemini_companion.evaluation.plan import cells_of

    bench = Workbench(corpus, {})
    return [bench.run(cell) for cell in cells_of(PLAN, corpus[:1], corpus)]


def document(results: list[CellResult], **changes: object) -> Document:
    made = document_of(PLAN, results, corpus="synthetic", conversations=["synthetic/coding/0"], planned=len(results))
    return msgspec.structs.replace(made, **changes)


def test_the_page_stands_alone_and_runs_nothing(results: list[CellResult]) -> None:
    html = html_report(document(results))
    found = parsed(html)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(found.seen)
    assert found.links == []
    assert "url(" not in html
    assert "@import" not in html
    assert found.seen.count("svg") >= 4
    assert "default-src 'none'" in html


def test_the_page_has_every_row_with_its_interval(results: list[CellResult]) -> None:
    made = document(results)
    text = " ".join(parsed(html_report(made)).text)
    for row in made.rows:
        assert row.label in text
    rules = made.rows[0].metrics["rules"]
    assert percent(rules.mean) in text
    assert "[100, 100 %]" in text


def test_nothing_from_a_file_becomes_markup(results: list[CellResult]) -> None:
    row = msgspec.structs.replace(document(results).rows[0], arm=HOSTILE, summariser="oracle")
    made = document(results, corpus=HOSTILE, faults=(HOSTILE,), rows=(row,), conversations=(HOSTILE,))
    recall = RecallRow(name=HOSTILE, value=0.5, low=0.4, high=0.6, of=9)
    found = parsed(html_report(msgspec.structs.replace(made, recall=(recall,))))
    assert "script" not in found.seen


def test_a_page_of_nothing_is_a_page(results: list[CellResult]) -> None:
    made = document_of(PLAN, [], corpus="x", conversations=[], planned=4)
    assert made.cells_missing == 4
    assert "4 more were planned" in " ".join(parsed(html_report(made)).text)


def test_the_document_reads_back_and_does_not_depend_on_the_order_of_results(results: list[CellResult]) -> None:
    made = document(results)
    assert msgspec.json.decode(msgspec.json.encode(made), type=Document) == made
    assert document(list(reversed(results))).rows == made.rows


def test_the_table_has_a_block_for_each_summariser_and_a_line_for_each_row(results: list[CellResult]) -> None:
    text = table(document(results).rows)
    assert text.startswith("What was planted. Summariser: oracle")
    lines_ = text.splitlines()
    assert lines_[2].split()[:3] == ["arm", "pass", "rules"]
    assert [line.split("  ")[0] for line in lines_[4:]] == ["full · split", "full · split", "none", "none"]
    assert len({len(line) for line in lines_[3:5]}) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "100 %"),
        (0.9996, "99.9 %"),
        (0.994, "99 %"),
        (0.0, "0 %"),
        (0.0004, "0.1 %"),
        (0.5, "50 %"),
        (2.0, "200 %"),
    ],
)
def test_a_share_is_never_rounded_up_to_all_nor_down_to_nothing(value: float, text: str) -> None:
    assert percent(value) == text


def test_charts_are_drawn_for_one_point_for_none_and_for_more_than_all() -> None:
    assert "<svg" in lines([Line("one", 0, ((3, 0.5),))])
    assert "<svg" not in lines([])
    assert "<svg" not in bars([])
    drawn = bars([Bar("large", 2.0, 1.5, 4.0, "200 %"), Bar(HOSTILE, 0.0, 0.0, 0.0, "0 %")])
    assert "script>" not in drawn
    widths = [float(part.split("'")[0]) for part in drawn.split("width='")[1:]]
    assert max(widths) <= 420


def test_a_run_that_is_not_there_counts_as_missing(results: list[CellResult], cell: MakeCell) -> None:
    bad = CellResult(cell=cell(), passes=(), fault="It was not there.")
    made = document_of(PLAN, [*results, bad], corpus="x", conversations=[], planned=len(results) + 1)
    assert (made.cells, made.cells_missing, made.faults) == (len(results), 1, ("It was not there.",))

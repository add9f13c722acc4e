"""The frame of a page that stands alone: light and dark, readable on a telephone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

_STYLE: Final = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c2330; --soft: #5b6475; --rule: #dde1e8;
  --raised: #f6f7f9; --c0: #2563c9; --c1: #c2410c; --c2: #0f8a5f; --c3: #8b3fc4; --c4: #b0860b; --c5: #c02a6b;
  --c6: #0d8597; --c7: #6b7280; --c8: #7a8f1c }
@media (prefers-color-scheme: dark) { :root { --ground: #14171d; --ink: #e8eaee; --soft: #a1a9b8; --rule: #303642;
  --raised: #1c2028; --c0: #6ea3ff; --c1: #ff9a62; --c2: #4fd1a0; --c3: #c999f5; --c4: #e8c45a; --c5: #ff85b6;
  --c6: #58cfe0; --c7: #9aa3b2; --c8: #b9cc5c } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem clamp(.8rem, 4vw, 2.5rem) 4rem; max-width: 76rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: clamp(1.5rem, 5vw, 2.1rem); line-height: 1.2; margin: .5rem 0 }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .8rem; padding-top: 1rem; border-top: 1px solid var(--rule) }
p, dd, li { max-width: 70ch } .lead { font-size: 1.1rem; color: var(--soft) }
.fine { color: var(--soft); font-size: .85rem }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1rem }
figure { margin: 0; padding: .9rem; background: var(--raised); border: 1px solid var(--rule); border-radius: 8px;
  min-width: 0 }
figcaption { font-weight: 600; margin-bottom: .5rem } figcaption small { color: var(--soft); font-weight: 400 }
.chart { width: 100%; height: auto; display: block; overflow: visible }
.chart text { fill: var(--ink); font: 12px system-ui, sans-serif } .chart .axis { fill: var(--soft); font-size: 11px }
.chart .value { font-weight: 600 } .track { fill: var(--rule) } .grid { stroke: var(--rule); fill: none }
.interval { stroke: var(--ink); fill: none; stroke-width: 1.5 } .line { fill: none; stroke-width: 2.5 }
.legend { list-style: none; margin: .4rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem;
  font-size: .85rem } .key { width: 26px; height: 10px; margin-right: .4rem }
details { margin-top: 1rem } summary { cursor: pointer; font-weight: 600; padding: .3rem 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--ground) }
thead th { color: var(--soft); font-weight: 600 } td small { display: block; color: var(--soft); font-size: .72rem }
dt { font-weight: 600; margin-top: .5rem } dd { margin: 0 0 0 1rem } .faults { color: var(--c1) }
.chart.wide { min-width: 34rem } figure { overflow-x: auto } figure + figure, figure + details { margin-top: 1rem }
.charts > figure { margin-top: 0 }
.area { stroke: var(--raised); stroke-width: .6 } .limit { fill: none; stroke: var(--ink); stroke-dasharray: 6 4 }
.mark { fill: none; stroke: var(--ink); stroke-width: 1.4 } .swatch { width: .8em; height: .8em; margin-right: .4rem }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); gap: .7rem }
.tiles div { background: var(--raised); border: 1px solid var(--rule); border-radius: 8px; padding: .6rem .9rem }
.tiles dt { margin: 0; color: var(--soft); font-size: .8rem; font-weight: 400 }
.tiles dd { margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums }
h1, .tiles dd { overflow-wrap: anywhere } a { color: var(--c0) } .said { white-space: pre-wrap; text-align: left;
  min-width: 18rem; max-width: 40rem } pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem;
  background: var(--raised); border: 1px solid var(--rule); border-radius: 8px; padding: .9rem }
@media print { * { print-color-adjust: exact } h2 { break-after: avoid } figure, tr { break-inside: avoid }
  details { break-inside: avoid } .scroll { overflow: visible } }
"""
_COLOURS: Final = "".join(
    f".bar.s{number},.dot.s{number},.area.s{number}{{fill:var(--c{number})}}.line.s{number}{{stroke:var(--c{number})}}"
    for number in range(9)
)


def page(title: str, sections: Iterable[str]) -> str:
    """A whole page. `sections` are HTML, `title` is plain text."""
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}{_COLOURS}</style></head>\n<body><main><h1>{escape(title)}</h1>\n"
        + "\n".join(sections)
        + "\n</main></body></html>\n"
    )


def table(heading: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself. Cells are HTML, headings plain text."""
    head = "".join(f"<th scope='col'>{escape(text)}</th>" for text in heading)
    lines = "".join(
        f"<tr><th scope='row'>{line[0]}</th>{''.join(f'<td>{text}</td>' for text in line[1:])}</tr>" for line in body
    )
    return f"<div class='scroll' tabindex='0'><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"

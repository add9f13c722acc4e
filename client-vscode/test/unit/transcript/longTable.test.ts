// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SHOWN_ROWS, unfoldTable, unfoldTables } from "../../../webview/transcript/markdown/longTable.js";
import { MarkdownView } from "../../../webview/transcript/markdown/markdownView.js";
import { t } from "./support.js";

const table = (rows: number): string =>
  `| a | b |\n| --- | --- |\n${Array.from({ length: rows }, (_, row) => `| ${row} | <b>x</b> |\n`).join("")}`;

let view: MarkdownView;
beforeEach(() => {
  view = new MarkdownView(t);
  document.body.replaceChildren(view.element);
});
afterEach(() => document.body.replaceChildren());

const rows = (): number => view.element.querySelectorAll("tbody tr").length;
const button = (): HTMLElement | null => view.element.querySelector<HTMLElement>("[data-code=showAll]");
const scroller = (): HTMLElement => view.element.querySelector<HTMLElement>(".table") ?? document.body;

describe("a table", () => {
  it("is shown whole up to a number of rows, and folded beyond it", () => {
    view.append(table(SHOWN_ROWS));
    view.finish();
    expect([rows(), button()]).toEqual([SHOWN_ROWS, null]);
    view.restart(table(SHOWN_ROWS + 5));
    view.finish();
    expect(rows()).toBe(SHOWN_ROWS);
    expect(button()?.textContent).toBe("Show all (5 more rows)");
  });

  it("shows all rows when it is asked to, a part in each frame, none of them as markup", async () => {
    view.append(table(3 * SHOWN_ROWS));
    view.finish();
    unfoldTable(scroller());
    expect(button()).toBeNull();
    await expect.poll(rows, { timeout: 50_000 }).toBe(3 * SHOWN_ROWS);
    expect(view.element.querySelector("b")).toBeNull();
    expect(view.element.querySelector("tbody")?.rows.item(3 * SHOWN_ROWS - 1)?.cells[0]?.textContent).toBe(
      String(3 * SHOWN_ROWS - 1),
    );
  });

  it("counts the rows that came while it was folded, and shows those that come once it is unfolded", () => {
    const text = table(SHOWN_ROWS + 50);
    view.append(text);
    view.render();
    const more = `| last | x |\n`.repeat(3);
    view.append(more);
    view.render();
    expect(button()?.textContent).toBe("Show all (53 more rows)");
    unfoldTables(view.element);
    view.append(more);
    view.render();
    expect([rows(), button()]).toEqual([SHOWN_ROWS + 56, null]);
  });

  it("inside a list is folded too", () => {
    view.append(`- x\n\n${table(SHOWN_ROWS + 1).replace(/^/gm, "  ")}`);
    view.finish();
    expect(rows()).toBe(SHOWN_ROWS);
    unfoldTables(view.element);
    expect(rows()).toBe(SHOWN_ROWS + 1);
  });
});

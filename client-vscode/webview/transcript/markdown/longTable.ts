/**
 * Tables of very many rows. The first rows are on the page; the others are made when somebody asks for them, some at a time, so that the
 * page goes on reacting meanwhile.
 */
import { element, setText } from "../element.js";
import type { Translate } from "../host.js";
import { sanitiseMarkdown } from "./sanitise.js";

/** Rows that are shown without being asked for. */
export const SHOWN_ROWS = 200;

/** Rows of a table that were not written. */
export interface RestOfTable {
  /** All rows of the body, those that were written included. */
  readonly total: number;
  /** The HTML of some rows, still to be sanitised. */
  write(from: number, to: number): string;
}

interface Folded {
  rest: RestOfTable;
  /** Somebody asked for all rows: those that come later are shown at once. */
  isUnfolded: boolean;
}

const folded = new WeakMap<Element, Folded>();

/** Gives each long table below `root` the button for its other rows. `rests` are those of the tables in their order. */
export function foldTables(root: HTMLElement, rests: readonly (RestOfTable | undefined)[], t: Translate): void {
  if (rests.every((rest) => rest === undefined)) return;
  const scrollers = root.matches(".table") ? [root] : [...root.querySelectorAll<HTMLElement>(".table")];
  for (const [index, scroller] of scrollers.entries()) {
    const rest = rests[index];
    if (rest === undefined) continue;
    const known = folded.get(scroller);
    if (known === undefined) folded.set(scroller, { rest, isUnfolded: false });
    else known.rest = rest;
    if (known?.isUnfolded === true) showAllRows(scroller);
    else showButton(scroller, t("Show all ({0} more rows)", rest.total - SHOWN_ROWS));
  }
}

function showButton(scroller: HTMLElement, label: string): void {
  const button = scroller.querySelector<HTMLElement>("[data-code=showAll]");
  if (button !== null) setText(button, label);
  else
    scroller.append(
      element("button", { type: "button", tabindex: -1, class: "show-all", "data-code": "showAll" }, label),
    );
}

/** Shows the other rows, a few in each frame. */
export function unfoldTable(scroller: Element): void {
  const state = folded.get(scroller);
  if (state === undefined) return;
  state.isUnfolded = true;
  scroller.querySelector("[data-code=showAll]")?.remove();
  const step = (): void => {
    if (addRows(scroller, state.rest, SHOWN_ROWS) && scroller.isConnected) requestAnimationFrame(step);
  };
  step();
}

/** Shows all rows of the long tables below `root` at once: what is looked for may be among them. */
export function unfoldTables(root: Element): void {
  const scrollers = root.matches(".table") ? [root] : [...root.querySelectorAll(".table")];
  for (const scroller of scrollers) if (folded.has(scroller)) showAllRows(scroller);
}

function showAllRows(scroller: Element): void {
  const state = folded.get(scroller);
  if (state === undefined) return;
  state.isUnfolded = true;
  scroller.querySelector("[data-code=showAll]")?.remove();
  addRows(scroller, state.rest, Infinity);
}

/** Whether there are still more. */
function addRows(scroller: Element, rest: RestOfTable, most: number): boolean {
  const body = scroller.querySelector("tbody");
  if (body === null) return false;
  const from = body.rows.length;
  const to = Math.min(rest.total, from + most);
  if (to > from) {
    const made = sanitiseMarkdown(`<table><tbody>${rest.write(from, to)}</tbody></table>`);
    body.append(...made.querySelectorAll("tr"));
  }
  return to < rest.total;
}

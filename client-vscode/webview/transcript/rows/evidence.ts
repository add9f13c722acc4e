/** What a question shows of what would happen: the command line with its pieces, the lines of a diff. All of it, however long. */
import type { QuestionView } from "../../../src/panel/contract.js";
import { element, exactNodes } from "../element.js";

/** So many lines are put into the page at a time; more come before somebody has scrolled to their end. */
const LINES_AT_ONCE = 1_000;
/** How near the end more lines come, pixels. */
const NEAR_END = 2_000;

/** The whole line; pieces that need the yes, or that are refused, are marked. */
export function markedCommand(command: string, parts: QuestionView["parts"]): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const { text, decision, reason } of parts) {
    const start = text === "" ? -1 : command.indexOf(text, at);
    if (start === -1) continue;
    nodes.push(...exactNodes(command.slice(at, start), "lines"));
    const piece = exactNodes(text, "lines");
    nodes.push(...(decision === "allow" ? piece : [marked(piece, decision, reason)]));
    at = start + text.length;
  }
  return [...nodes, ...exactNodes(command.slice(at), "lines")];
}

function marked(piece: readonly Node[], decision: string, reason: string | undefined): HTMLElement {
  return element("mark", { "data-decision": decision, title: reason === "" ? undefined : reason }, ...piece);
}

/** The lines of a unified diff, without the names of its files. */
export function linesOfDiff(diff: string): readonly string[] {
  const lines = diff.split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const shown = lines.slice(Math.max(0, first));
  if (shown.at(-1) === "") shown.pop();
  return shown;
}

/** Fills a box that scrolls with lines: those at its beginning at once, the others as it is scrolled. */
export function fillWithDiff(box: HTMLElement, lines: readonly string[]): void {
  let at = 0;
  const more = (): void => {
    const next = lines.slice(at, at + LINES_AT_ONCE);
    at += next.length;
    box.append(...next.map((line) => element("span", { class: `diff-line ${kindOf(line)}` }, ...diffLine(line))));
    if (at >= lines.length) box.removeEventListener("scroll", onScroll);
  };
  const onScroll = (): void => {
    if (box.scrollHeight - box.clientHeight - box.scrollTop < NEAR_END) more();
  };
  box.addEventListener("scroll", onScroll);
  more();
}

function diffLine(line: string): Node[] {
  return exactNodes(`${line}\n`, "lines");
}

function kindOf(line: string): string {
  if (line.startsWith("@@")) return "diff-note";
  return line.startsWith("+") ? "diff-added" : line.startsWith("-") ? "diff-removed" : "";
}

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

/** The lines of a unified diff. Of several files each begins with its name, a single one is named elsewhere. */
export function linesOfDiff(diff: string): readonly string[] {
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const isHead = (at: number): boolean =>
    lines[at]?.startsWith("--- ") === true &&
    lines[at + 1]?.startsWith("+++ ") === true &&
    lines[at + 2]?.startsWith("@@") === true;
  const heads = lines.flatMap((_, at) => (isHead(at) ? [at] : []));
  if (heads.length < 2)
    return lines.slice(
      Math.max(
        0,
        lines.findIndex((line) => line.startsWith("@@")),
      ),
    );
  return heads.flatMap((at, index) => [
    `@@ ${nameOf(lines[at] ?? "", lines[at + 1] ?? "")}`,
    ...lines.slice(at + 2, heads[index + 1]),
  ]);
}

/** The file that a diff is of; one that is gone has its name at the old side alone. */
function nameOf(before: string, after: string): string {
  const name = (line: string): string => line.slice(4).replace(/^[ab]\//, "");
  return name(after) === "/dev/null" ? name(before) : name(after);
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

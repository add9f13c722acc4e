/** What a question shows of what would happen: the command line with its pieces, the lines of a diff. */
import type { QuestionView } from "../../../src/panel/contract.js";
import { element } from "../element.js";
import { codeNodes } from "../markdown/bidi.js";

/** Most lines of a diff that are shown. */
const MOST_LINES = 400;

/** The whole line; pieces that need the yes, or that are refused, are marked. */
export function markedCommand(command: string, parts: QuestionView["parts"]): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const { text, decision, reason } of parts) {
    const start = text === "" ? -1 : command.indexOf(text, at);
    if (start === -1) continue;
    nodes.push(...codeNodes(command.slice(at, start)));
    const piece = codeNodes(text);
    nodes.push(...(decision === "allow" ? piece : [marked(piece, decision, reason)]));
    at = start + text.length;
  }
  return [...nodes, ...codeNodes(command.slice(at))];
}

function marked(piece: readonly Node[], decision: string, reason: string | undefined): HTMLElement {
  return element("mark", { "data-decision": decision, title: reason === "" ? undefined : reason }, ...piece);
}

/** A unified diff without the names of its files, a line each. */
export function diffLines(diff: string): HTMLElement[] {
  const lines = diff.split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  const shown = lines.slice(Math.max(0, first), Math.max(0, first) + MOST_LINES);
  if (shown.at(-1) === "") shown.pop();
  return shown.map((line) => element("span", { class: `diff-line ${kindOf(line)}` }, ...codeNodes(`${line}\n`)));
}

function kindOf(line: string): string {
  if (line.startsWith("@@")) return "diff-note";
  return line.startsWith("+") ? "diff-added" : line.startsWith("-") ? "diff-removed" : "";
}

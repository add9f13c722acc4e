/** What a file would be with a code block of an answer in it. The person sees the difference before anything is written. */
import { applyPatch, parsePatch, structuredPatch, type StructuredPatch } from "diff";

/** Lines of a file times lines of a diff: a diff may be sought all over the file, and models write what fits nowhere. */
const MOST_COMPARED = 20_000_000;
/** Changed lines between what was accepted and what it was made for; finding them takes the square of their number. */
const MOST_CHANGES = 2_000;

/** A file as it is. Offsets count UTF-16 units. */
export interface Target {
  readonly text: string;
  /** The selection; both ends are equal at a mere cursor. */
  readonly from: number;
  readonly to: number;
  /** The file's name without folders, to find its part of a diff for several files. */
  readonly name: string;
}

export type Proposal =
  /** `how`: what the block took the place of. */
  | { readonly how: "patch" | "selection" | "region" | "file" | "cursor"; readonly content: string }
  /** It is a diff, and not one of this text. */
  | { readonly how: "unfit" };

/**
 * A unified diff is applied; else the selection is replaced if there is one; else the lines from the block's first to its last line if the
 * file has them; else the whole file if the block looks like it; else the block is put at the cursor. Line ends become the file's own.
 *
 * @param language the block's language as the answer names it; may be empty
 */
export function proposeContent(target: Target, block: string, language: string): Proposal {
  const eol = target.text.includes("\r\n") ? "\r\n" : "\n";
  const code = unified(block);
  const proposal = isDiff(code, language) ? patched(target, code) : placed(target, code);
  return "content" in proposal ? { ...proposal, content: proposal.content.replaceAll("\n", eol) } : proposal;
}

function placed(target: Target, code: string): Proposal {
  const before = unified(target.text.slice(0, target.from));
  const after = unified(target.text.slice(target.to));
  const bare = withoutLastLineEnds(code);
  if (target.from !== target.to) {
    const endsLine = /\n$/.test(unified(target.text.slice(target.from, target.to)));
    return { how: "selection", content: before + bare + (endsLine ? "\n" : "") + after };
  }
  const text = before + after;
  // A block that says "the rest stays" would take the rest away.
  const whole = isElided(code) ? undefined : (region(text, bare) ?? wholeFile(text, bare));
  if (whole !== undefined) return whole;
  const isOwnLine = before === "" || before.endsWith("\n");
  return { how: "cursor", content: before + bare + (isOwnLine ? "\n" : "") + after };
}

/**
 * Replaces what begins with the block's first line, if that stands in the file just once: a definition by the definition, else the lines up
 * to the block's last line.
 */
function region(text: string, code: string): Proposal | undefined {
  const lines = text.split("\n");
  const block = trimmedBlock(code.split("\n"));
  const head = block[0]?.trim() ?? "";
  if (block.length < 2 || !/\p{L}\p{L}/u.test(head)) return undefined;
  const start = lines.findIndex((line) => line.trim() === head);
  if (start < 0 || lines.findLastIndex((line) => line.trim() === head) !== start) return undefined;
  const shift = indentOf(lines[start] ?? "").slice(indentOf(block[0] ?? "").length);
  const tail = shift + (block.at(-1)?.trimEnd() ?? "");
  const isDefinition = endOfDefinition(block, 0) === block.length - 1;
  const end = isDefinition
    ? endOfDefinition(lines, start)
    : lines.findIndex((line, index) => index > start && line.trimEnd() === tail);
  if (end <= start) return undefined;
  const indented = block.map((line) => (line.trim() === "" ? line : shift + line));
  return { how: "region", content: [...lines.slice(0, start), ...indented, ...lines.slice(end + 1)].join("\n") };
}

/** The last line of what a line heads, as its indentation tells: the deeper lines below it, and the line that closes them. */
function endOfDefinition(lines: readonly string[], start: number): number {
  const depth = indentOf(lines[start] ?? "").length;
  let end = start;
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (line.trim() === "") continue;
    const isDeeper = indentOf(line).length > depth;
    // "} else {" and the like go on, "}" and "end" close.
    if (!isDeeper && (indentOf(line).length < depth || !/^\s*(?:[)}\]]|end\b)/.test(line))) break;
    end = index;
    if (!isDeeper && !/[[({:]\s*$/.test(line)) break;
  }
  return end;
}

function trimmedBlock(lines: readonly string[]): string[] {
  const isText = (line: string): boolean => line.trim() !== "";
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}

/** Replaces the file, if the block begins as it does and is at least half as long. */
function wholeFile(text: string, code: string): Proposal | undefined {
  const opening = firstLineOf(text);
  if (opening === undefined) return { how: "file", content: `${code}\n` };
  if (opening !== firstLineOf(code) || code.length * 2 < text.length) return undefined;
  return { how: "file", content: code + (text.endsWith("\n") ? "\n" : "") };
}

function patched(target: Target, code: string): Proposal {
  if (linesOf(target.text) * linesOf(code) > MOST_COMPARED) return { how: "unfit" };
  try {
    const patches = parsePatch(code);
    const patch = patches.length === 1 ? patches[0] : patches.find((one) => namesOf(one).includes(target.name));
    const content = patch === undefined ? false : applyPatch(unified(target.text), patch, { fuzzFactor: 2 });
    return content === false ? { how: "unfit" } : { how: "patch", content };
  } catch {
    return { how: "unfit" }; // models write diffs that are none
  }
}

/**
 * What was accepted, on top of what the file has become meanwhile.
 *
 * @param base the file when the proposal was made
 * @returns nothing if the two changes are in each other's way
 */
export function rebased(base: string, accepted: string, now: string): string | undefined {
  if (base === now) return accepted;
  const changes = structuredPatch("", "", base, accepted, undefined, undefined, { maxEditLength: MOST_CHANGES });
  const result = changes !== undefined && applyPatch(now, changes);
  return result === false ? undefined : result;
}

/** The smallest single replacement that makes one text of another. Never cuts a surrogate pair or a CRLF in two. */
export function smallestEdit(
  before: string,
  after: string,
): { readonly from: number; readonly to: number; readonly text: string } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  if (head > 0 && isInside(before, head)) head--;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  if (tail > 0 && (isInside(before, before.length - tail) || isInside(after, after.length - tail))) tail--;
  return { from: head, to: before.length - tail, text: after.slice(head, after.length - tail) };
}

function isInside(text: string, offset: number): boolean {
  return (
    /^(?:[\uD800-\uDBFF][\uDC00-\uDFFF]|\r\n)$/.test(text.slice(offset - 1, offset + 1)) ||
    /[\uD800-\uDBFF\r]/.test(text.charAt(offset - 1))
  );
}

function isDiff(code: string, language: string): boolean {
  const hasHunk = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(code);
  return hasHunk && (/^(?:diff|patch|udiff)$/i.test(language) || /^--- .*\n\+\+\+ /m.test(code));
}

/** Whether it leaves parts out and says so in a comment. */
function isElided(code: string): boolean {
  return (
    /^[ \t]*(?:(?:\/\/|#|--|\/\*|<!--|;|%)[ \t]*)?(?:\.\.\.|…)(?:\s|$)/m.test(code) ||
    /(?:\.\.\.|…)\s*(?:rest|existing|unchanged|remaining|other|same)\b/i.test(code)
  );
}

function linesOf(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function withoutLastLineEnds(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

function namesOf({ oldFileName, newFileName }: StructuredPatch): string[] {
  return [oldFileName, newFileName].map((path) => path?.split(/[\\/]/).at(-1) ?? "");
}

function firstLineOf(text: string): string | undefined {
  return text
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim();
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function unified(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

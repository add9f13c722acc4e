/** The files that tools changed: what stands in the bar over the composer, and what they were before. */
import { applyPatch, parsePatch, reversePatch } from "diff";
import type { ChangedFile, WorkView } from "../../panel/contract.js";
import type { Change, ChangeList } from "../../protocol.gen.js";
import type { Words } from "./toolRows.js";

type Changes = WorkView["changes"];

export const NO_CHANGES: Changes = { files: [], added: 0, removed: 0, note: "" };

/** Lines of a text times lines of its diff: a diff may be sought all over the text. */
const MOST_COMPARED = 20_000_000;

/** The changes that stand, each file once, the one that was changed last first. */
export function changesView({ changes, note = "" }: ChangeList, words: Words): Changes {
  const files = new Map<string, [Change, ...Change[]]>();
  for (const change of standing(changes)) {
    const newer = files.get(change.path);
    if (newer === undefined) files.set(change.path, [change]);
    else newer.push(change);
  }
  const all = [...files.values()].map((ofFile) => fileOf(ofFile, words));
  return {
    files: all,
    added: all.reduce((sum, { added }) => sum + added, 0),
    removed: all.reduce((sum, { removed }) => sum + removed, 0),
    note,
  };
}

/** Those that are neither put back nor kept, newest first. */
export function standing(changes: readonly Change[]): readonly Change[] {
  return changes.filter(({ state = "made" }) => state === "made");
}

/** The turn from which on everything that stands was changed. */
export function oldestTurn(changes: readonly Change[]): string | undefined {
  return standing(changes).at(-1)?.turnId;
}

/** What a file was before its changes (newest first), out of what it is now; nothing if it has become another one since. */
export function textBefore(now: string, changes: readonly Change[]): string | undefined {
  let text: string | undefined = now;
  for (const { diff, kind } of changes) {
    if (kind === "created") {
      text = "";
      continue;
    }
    text = text === undefined ? undefined : without(text, diff);
  }
  return text;
}

function without(text: string, diff: string): string | undefined {
  if (text.split("\n").length * diff.split("\n").length > MOST_COMPARED) return undefined;
  try {
    const [patch, ...more] = parsePatch(diff);
    if (patch === undefined || patch.hunks.length === 0 || more.length > 0) return undefined;
    const before = applyPatch(text, reversePatch(patch));
    return before === false ? undefined : before;
  } catch {
    return undefined; // no diff
  }
}

/** What all changes of a file (newest first) come to; one that was created with the oldest of them is a new one. */
function fileOf(changes: readonly [Change, ...Change[]], words: Words): ChangedFile {
  const [{ path, kind }, ...older] = changes;
  const isNew = kind !== "deleted" && older.some((change) => change.kind === "created");
  return {
    path,
    label: words.place(path),
    kind: isNew ? "created" : kind,
    added: changes.reduce((sum, { added }) => sum + added, 0),
    removed: changes.reduce((sum, { removed }) => sum + removed, 0),
    canRevert: changes.every(({ canRevert = true }) => canRevert),
    note: noteOf(changes, words),
  };
}

/** Why it cannot be undone, and who changed it; what is true of several changes is said once. */
function noteOf(changes: readonly Change[], { t }: Words): string {
  const stuck = changes.filter(({ canRevert = true }) => !canRevert);
  const reasons = stuck.map(({ reason = "" }) => (reason === "" ? t("cannot be undone") : reason));
  const agents = new Set(changes.flatMap((change) => change.agents ?? []));
  const by = agents.size === 0 ? [] : [t("by {0}", [...agents].join(", "))];
  const isByCommand = changes.some(({ byCommand = false }) => byCommand);
  return [...new Set([...reasons, ...by, ...(isByCommand ? [t("changed by a command")] : [])])].join(" · ");
}

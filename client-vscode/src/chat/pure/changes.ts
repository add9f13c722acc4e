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
  const files = new Map<string, ChangedFile>();
  for (const change of standing(changes)) {
    const known = files.get(change.path);
    files.set(change.path, known === undefined ? fileOf(change, words) : joined(known, change, words));
  }
  const all = [...files.values()];
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

function fileOf(change: Change, words: Words): ChangedFile {
  const { path, kind, added, removed, canRevert = true } = change;
  return { path, label: words.place(path), kind, added, removed, canRevert, note: noteOf(change, words) };
}

/** An older change of the same file: it began there. */
function joined(newer: ChangedFile, older: Change, words: Words): ChangedFile {
  const { kind, added, removed, canRevert, note } = newer;
  const earlier = noteOf(older, words);
  return {
    ...newer,
    kind: older.kind === "created" && kind !== "deleted" ? "created" : kind,
    added: added + older.added,
    removed: removed + older.removed,
    canRevert: canRevert && (older.canRevert ?? true),
    note: note === "" ? earlier : note.includes(earlier) ? note : `${note} · ${earlier}`,
  };
}

function noteOf({ canRevert = true, reason = "", byCommand = false, agents = [] }: Change, { t }: Words): string {
  if (!canRevert) return reason === "" ? t("cannot be undone") : reason;
  const by = agents.length === 0 ? "" : t("by {0}", agents.join(", "));
  return [by, byCommand ? t("changed by a command") : ""].filter((note) => note !== "").join(" · ");
}

/** Receipts of what went along with a prompt, from the daemon's. */
import type { Receipt } from "../../panel/contract.js";
import type { ContextReceipt, HistoryItem } from "../../protocol.gen.js";

export const NOTHING_SENT: ContextReceipt = { kind: "full", files: [], selectionChars: 0, withheld: [] };

/** The receipt of one message about the editor. `place` makes of a path what people read. */
export function receiptOf(sent: ContextReceipt, place: (path: string) => string): Receipt {
  const { kind, files, closed = [], texts = [], selectionChars, selectionCut, moreOpenFiles = 0, withheld } = sent;
  return {
    kind,
    files: files.map(place),
    ...(closed.length === 0 ? {} : { closed: closed.map(place) }),
    ...(texts.length === 0 ? {} : { texts: texts.map((text) => ({ ...text, path: place(text.path) })) }),
    selectionChars,
    ...(selectionCut === undefined ? {} : { selectionCut }),
    ...(moreOpenFiles === 0 ? {} : { moreOpenFiles }),
    withheld,
    mentioned: [],
  };
}

/** Two receipts of one turn, the later of which adds to the earlier. */
export function merged(before: Receipt | undefined, after: Receipt): Receipt {
  if (!before) return after;
  const names = new Set(before.withheld.map((refusal) => refusal.name));
  const again = new Set(after.texts?.map(({ path }) => path));
  const texts = [...(before.texts ?? []).filter(({ path }) => !again.has(path)), ...(after.texts ?? [])];
  const closed = [...new Set([...(before.closed ?? []), ...(after.closed ?? [])])];
  const moreOpenFiles = Math.max(before.moreOpenFiles ?? 0, after.moreOpenFiles ?? 0);
  const selectionCut = after.selectionCut ?? before.selectionCut;
  return {
    kind: before.kind === "full" || after.kind === "full" ? "full" : "delta",
    files: [...new Set([...before.files, ...after.files])],
    ...(closed.length === 0 ? {} : { closed }),
    ...(texts.length === 0 ? {} : { texts }),
    selectionChars: Math.max(before.selectionChars, after.selectionChars),
    ...(selectionCut === undefined ? {} : { selectionCut }),
    ...(moreOpenFiles === 0 ? {} : { moreOpenFiles }),
    withheld: [...before.withheld, ...after.withheld.filter((refusal) => !names.has(refusal.name))],
    mentioned: [...new Set([...before.mentioned, ...after.mentioned])],
  };
}

/** A receipt with the files that a prompt names, or the slash command that it is. */
export function withFiles(
  receipt: Receipt | undefined,
  { attachments: named = [], withheld: refused = [], command }: HistoryItem,
  toPlace: (path: string) => string,
): Receipt | undefined {
  const attachments = [...(command?.files ?? []), ...named];
  const withheld = [...(command?.withheld ?? []), ...refused];
  if (attachments.length + withheld.length === 0) return receipt;
  const mentioned = attachments.map((attachment) => toPlace(attachment.path));
  return merged(receipt, { kind: "delta", files: [], selectionChars: 0, withheld, mentioned });
}

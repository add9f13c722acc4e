/** What hooks did that matters: one row for each turn, with what each of them did folded into it. */
import type { ConversationRows } from "./conversationRows.js";
import type { HookRan } from "../../protocol.gen.js";
import type { NoticeRow } from "../../panel/contract.js";

/** Different things that a row tells of hooks; what comes after them is counted. */
const MOST = 20;

export function hookRan(chat: ConversationRows, turnId: string, event: HookRan): void {
  if (event.isNotable !== true) return;
  const failed = event.outcome === "failed" || event.outcome === "timedOut";
  if (turnId === "") {
    chat.notice(failed ? "warning" : "info", said(chat, event));
    return;
  }
  const id = `h:${turnId}`;
  const row = chat.rows.find((one): one is NoticeRow => one.kind === "notice" && one.id === id);
  const level = failed || row?.level === "warning" ? "warning" : "info";
  const details = counted(row?.details ?? [], said(chat, event));
  const times = (row?.times ?? 0) + 1;
  const failures = (row?.failures ?? 0) + (failed ? 1 : 0);
  const text = times === 1 ? (details[0]?.text ?? "") : summed(chat, times, failures);
  if (row === undefined)
    chat.add({ kind: "notice", id, level, text, actions: [], time: chat.now(), details, times, failures });
  else chat.change(id, "notice", { level, text, details, times, failures });
}

type Details = NonNullable<NoticeRow["details"]>;

function counted(details: Details, text: string): Details {
  const known = details.findIndex((one) => one.text === text);
  if (known === -1) return details.length < MOST ? [...details, { text, times: 1 }] : details;
  return details.map((one, at) => (at === known ? { text, times: one.times + 1 } : one));
}

function summed(chat: ConversationRows, times: number, failures: number): string {
  if (failures === 0) return chat.t("Hooks stepped in {0} times.", times);
  return chat.t("Hooks stepped in {0} times, {1} of them without success.", times, failures);
}

function said(chat: ConversationRows, { event, name, outcome, durationMs, message = "" }: HookRan): string {
  const told = message.replace(/\s+/gu, " ").trim();
  switch (outcome) {
    case "denied":
    case "stopped":
      return chat.t("The hook {0} ({1}) refused: {2}", name, event, told);
    case "failed":
    case "timedOut":
      return chat.t("The hook {0} ({1}) failed: {2}", name, event, told);
    case "asked":
      return chat.t("The hook {0} ({1}) wants you to be asked.", name, event);
    case "changed":
      return told === ""
        ? chat.t("The hook {0} ({1}) changed what Gemini gets.", name, event)
        : chat.t("The hook {0} ({1}) changed what Gemini gets: {2}", name, event, told);
    case "ok":
      return told === ""
        ? chat.t("The hook {0} ({1}) took {2} s.", name, event, (durationMs / 1000).toFixed(1))
        : chat.t("The hook {0} ({1}) says: {2}", name, event, told);
  }
}

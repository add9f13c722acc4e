/** What each event of the daemon does to the rows. */
import type { AnswerRow, Receipt, Written } from "../../panel/contract.js";
import type { EventParams, OutputsMasked, Usage } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";
import { budgetUsed } from "./budgetNotices.js";
import { compressionConcluded, rowBelow } from "./compressionEvents.js";
import { cancelledBy } from "./cutShort.js";
import { errorView } from "./faults.js";
import { writtenIn } from "./history.js";
import { agentActivity } from "./agentEvents.js";
import { hookRan } from "./hookNotices.js";
import { loopDetected } from "./loopNotices.js";
import { merged, receiptOf } from "./receipts.js";
import { endInstead, tellOfModel } from "./modelNotices.js";
import { applyToolEvent } from "./toolEvents.js";
import { serversChanged } from "./serverNotices.js";
import { cutShort } from "./toolRows.js";
import { beginTurn } from "./unfinished.js";
import { waitsForSlot } from "./slotWaits.js";

export function applyEvent(chat: ConversationRows, { event, turnId, time }: EventParams): void {
  const turn = turnId ?? "";
  switch (event.type) {
    case "promptQueued":
      open(chat, turn, undefined, time);
      chat.change(`a:${turn}`, "answer", { state: "queued", since: time });
      return;
    case "turnStarted":
      if (event.steerId != null) withoutSteer(chat, event.steerId);
      beginTurn(chat, turn);
      if (chat.meantModel === event.model) endInstead(chat);
      open(chat, turn, writtenIn(event.prompt), time);
      chat.change(`a:${turn}`, "answer", { state: "sending", model: event.model, since: time });
      return;
    case "waitingForSlot":
      waitsForSlot(chat, turn, event);
      return;
    case "modelLoading":
      chat.noticeBefore(`a:${turn}`, "info", chat.t("The model is being loaded into memory."));
      return;
    case "thoughtDelta":
      begin(chat, turn, "thinking", event.attempt, time);
      chat.extend(turn, "thoughts", event.text);
      return;
    case "messageDelta":
      begin(chat, turn, "streaming", event.attempt, time);
      chat.extend(turn, "text", seam(chat.answer(turn)) + event.text);
      return;
    case "messageDiscarded": {
      // What came before the last round of tools stands: only the reply behind it is made anew.
      const row = chat.answer(turn);
      const kept = Math.max(0, ...inserted(row).map(({ at }) => at));
      chat.change(`a:${turn}`, "answer", {
        state: "sending",
        text: row?.text.slice(0, kept) ?? "",
        thoughts: kept === 0 ? "" : (row?.thoughts ?? ""),
        attempt: event.attempt + 1,
        since: time,
      });
      return;
    }
    case "toolCallStarted":
    case "toolCallProgress":
    case "toolCallCompleted":
    case "toolQuestionAsked":
    case "toolQuestionAnswered":
    case "commandsChanged":
      applyToolEvent(chat, event, turn, time);
      return;
    case "promptSteered": {
      const row = chat.answer(turn);
      const id = event.steerId ? { id: event.steerId } : {};
      const steer = { ...writtenIn(event.prompt), at: row?.text.length ?? 0, ...id };
      if (row) chat.change(row.id, "answer", { steers: [...(row.steers ?? []), steer] });
      return;
    }
    case "maxToolRoundsReached":
      chat.notice("warning", chat.t("Gemini used its tools {0} times in a row and stopped to ask you.", event.limit));
      return;
    case "turnCompleted":
      finish(chat, turn, event);
      return;
    case "turnFailed":
      chat.change(`a:${turn}`, "answer", {
        state: event.error.kind === "blocked" ? "blocked" : "failed",
        error: errorView(event.error, chat.t, time, turn),
        ...cut(chat.answer(turn)),
      });
      chat.change(`p:${turn}`, "prompt", { outcome: "failed" });
      return;
    case "turnCancelled":
      chat.change(`a:${turn}`, "answer", {
        ...(event.by === "interrupted" ? brokenOff(chat, turn) : { state: "stopped" }),
        ...cut(chat.answer(turn)),
      });
      chat.change(`p:${turn}`, "prompt", { outcome: cancelledBy(event.by) });
      return;
    case "ideContextSent":
      addReceipt(chat, turn, receiptOf(event, chat.place));
      return;
    case "filesAttached":
      addReceipt(chat, turn, {
        kind: "delta",
        files: [],
        selectionChars: 0,
        withheld: event.withheld,
        mentioned: event.files.map((file) => chat.place(file.path)),
      });
      return;
    case "commandExpanded":
      chat.change(`p:${turn}`, "prompt", { command: event.command });
      return;
    case "contextWindowWillOverflow":
      chat.change(`a:${turn}`, "answer", {
        state: "failed",
        error: errorView(
          {
            kind: "contextOverflow",
            message:
              event.message ||
              chat.t(
                "This prompt is too large for what is left of the context window: about {0} tokens, and {1} are left. Nothing was sent.",
                event.estimatedRequestTokenCount,
                event.remainingTokenCount,
              ),
          },
          chat.t,
          time,
          turn,
        ),
      });
      return;
    case "constraintsChanged":
      chat.setConstraints(event.constraints);
      return;
    case "compressionStarted":
      chat.addBefore(rowBelow(chat, event), {
        kind: "divider",
        id: `c:${event.compressionId}`,
        compressionId: event.compressionId,
        state: "running",
        trigger: event.trigger,
        startedAt: time,
        time,
      });
      return;
    case "compressionProgress":
      chat.change(`c:${event.compressionId}`, "divider", {
        phase: event.phase,
        ...(event.block === undefined ? {} : { block: event.block }),
        ...(event.blocks === undefined ? {} : { blocks: event.blocks }),
      });
      return;
    case "compressionCompleted":
    case "compressionFailed":
      compressionConcluded(chat, event, time);
      return;
    case "compressionCancelled":
      chat.change(`c:${event.compressionId}`, "divider", { state: "cancelled" });
      return;
    case "compressionUndone":
      for (const id of event.undone) chat.change(`c:${id}`, "divider", { state: "undone", canUndo: false });
      return;
    case "modelChanged":
      tellOfModel(chat, `a:${turn}`, event);
      chat.change(`a:${turn}`, "answer", { model: event.to });
      return;
    case "outputsMasked":
      masked(chat, turn, event);
      return;
    case "agentActivity":
      agentActivity(chat, event);
      return;
    case "mcpServersChanged":
      serversChanged(chat, event);
      return;
    case "hookRan":
      hookRan(chat, turn, event);
      return;
    case "loopDetected":
      loopDetected(chat, event);
      return;
    case "budgetUsed":
      budgetUsed(chat, event);
      return;
    case "maxTurnsReached":
      chat.notice("warning", chat.t("This chat has reached its limit of {0} turns.", event.limit), [
        { id: "newSession", label: chat.t("New Chat") },
        { id: "openSettings", label: chat.t("Open Settings"), argument: "geminiCompanion.maxSessionTurns" },
      ]);
      return;
    // Shown elsewhere (the meter, the title, the composer, trust, settings), or nothing that a row shows.
    case "changesChanged":
    case "chatCompressed":
    case "compressionPrepared":
    case "memoryChanged":
    case "modeChanged":
    case "settingsChanged":
    case "skillsChanged":
    case "slashCommandsChanged":
    case "titleChanged":
    case "todosChanged":
    case "trustChanged":
    case "usageUpdated":
      return;
    default:
      event satisfies never; // an event of the protocol that has no place here
  }
}

/** The rows of a turn, those of a prompt on its way if it is ours. */
function open(chat: ConversationRows, turnId: string, prompt: Written | undefined, time: number): void {
  if (chat.answer(turnId)) return;
  const text = prompt?.text;
  const ours = chat.unsent;
  const sent = ours && chat.prompt(ours.turnId)?.text.trim();
  if (ours && (text === undefined || sent === text.trim() || sent === `/${text.trim()}`)) {
    chat.adopt(ours.turnId, turnId);
    // Of the two slashes that a prompt may begin with the daemon takes one off.
    if (text !== undefined && sent !== text.trim()) chat.change(`p:${turnId}`, "prompt", prompt ?? {});
    return;
  }
  chat.settleFailures();
  chat.add({ kind: "prompt", id: `p:${turnId}`, turnId, ...(prompt ?? { text: "" }), time });
  chat.add({
    kind: "answer",
    id: `a:${turnId}`,
    turnId,
    model: "",
    state: "sending",
    text: "",
    thoughts: "",
    tools: [],
    attempt: 1,
    time,
    since: time,
  });
}

/** What stands inside an answer's text: calls of tools, and what the person said meanwhile. */
function inserted(row: AnswerRow | undefined): readonly { readonly at: number }[] {
  return [...(row?.tools ?? []), ...(row?.steers ?? [])];
}

/** A new round begins a paragraph of its own, as it does in the transcript. */
function seam(row: AnswerRow | undefined): string {
  const length = row?.text.length ?? 0;
  return length > 0 && inserted(row).some(({ at }) => at === length) ? "\n\n" : "";
}

/** The daemon ended in the middle of it. */
function brokenOff(chat: ConversationRows, turnId: string): Pick<AnswerRow, "state"> & Partial<AnswerRow> {
  const message = chat.t("The answer was interrupted.");
  return { state: "failed", error: errorView({ kind: "failed", message }, chat.t, chat.now(), turnId) };
}

/** The turn is over: no tool of it runs or asks any more. */
function cut(row: AnswerRow | undefined): Pick<AnswerRow, "tools"> {
  return { tools: (row?.tools ?? []).map(cutShort) };
}

function begin(
  chat: ConversationRows,
  turnId: string,
  state: "thinking" | "streaming",
  attempt: number,
  time: number,
): void {
  const row = chat.answer(turnId);
  if (!row || row.state === state || row.state === "stopping") return;
  const thoughtMs =
    row.state === "thinking" && state === "streaming" && row.since !== undefined ? time - row.since : undefined;
  chat.change(row.id, "answer", { state, attempt, since: time, ...(thoughtMs === undefined ? {} : { thoughtMs }) });
}

/** A prompt that its turn ended without stands in a row of its own from here on, and not inside the answer. */
function withoutSteer(chat: ConversationRows, id: string): void {
  const row = chat.rows.findLast((one) => one.kind === "answer" && (one.steers ?? []).some((steer) => steer.id === id));
  if (row?.kind !== "answer") return;
  chat.change(row.id, "answer", { steers: (row.steers ?? []).filter((steer) => steer.id !== id) });
}

function finish(
  chat: ConversationRows,
  turnId: string,
  event: { finishReason: string; usage: Usage; turnUsage?: Usage | null | undefined; durationMs: number },
): void {
  const row = chat.answer(turnId);
  if (!row || row.state === "failed") return; // an overflow has said why nothing was sent
  chat.change(row.id, "answer", {
    state: "done",
    ...cut(row),
    finishReason: event.finishReason,
    usage: event.turnUsage ?? event.usage,
    durationMs: event.durationMs,
  });
}

/** One line for a turn, however often it masks: it counts on. */
function masked(chat: ConversationRows, turnId: string, { outputs, tokensSaved }: OutputsMasked): void {
  const id = `m:${turnId}`;
  const before = chat.row(id);
  const known = before?.kind === "notice" ? before.counts : undefined;
  const counts = { outputs: (known?.outputs ?? 0) + outputs, tokens: (known?.tokens ?? 0) + tokensSaved };
  const said =
    counts.outputs === 1
      ? chat.t("1 old output is hidden from Gemini, which frees {0} tokens.", counts.tokens.toLocaleString("en"))
      : chat.t(
          "{0} old outputs are hidden from Gemini, which frees {1} tokens.",
          counts.outputs,
          counts.tokens.toLocaleString("en"),
        );
  const text = `${said} ${chat.t("Nothing is lost: you see them above, and Gemini can recall each one whole.")}`;
  if (known === undefined)
    chat.addBefore(`a:${turnId}`, { kind: "notice", id, level: "info", text, actions: [], counts, time: chat.now() });
  else chat.change(id, "notice", { text, counts });
}

function addReceipt(chat: ConversationRows, turnId: string, receipt: Receipt): void {
  const row = chat.prompt(turnId);
  if (row) chat.change(row.id, "prompt", { receipt: merged(row.receipt, receipt) });
}

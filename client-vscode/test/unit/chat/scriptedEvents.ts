/** Events and contents as the daemon emits them, for the tests of the chat. */
import type { AnswerRow, Row, ToolRow } from "../../../src/panel/contract.js";
import { Conversation } from "../../../src/chat/pure/conversation.js";
import type { ConversationListener } from "../../../src/chat/pure/conversationRows.js";
import { english } from "../../../src/chat/pure/words.js";
import type {
  CompressionInfo,
  CompanionEvent,
  CompressionResult,
  Constraint,
  HistoryItem,
} from "../../../src/protocol.gen.js";

export const NOW = 1_700_000_000_000;

export class Recorder implements ConversationListener {
  readonly changes: string[] = [];
  rows(from: number, count: number): void {
    this.changes.push(`rows ${from}+${count}`);
  }
  delta(row: AnswerRow, field: string, at: number, text: string): void {
    this.changes.push(`delta ${row.id} ${field}@${at} ${text}`);
  }
  output(row: AnswerRow, tool: ToolRow): void {
    this.changes.push(`output ${row.id} ${tool.id} ${tool.output.length}`);
  }
  reset(): void {
    this.changes.push("reset");
  }
}

export class ScriptedEvents {
  readonly recorder = new Recorder();
  readonly chat = new Conversation(this.recorder, english, () => NOW);
  #seq = 0;

  event(event: CompanionEvent, turnId?: string, time = NOW): this {
    this.#seq += 1;
    this.chat.apply({ sessionId: "s", seq: this.#seq, time, event, ...(turnId === undefined ? {} : { turnId }) });
    return this;
  }

  started(turnId: string, text: string): this {
    return this.event({ type: "turnStarted", prompt: [{ text }], model: "gemini-3-pro" }, turnId);
  }

  said(turnId: string, text: string, attempt = 1): this {
    return this.event({ type: "messageDelta", text, attempt }, turnId);
  }

  completed(turnId: string): this {
    return this.event({ type: "turnCompleted", finishReason: "STOP", usage: USAGE, durationMs: 12 }, turnId);
  }

  answer(turnId: string): AnswerRow {
    const row = this.chat.answer(turnId);
    if (!row) throw new Error(`no answer to ${turnId}`);
    return row;
  }

  get rows(): readonly Row[] {
    return this.chat.rows;
  }
}

export const USAGE = { promptTokens: 10, cachedTokens: 0, thoughtTokens: 0, outputTokens: 5, totalTokens: 15 };

let entries = 0;

export function content(kind: string, turnId: string, text: string, more: Partial<HistoryItem> = {}): HistoryItem {
  entries += 1;
  return {
    role: kind === "reply" ? "model" : "user",
    parts: [{ text }],
    entryId: `e${entries}`,
    kind,
    seq: entries,
    turnId,
    time: NOW,
    ...more,
  };
}

export function turn(turnId: string, more: Partial<HistoryItem> = {}): HistoryItem[] {
  return [
    content("prompt", turnId, `prompt of ${turnId}`, more),
    content("reply", turnId, `answer of ${turnId}`, more),
  ];
}

export function result(status: CompressionResult["status"], more: Partial<CompressionResult> = {}): CompressionResult {
  return {
    status,
    trigger: "manual",
    originalTokenCount: 812_340,
    newTokenCount: 96_120,
    tokenCountSource: "api",
    modelCalls: 2,
    durationMs: 9,
    message: "Compressed from 812,340 to 96,120 tokens.",
    compressionId: "c1",
    snapshot: "<state_snapshot/>",
    ...more,
  };
}

export function compression(
  state: CompressionInfo["state"],
  seq: number,
  more: Partial<CompressionInfo> = {},
): CompressionInfo {
  return {
    compressionId: "c1",
    status: "COMPRESSED",
    trigger: "manual",
    time: NOW,
    originalTokenCount: 812_340,
    newTokenCount: 96_120,
    state,
    seq,
    ...more,
  };
}

/** A rule of the prompt of t1, in force. */
export function constraint(more: Partial<Constraint> = {}): Constraint {
  return {
    constraintId: "r1",
    text: "never touch generated/",
    scope: "session",
    state: "inForce",
    createdAt: NOW,
    source: "prompt",
    turnId: "t1",
    ...more,
  };
}

/** What the events about tools do to the rows. */
import type { ToolRow } from "../../panel/contract.js";
import { TOOL_STATES } from "../../panel/statuses.js";
import type { BackgroundCommand, CompanionEvent, ShownCall } from "../../protocol.gen.js";
import type { ConversationRows } from "./conversationRows.js";
import {
  askedTool,
  endedTool,
  questionView,
  rowOfQuestion,
  settledTool,
  shownTool,
  toolRow,
  withOutput,
} from "./toolRows.js";

type ToolEvent = Extract<
  CompanionEvent,
  {
    readonly type:
      | "toolCallStarted"
      | "toolCallProgress"
      | "toolCallCompleted"
      | "toolQuestionAsked"
      | "toolQuestionAnswered"
      | "commandsChanged";
  }
>;

export function applyToolEvent(chat: ConversationRows, event: ToolEvent, turnId: string, time: number): void {
  switch (event.type) {
    case "toolCallStarted": {
      const known = chat.tool(event.toolCallId)?.tool;
      const at = known?.at ?? chat.answer(turnId)?.text.length ?? 0;
      const state = event.state ?? "running";
      const row = toolRow({ id: event.toolCallId, name: event.name, args: event.args, at }, state, chat);
      const asked = state === "waiting" && known !== undefined ? pending(known) : {};
      chat.setTool(turnId, { ...row, ...asked, ...(state === "running" ? { startedAt: time } : {}) });
      goesOn(chat, turnId, time);
      return;
    }
    case "toolCallProgress":
      chat.extendTool(event.toolCallId, event.output);
      return;
    case "toolCallCompleted": {
      const found = chat.tool(event.toolCallId);
      if (found === undefined) return;
      const { outcome, summary, durationMs, consent } = event;
      chat.setTool(
        found.turnId,
        endedTool(found.tool, { outcome, summary, durationMs, ...(consent === undefined ? {} : { consent }) }),
      );
      goesOn(chat, found.turnId, time);
      return;
    }
    case "toolQuestionAsked": {
      const { question } = event;
      const found = chat.tool(question.toolCallId);
      const at = chat.answer(question.turnId)?.text.length ?? 0;
      const tool = found?.tool ?? rowOfQuestion(question, at, chat);
      const isOurs = tool.question?.isOurs ?? false;
      chat.setTool(found?.turnId ?? question.turnId, askedTool(tool, questionView(question, isOurs)));
      goesOn(chat, found?.turnId ?? question.turnId, time);
      return;
    }
    case "toolQuestionAnswered":
      settle(chat, event.toolCallId, time);
      return;
    case "commandsChanged":
      for (const command of event.commands) inBackground(chat, command);
      return;
  }
}

/** What a call did, as far as the daemon tells it. */
export function showCall(chat: ConversationRows, callId: string, shown: ShownCall): void {
  const found = chat.tool(callId);
  if (found !== undefined) chat.setTool(found.turnId, shownTool(found.tool, shown));
}

/** The question of a call is settled, by whomever. */
export function settle(chat: ConversationRows, callId: string, time: number): void {
  const found = chat.tool(callId);
  if (found === undefined) return;
  chat.setTool(found.turnId, settledTool(found.tool));
  goesOn(chat, found.turnId, time);
}

function pending({ question, asks }: ToolRow): Partial<ToolRow> {
  return { ...(question === undefined ? {} : { question }), ...(asks === undefined ? {} : { asks }) };
}

/** The answer waits while anybody is asked, and works on else. */
export function goesOn(chat: ConversationRows, turnId: string, time: number): void {
  const row = chat.answer(turnId);
  if (row === undefined || row.state === "stopping" || !chat.isUnderWay(row.id)) return;
  const asks = row.tools.some(({ question, asks: words }) => question !== undefined || words !== undefined);
  const state = asks ? "waiting" : "working";
  if (row.state !== state) chat.change(row.id, "answer", { state, since: time });
}

/** A command that runs on after its call. */
function inBackground(chat: ConversationRows, command: BackgroundCommand): void {
  const found = chat.tool(command.toolCallId);
  if (found === undefined || (!TOOL_STATES[found.tool.state].isEnded && command.state === "running")) return;
  const output = command.output ?? "";
  const shown = output === "" ? found.tool : withOutput(found.tool, output);
  if (found.tool.background === command.state && shown.output === found.tool.output) return;
  chat.setTool(found.turnId, {
    ...shown,
    background: command.state,
    ...(command.exitCode === undefined ? {} : { summary: chat.t("exit code {0}", command.exitCode) }),
  });
}

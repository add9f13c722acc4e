/** Tools in the editor around the panel: the daemon's questions, the way to them, the mode. */
import { commands, window, type Disposable } from "vscode";
import { exactText } from "../panel/exact.js";
import { MODES } from "../panel/tools.js";
import type { Mode } from "../panel/contract.js";
import { ServerRequestMethod } from "../protocol.gen.js";
import type { Chat } from "./chat.js";
import type { ChatView } from "./chatView.js";
import type { Asked } from "./questions.js";
import { inform, stand } from "../toasts.js";

/** Set while a question waits in the open chat; the key that leads there is of use then. */
const QUESTION_KEY = "geminiCompanion.hasQuestion";

export function registerTools(chat: Chat, view: ChatView): Disposable[] {
  const { daemon, questions, t } = chat;
  let isAsked = false;
  const tellKey = (): void => {
    const now = questions.waiting(chat.info?.sessionId).length > 0;
    if (now !== isAsked) void commands.executeCommand("setContext", QUESTION_KEY, now);
    isAsked = now;
  };

  /** To the oldest question of the open chat. */
  async function toQuestion(): Promise<void> {
    const [first] = questions.waiting(chat.info?.sessionId);
    const turnId = first && chat.conversation.tool(first.callId)?.turnId;
    const row = turnId === undefined ? undefined : chat.conversation.indexOf(`a:${turnId}`);
    if (first === undefined || row === undefined) {
      void inform(t("Nothing waits for an answer in this chat."));
      return;
    }
    await view.command({ do: "toQuestion", row, callId: first.callId });
  }

  /** Somebody looks elsewhere: say so, and take the focus from nobody. */
  function notify({ sessionId, callId, title }: Asked): void {
    const isShown = (): boolean => sessionId === chat.info?.sessionId;
    if (view.isVisible && isShown()) return;
    if (isShown()) view.markUnseen();
    const show = async (): Promise<void> => {
      if (!isShown()) await chat.open(sessionId);
      await toQuestion();
    };
    const ended = new Promise<void>((end) => {
      const over = (): void => {
        for (const subscription of subscriptions) subscription.dispose();
        end();
      };
      const subscriptions = [
        questions.onDidSettle((settled) => settled === callId && over()),
        // It stands in sight then.
        chat.onDidChange(() => view.isVisible && isShown() && over()),
        view.onDidShow(() => isShown() && over()),
      ];
    });
    stand(t("Gemini asks: {0}", exactText(title)), [{ label: t("Show"), run: () => void chat.guard(show) }], ended);
  }

  async function chooseMode(): Promise<void> {
    const items = (Object.keys(MODES) as Mode[]).map((mode) => ({
      label: t(MODES[mode].label),
      description: mode === chat.work.mode ? t("in use") : "",
      detail: t(MODES[mode].description),
      mode,
    }));
    const chosen = await window.showQuickPick(items, { title: t("What tools may do unasked in this chat") });
    if (chosen !== undefined) await chat.work.setMode(await chat.session(), chosen.mode);
  }

  async function goOn(): Promise<void> {
    if (chat.conversation.rows.some((row) => row.kind === "answer" && row.canGoOn === true)) await chat.prompts.goOn();
    else void inform(t("No answer of this chat was interrupted where it could go on."));
  }

  return [
    daemon.handle(ServerRequestMethod.confirmTool, (params, token) => questions.confirm(params, token)),
    daemon.handle(ServerRequestMethod.askUser, (params, token) => questions.ask(params, token)),
    questions.onDidAsk(notify),
    chat.onDidChange(tellKey),
    commands.registerCommand("geminiCompanion.toQuestion", () => chat.guard(toQuestion)),
    commands.registerCommand("geminiCompanion.chooseMode", () => chat.guard(chooseMode)),
    commands.registerCommand("geminiCompanion.toolRules", () => view.command({ do: "openToolRules" })),
    commands.registerCommand("geminiCompanion.goOn", () => chat.guard(goOn)),
  ];
}

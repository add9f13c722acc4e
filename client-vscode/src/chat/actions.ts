/** What the page asks for, done. Decisions are the daemon's and the chat's; this only passes on. */
import { commands, env, Uri } from "vscode";
import type { Compressions } from "../compression/compressions.js";
import type { ContextReporterPort } from "../context/port.js";
import { openPlace } from "../daemon/settingsFile.js";
import type { Action, FromPage } from "../panel/contract.js";
import { OFFLINE_MODEL } from "../panel/models.js";
import type { Chat } from "./chat.js";
import type { EditorPort } from "./editorPort.js";
import type { Places } from "./places.js";
import type { SessionActions } from "./sessionActions.js";
import type { ToolActions } from "./toolActions.js";

export interface ActionNeeds {
  readonly chat: Chat;
  readonly compressions: Compressions;
  readonly reporter: ContextReporterPort;
  readonly editor: EditorPort;
  readonly places: Places;
  readonly tools: ToolActions;
  readonly sessions: SessionActions;
  /** Somebody writes a prompt: what goes along with it is looked at again. */
  readonly typed: () => void;
  /** Put text into the composer. */
  readonly insert: (text: string) => void;
  /** Show what a compression keeps word for word. */
  readonly showKept: (compressionId: string) => void;
  /** The person knows that the offline model answers. */
  readonly knowOffline: () => void;
  /** A page or a model sent something that is none of ours. */
  readonly log: (message: string) => void;
}

type Message<T extends FromPage["type"]> = Extract<FromPage, { type: T }>;

export class Actions {
  constructor(private readonly needs: ActionNeeds) {}

  /** Everything of the page but `ready`, `focus` and `call`, which the view answers itself. Never rejects. */
  async handle(message: FromPage): Promise<void> {
    await this.needs.chat.guard(() => this.#dispatch(message));
  }

  async #dispatch(message: FromPage): Promise<void> {
    const { chat, compressions, editor, reporter } = this.needs;
    if (message.chat !== undefined && message.chat !== chat.number && isOfShown(message)) return;
    switch (message.type) {
      case "draft":
        chat.setDraft(message.text, message.scroll, message, message.draft);
        this.needs.typed();
        return;
      case "send":
        await chat.prompts.send(message.text, message);
        return;
      case "stop":
        await chat.prompts.stop();
        return;
      case "action":
        await this.act(message.action);
        return;
      case "chip":
        reporter.setIncluded(message.uri, message.included);
        return;
      case "queue":
        await this.#queue(message);
        return;
      case "model":
        chat.chooseModel(message.name === "" ? undefined : message.name);
        return;
      case "code":
        if (message.do === "copy") await env.clipboard.writeText(message.text);
        else if (message.do === "insert") await editor.insertCode(message.text);
        else await editor.applyCode(message.text, message.language);
        return;
      case "copy":
        await env.clipboard.writeText(message.text);
        return;
      case "read":
        await editor.showText(message.name.replace(/[\\/]/g, "-"), message.text);
        return;
      case "openPicture": {
        const path = await chat.pictures.path(message.digest);
        if (path !== undefined) await commands.executeCommand("vscode.open", Uri.file(path));
        return;
      }
      case "open":
        await editor.openHref(message.href);
        return;
      case "openMemory":
        await this.#openMemory(message.path);
        return;
      case "openSource":
        await this.#openSource(message.path);
        return;
      case "turn":
        await this.#turn(message);
        return;
      case "compression":
        await this.#compression(message);
        return;
      case "compress":
        await (message.preview
          ? compressions.preview(message)
          : compressions.compress(message.guided, message.strategy));
        return;
      case "rule":
        await chat.daemon.request("gemini/constraints/set", {
          sessionId: await chat.session(),
          constraintId: message.constraintId,
          state: message.state,
        });
        return;
      case "place":
        await this.needs.places.show(message);
        return;
      case "chat":
        await this.needs.sessions.handle(message);
        return;
      case "openSession":
        await chat.open(message.sessionId);
        return;
      case "drop": {
        const mentions = editor.mentionsOf(message.uris);
        if (mentions.length > 0) this.needs.insert(`${mentions.join(" ")} `);
        return;
      }
      case "tool":
      case "answerTool":
      case "answerUser":
      case "changes":
        await this.needs.tools.handle(message);
        return;
      case "mode":
        await chat.work.setMode(await chat.session(), message.mode);
        return;
      case "defect":
        this.needs.log(`panel: ${message.message}`);
        return;
      case "ready":
      case "focus":
      case "call":
        return;
    }
  }

  /** A button of an error, a banner or a notice. */
  async act(action: Action): Promise<void> {
    const { chat, compressions } = this.needs;
    switch (action.id) {
      case "setApiKey":
        await commands.executeCommand("geminiCompanion.setApiKey");
        return;
      case "retry":
        if (action.argument === undefined) chat.dismissFault();
        else await chat.prompts.retry(action.argument);
        return;
      case "compress":
        await compressions.compress(false);
        return;
      case "openSettingsFile":
        await this.#openSettingsFile(action.argument);
        return;
      case "openSettings":
        await openSettings(action.argument ?? "geminiCompanion");
        return;
      case "manageTrust":
        await commands.executeCommand("workbench.trust.manage");
        return;
      case "restartDaemon":
        await commands.executeCommand("geminiCompanion.restartDaemon");
        return;
      case "showLog":
        await commands.executeCommand("geminiCompanion.showLog");
        return;
      case "choosePython":
        await commands.executeCommand("geminiCompanion.choosePython");
        return;
      case "forkSession":
        await chat.fork();
        return;
      case "takeOver":
        await chat.open(chat.info?.sessionId, true);
        return;
      case "newSession":
        await chat.startNew();
        return;
      case "useOffline":
        chat.chooseModel(OFFLINE_MODEL);
        return;
      case "installUpdate":
        await commands.executeCommand("geminiCompanion.installUpdate", action.argument);
        return;
      case "reloadWindow":
        await commands.executeCommand("workbench.action.reloadWindow");
        return;
      case "openWalkthrough":
        await commands.executeCommand("geminiCompanion.openWalkthrough");
        return;
      case "resumeTurn":
        await chat.prompts.goOn();
        return;
      case "remindLater":
        chat.remindLater();
        return;
      case "continueAnyway":
        if (action.argument === "daemon") await commands.executeCommand("geminiCompanion.continueWithDaemon");
        else this.needs.knowOffline();
        return;
    }
  }

  async #queue(message: Message<"queue">): Promise<void> {
    const { chat } = this.needs;
    if (message.do === "sendNow") await chat.prompts.sendQueued(message.id);
    else if (message.do === "remove") chat.prompts.removeQueued(message.id);
    else chat.prompts.editQueued(message.id, message.text ?? "", message);
  }

  /** The page shows what a model wrote: only what the daemon names as a memory file is opened, wherever it is. */
  async #openMemory(path: string): Promise<void> {
    const { chat, editor } = this.needs;
    const { files } = await chat.daemon.request("gemini/memory/list", {});
    const isMemory = files.some((file) => file.path === path || file.imports.includes(path));
    await (isMemory ? editor.openFile(path) : editor.openHref(path));
  }

  /** The same for the files of skills and of slash commands. */
  async #openSource(path: string): Promise<void> {
    const { chat, editor } = this.needs;
    const { skills, problems } = await chat.daemon.request("gemini/skills/list", {});
    const { commands, problems: more } = await chat.daemon.request("gemini/commands/list", {});
    const isOne = [...skills, ...problems, ...commands, ...more].some((source) => source.path === path);
    await (isOne ? editor.openFile(path) : editor.openHref(path));
  }

  async #turn(message: Message<"turn">): Promise<void> {
    const { chat } = this.needs;
    switch (message.do) {
      case "retry":
        await chat.prompts.retry(message.turnId);
        return;
      case "fork":
        await chat.fork(message.turnId);
        return;
      case "copy":
        await env.clipboard.writeText(
          chat.conversation.answer(message.turnId)?.text ?? chat.conversation.prompt(message.turnId)?.text ?? "",
        );
        return;
      case "showSent": {
        const { turnId } = message;
        const sent = await chat.daemon.request("gemini/commands/sent", { sessionId: await chat.session(), turnId });
        await this.needs.editor.showText(
          `${sent.line.split(/\s/)[0]?.slice(1).replaceAll(":", "-") ?? "command"}.md`,
          sent.text,
        );
        return;
      }
      case "goBack":
        await this.needs.tools.goBack(message.turnId);
        return;
      case "pin":
        await chat.daemon.request("gemini/pin", { sessionId: await chat.session(), turnId: message.turnId });
        await chat.refresh();
        return;
      case "unpin": {
        const pinId = chat.conversation.prompt(message.turnId)?.pinId;
        if (pinId === undefined) return;
        await chat.daemon.request("gemini/unpin", { sessionId: await chat.session(), pinId });
        await chat.refresh();
        return;
      }
    }
  }

  async #compression(message: Message<"compression">): Promise<void> {
    const { compressions } = this.needs;
    const { compressionId } = message;
    switch (message.do) {
      case "view":
        return compressions.view(compressionId);
      case "compare":
        return compressions.compare(compressionId);
      case "kept":
        this.needs.showKept(compressionId);
        return;
      case "edit":
        return compressions.edit(compressionId);
      case "apply":
        return compressions.apply(compressionId);
      case "discard":
        return compressions.discard(compressionId);
      case "renew":
        return compressions.preview().then(() => undefined);
      case "undo":
        return compressions.undo(compressionId);
      case "cancelUndo":
        compressions.cancelUndo(compressionId);
        return;
      case "cancel":
        return compressions.cancel(compressionId);
      case "rate":
        return compressions.rate(compressionId, message.rating);
    }
  }

  async #openSettingsFile(place: string | undefined): Promise<void> {
    if (place === undefined || !(await openPlace(place))) await commands.executeCommand("geminiCompanion.showLog");
  }
}

/**
 * Whether a message means something of the chat that the page shows. It comes to nothing where another one has just taken that chat's place:
 * what was pressed was never meant for it. What names its chat or its call, or holds for all chats, is not among them.
 */
function isOfShown(message: FromPage): boolean {
  if (message.type === "chat") return message.do !== "new" && message.sessionId === undefined;
  if (message.type === "place") return message.sessionId === undefined;
  return !OF_NO_CHAT.has(message.type);
}

const OF_NO_CHAT: ReadonlySet<FromPage["type"]> = new Set<FromPage["type"]>([
  "ready",
  "focus",
  "call",
  "defect",
  "send", // says for itself what comes of it
  "draft",
  "model",
  "code",
  "copy",
  "read",
  "openPicture",
  "open",
  "openMemory",
  "openSource",
  "openSession",
  "drop",
  "answerTool",
  "answerUser",
]);

/** What is set for each machine is shown among the settings of the machine that the window works on. */
async function openSettings(query: string): Promise<void> {
  const isMachines = env.remoteName !== undefined && query.startsWith("geminiCompanion.server");
  await commands.executeCommand(isMachines ? "workbench.action.openRemoteSettings" : "workbench.action.openSettings", {
    query,
  });
}

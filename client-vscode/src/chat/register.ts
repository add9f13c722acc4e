/** The chat, its panel, meter and commands, put together. */
import {
  commands,
  window,
  workspace,
  type ConfigurationChangeEvent,
  type ExtensionContext,
  type QuickPickItem,
  Uri,
  env,
  l10n,
} from "vscode";
import { Compressions } from "../compression/compressions.js";
import { SnapshotFiles, TextViews } from "../compression/documents.js";
import { EditedPreviews } from "../compression/editedPreviews.js";
import type { ContextReporterPort } from "../context/port.js";
import type { DaemonPort } from "../daemon/port.js";
import { Signal } from "../daemon/signal.js";
import type { PanelSettings, PanelState } from "../panel/contract.js";
import { SnapshotSources } from "../compression/sources.js";
import { StatusMeter } from "../status/meter.js";
import { Actions } from "./actions.js";
import type { EditorPort } from "./editorPort.js";
import { Chat } from "./chat.js";
import { chooseCommand } from "./chooseCommand.js";
import { ChatView, VIEW_ID } from "./chatView.js";
import { DraftFiles } from "./draftFiles.js";
import { Pictures } from "./pictures.js";
import { openChat, tellOfEnd } from "./endNotice.js";
import { Outlook } from "./outlook.js";
import { Places } from "./places.js";
import { SessionActions } from "./sessionActions.js";
import { registerTools } from "./registerTools.js";
import { ToolActions } from "./toolActions.js";
import { hiddenRuns } from "./pure/history.js";
import { panelState } from "./pure/panelState.js";
import type { Translate } from "./pure/words.js";
import { inform } from "../toasts.js";

export interface ChatParts {
  readonly daemon: DaemonPort;
  readonly reporter: ContextReporterPort;
  readonly editor: EditorPort;
  readonly log: (message: string) => void;
}

/** What the rest of the extension can ask of the chat. */
export interface ChatCommands {
  /** Put a prompt into the composer, and send it if wished. */
  ask(text: string, options: { readonly send: boolean }): Promise<void>;
  readonly isPanelVisible: () => boolean;
  /** A settings file is broken or mended. */
  settingsChanged(): void;
}

/** Of a long selection its beginning is what is looked for, characters. */
const LONGEST_QUERY = 300;

const KNOWS_OFFLINE = "knowsOffline";

export function registerChat(context: ExtensionContext, parts: ChatParts): ChatCommands {
  const { daemon, reporter, editor, log } = parts;
  const t: Translate = (text, ...args) => l10n.t(text, ...args);
  const pictures = new Pictures(context.storageUri?.fsPath, t);
  void pictures.sweep();
  const chat = new Chat({
    daemon,
    reporter,
    drafts: new DraftFiles(context.storageUri?.fsPath),
    pictures,
    memory: context.workspaceState,
    place: (path) => workspace.asRelativePath(path),
    t,
  });
  const views = new TextViews();
  const files = new SnapshotFiles(new EditedPreviews(context.storageUri?.fsPath));
  const typed = new Signal<void>();
  const outlook = new Outlook(chat, reporter, [
    typed.event,
    workspace.onDidChangeTextDocument,
    workspace.onDidSaveTextDocument,
    workspace.onDidOpenTextDocument,
    workspace.onDidCreateFiles,
    workspace.onDidDeleteFiles,
    workspace.onDidRenameFiles,
    workspace.onDidChangeWorkspaceFolders,
    workspace.onDidChangeConfiguration,
    window.onDidChangeWindowState,
  ]);
  const sources = new SnapshotSources({
    daemon,
    show: (place) => chat.guard(() => places.show(place)),
    nameOf: (turnId) => chat.conversation.prompt(turnId)?.text.replace(/\s+/g, " ").trim().slice(0, 80),
    t,
  });
  const showPanel = (): Promise<void> => view.command({ do: "focusComposer" });
  const compressions = new Compressions({
    chat,
    views,
    files,
    sources,
    isChatVisible: () => view.isVisible,
    showRow: (rowId) => view.showRow(rowId),
    openChat: (sessionId) => chat.guard(() => openChat(chat, sessionId, showPanel)),
  });
  const view: ChatView = new ChatView({ context, chat, actions: () => actions, state, log });
  const places = new Places(
    chat,
    (wanted) => view.command(wanted),
    (text) => void inform(text),
  );
  const tools = new ToolActions(chat, editor, (text) => chat.prefill(text));
  const sessions = new SessionActions(chat, views);
  const actions = new Actions({
    chat,
    places,
    tools,
    sessions,
    compressions,
    reporter,
    editor,
    typed: () => typed.fire(),
    showKept: (compressionId) => void view.command({ do: "openKept", compressionId }),
    insert: (text) => void view.command({ do: "insert", text }),
    knowOffline: () => void context.globalState.update(KNOWS_OFFLINE, true).then(() => chat.dismissFault()),
    log,
  });

  function state(): PanelState {
    return panelState(
      {
        chat: chat.number,
        coming: chat.coming,
        others: chat.others,
        daemon: daemon.view,
        trusted: workspace.isTrusted,
        info: chat.info,
        models: chat.models,
        askedModel: chat.askedModel,
        status: chat.status,
        job: chat.job,
        files: reporter.files,
        outlook: outlook.files,
        relative: (uri) => workspace.asRelativePath(Uri.parse(uri)),
        constraints: chat.conversation.constraints,
        reminds: chat.isReminderDue,
        queue: chat.queue.prompts,
        work: {
          mode: chat.work.mode,
          tasks: chat.work.tasks,
          changes: chat.work.changes,
          questions: chat.questions.waiting(chat.info?.sessionId).length,
          canSteer: chat.canSteer,
        },
        sourceChanges: chat.sourceChanges,
        serverChanges: chat.serverChanges,
        queueHeld: chat.job.kind === "idle" ? chat.queue.held : undefined,
        retryTurn: chat.retryTurn,
        hidden: hiddenRuns(chat.conversation.rows),
        fault: chat.fault,
        settings: panelSettings(),
        knowsOffline: context.globalState.get(KNOWS_OFFLINE) === true,
      },
      t,
    );
  }

  const own: { dispose(): unknown }[] = [
    chat,
    views,
    files,
    sources,
    outlook,
    typed,
    tools,
    view,
    ...registerTools(chat, view),
    new StatusMeter(chat),
    window.registerWebviewViewProvider(VIEW_ID, view, { webviewOptions: { retainContextWhenHidden: true } }),
    chat.onAnswerEnd(({ sessionId, state: end }) => {
      if (end !== "done" && end !== "failed" && end !== "blocked") return;
      if (view.isVisible && sessionId === chat.info?.sessionId) return;
      view.markUnseen();
      if (workspace.getConfiguration("geminiCompanion").get("notifyWhenDone") === true)
        void chat.guard(() => tellOfEnd(chat, sessionId, end === "done", showPanel));
    }),
    outlook.onDidChange(() => chat.touch()),
    workspace.onDidGrantWorkspaceTrust(() => chat.touch()),
    workspace.onDidChangeConfiguration((event: ConfigurationChangeEvent) => {
      if (event.affectsConfiguration("geminiCompanion.model")) void chat.guard(() => chat.modelSettingChanged());
      if (event.affectsConfiguration("geminiCompanion")) chat.touch();
    }),
  ];

  const command = (name: string, work: (...args: unknown[]) => Promise<void> | void): void => {
    own.push(
      commands.registerCommand(`geminiCompanion.${name}`, (...args: unknown[]) =>
        chat.guard(async () => work(...args)),
      ),
    );
  };
  command("compress", () => compressions.compress(false));
  command("compressWithGuidance", () => compressions.compress(true));
  command("previewCompression", () => compressions.preview());
  command("showCompressionStatus", () => compressions.showStatus());
  command("undoCompression", () => compressions.undo());
  command("showSnapshot", () => compressions.view());
  command("rateCompression", () => compressions.rate(undefined));
  command("applySnapshot", (target) => onSnapshot(target, (id, of) => compressions.apply(id, of)));
  command("discardSnapshot", (target) => onSnapshot(target, (id, of) => compressions.discard(id, of)));
  command("newChat", async () => {
    // Shown at once and in its turn: the daemon may only be starting, and what is asked for next comes after it.
    await Promise.all([showPanel(), chat.startNew()]);
  });
  command("openAsMarkdown", () => sessions.openAsMarkdown());
  command("showSystemPrompt", () => sessions.showSystemPrompt());
  command("showContext", () => view.command({ do: "openMeter" }));
  command("focusChat", () => focusChat());
  command("find", () => view.command({ do: "find" }));
  command("sessions", () => view.command({ do: "openSessions" }));
  command("stop", () => chat.prompts.stop());
  command("chooseModel", () => chooseModel());
  command("pinSelection", () => pinSelection());
  command("kept", () => view.command({ do: "openKept" }));
  command("rules", () => view.command({ do: "openRules" }));
  command("statistics", () => view.command({ do: "openStatistics" }));
  command("memory", () => view.command({ do: "openMemory" }));
  command("skills", () => view.command({ do: "openSkills" }));
  command("slashCommands", () => chooseCommand(chat, view));
  command("mcpServers", () => view.command({ do: "openServers" }));
  command("recall", () => view.command({ do: "openSessions" }));
  command("recallSelection", () => view.command({ do: "openSessions", query: selectedText().slice(0, LONGEST_QUERY) }));
  context.subscriptions.push(...own);

  /** Of the chat whose preview the editor holds: another one may be shown. */
  async function onSnapshot(target: unknown, work: (id: string, of: string) => Promise<void>): Promise<void> {
    const uri = target instanceof Uri ? target : window.activeTextEditor?.document.uri;
    const held = uri && SnapshotFiles.previewOf(uri);
    if (held) await work(held.compressionId, held.sessionId);
  }

  /** To the composer, and from there back to the editor. */
  async function focusChat(): Promise<void> {
    if (view.isFocused) await commands.executeCommand("workbench.action.focusActiveEditorGroup");
    else await showPanel();
  }

  async function chooseModel(): Promise<void> {
    chat.models = await daemon.request("gemini/models", {});
    const { models, default: bySettings } = chat.models;
    const now = chat.askedModel ?? bySettings;
    const items = models.map((model) => ({
      label: model.name,
      description: model.name === now ? t("in use") : "",
      detail: model.description,
      name: model.name,
    }));
    const fromSettings = { label: t("As the settings say"), description: "", detail: "", name: undefined };
    const chosen = await window.showQuickPick<QuickPickItem & { readonly name: string | undefined }>(
      [fromSettings, ...items],
      { title: t("Model for the next prompts"), matchOnDetail: true },
    );
    if (chosen) chat.chooseModel(chosen.name);
  }

  async function pinSelection(): Promise<void> {
    const text = selectedText();
    if (!text.trim()) {
      void inform(t("Select the text that Gemini must always keep word for word, then pin it."));
      return;
    }
    await daemon.request("gemini/pin", { sessionId: await chat.session(), text });
    void window.setStatusBarMessage(t("Pinned: it stands word for word after every compression."), 5_000);
  }

  return {
    ask: (text, { send }) => view.command({ do: "insert", text, send }),
    isPanelVisible: () => view.isVisible,
    settingsChanged: () => void chat.guard(() => chat.modelSettingChanged()),
  };
}

function selectedText(): string {
  const active = window.activeTextEditor;
  return active?.document.getText(active.selection) ?? "";
}

function panelSettings(): PanelSettings {
  const settings = workspace.getConfiguration("geminiCompanion");
  const announce = settings.get<unknown>("announce");
  return {
    sendWith: settings.get<unknown>("sendWith") === "ctrlEnter" ? "ctrlEnter" : "enter",
    messageKeys: settings.get<unknown>("messageKeys") !== false,
    announce: announce === "off" || announce === "answer" ? announce : "summary",
    platform: process.platform === "darwin" ? "mac" : "other",
    locale: env.language,
  };
}

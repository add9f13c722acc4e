/** What the person does with tools from the panel: answers their questions, stops them, keeps and undoes what they changed. */
import { CancellationTokenSource, window, type Disposable } from "vscode";
import type { FromPage, PromptRow } from "../panel/contract.js";
import type { RevertResult } from "../protocol.gen.js";
import type { Chat } from "./chat.js";
import type { EditorPort, OpenReview } from "./editorPort.js";
import { oldestTurn, textBefore } from "./pure/changes.js";
import { showCall } from "./pure/toolEvents.js";
import { fail, inform } from "../toasts.js";

type Message<T extends FromPage["type"]> = Extract<FromPage, { type: T }>;

/** Most files that a question names. */
const MOST_NAMED = 8;

interface Review {
  readonly source: CancellationTokenSource;
  readonly review: Promise<OpenReview>;
}

export class ToolActions implements Disposable {
  /** The diffs of questions that somebody looks at, by the id of the call. */
  readonly #reviews = new Map<string, Review>();
  readonly #settled: Disposable;

  constructor(
    private readonly chat: Chat,
    private readonly editor: Pick<EditorPort, "reviewText" | "showChange" | "showText" | "textOf">,
    /** Put a text into the composer. */
    private readonly prefill: (text: string) => void,
  ) {
    this.#settled = chat.questions.onDidSettle((callId) => this.#close(callId));
  }

  async handle(message: Message<"tool" | "answerTool" | "answerUser" | "changes">): Promise<void> {
    switch (message.type) {
      case "tool":
        await this.#tool(message);
        return;
      case "answerTool":
        await this.#answer(message);
        return;
      case "answerUser":
        this.chat.questions.answerUser(message.callId, message.answer);
        return;
      case "changes":
        await this.#changes(message);
        return;
    }
  }

  dispose(): void {
    this.#settled.dispose();
    for (const callId of [...this.#reviews.keys()]) this.#close(callId);
  }

  async #tool({ do: what, callId }: Message<"tool">): Promise<void> {
    const { chat } = this;
    switch (what) {
      case "stop":
        await chat.daemon.request("gemini/commands/stop", { sessionId: await chat.session(), toolCallId: callId });
        return;
      case "output":
        await this.#readOutput(callId);
        return;
      case "openDiff":
        await this.#openDiff(callId);
        return;
    }
  }

  /** What a call did, which its row has in part or not at all. */
  async #readOutput(toolCallId: string): Promise<void> {
    const { conversation, daemon, info } = this.chat;
    if (info === undefined) return;
    const shown = await daemon.request("gemini/tools/shown", { sessionId: info.sessionId, toolCallId });
    showCall(conversation, toolCallId, shown);
  }

  async #answer(message: Message<"answerTool">): Promise<void> {
    const { chat } = this;
    const { callId, outcome } = message;
    const asked = chat.questions.question(callId);
    if (asked === undefined) return;
    // Whoever corrected the text and says yes in the chat means the corrected one.
    const review = outcome === "reject" ? undefined : await this.#reviews.get(callId)?.review;
    const content = review?.read();
    const edited = content === undefined || content === asked.newContent ? undefined : content;
    const { type: _type, ...answer } = message;
    if (!chat.questions.answer(answer, edited) && chat.questions.question(callId) !== undefined)
      void fail(chat.t("These arguments are no JSON object. Edit them again, or say no to the tool."));
  }

  async #openDiff(callId: string): Promise<void> {
    const { chat } = this;
    const asked = chat.questions.question(callId);
    if (asked?.path === undefined || asked.newContent === undefined || this.#reviews.has(callId)) return;
    const source = new CancellationTokenSource();
    const review = this.editor.reviewText(asked.path, asked.newContent, source.token);
    this.#reviews.set(callId, { source, review });
    try {
      const end = await (await review).end;
      if (end.outcome === "closed") return;
      const isEdited = end.outcome === "accepted" && end.content !== asked.newContent;
      const outcome = end.outcome === "accepted" ? "once" : "reject";
      chat.questions.answer({ callId, outcome }, isEdited ? end.content : undefined);
    } finally {
      this.#close(callId);
    }
  }

  #close(callId: string): void {
    const review = this.#reviews.get(callId);
    if (review === undefined) return;
    this.#reviews.delete(callId);
    review.source.cancel();
    review.source.dispose();
  }

  // --------------------------------------------------------------------------------------------------------------- changes

  async #changes({ do: what, path }: Message<"changes">): Promise<void> {
    const { work } = this.chat;
    switch (what) {
      case "keep":
        await work.keep(path);
        return;
      case "undo": {
        const since = path === undefined ? oldestTurn(work.changesOf()) : undefined;
        if (path !== undefined) await this.#undo({ path });
        else if (since !== undefined) await this.#undo({ since });
        return;
      }
      case "diff":
        if (path !== undefined) await this.#showChange(path);
        return;
    }
  }

  /** Put back what can be, say what cannot, and offer to take that back. */
  async #undo(what: { readonly path: string } | { readonly since: string }): Promise<RevertResult> {
    const sessionId = this.chat.info?.sessionId;
    const result = await this.chat.work.revert(what);
    this.#tellConflicts(result);
    if (result.reverted.length > 0) void this.#offerToRedo(result, sessionId);
    return result;
  }

  /** The offer stands there for as long as the person likes: another chat may be shown when it is taken. */
  async #offerToRedo({ reverted, changeId }: RevertResult, sessionId: string | undefined): Promise<void> {
    const { chat } = this;
    const text =
      reverted.length === 1
        ? chat.t("{0} is as it was before.", chat.conversation.place(reverted[0] ?? ""))
        : chat.t("{0} files are as they were before.", reverted.length);
    const redo = chat.t("Redo");
    const chosen = await inform(text, ...(changeId === undefined ? [] : [redo]));
    if (chosen !== redo || changeId === undefined) return;
    await chat.guard(async () => this.#tellConflicts(await chat.work.revert({ changeId }, sessionId)));
  }

  #tellConflicts({ conflicts }: RevertResult): void {
    if (conflicts.length === 0) return;
    const { conversation, t } = this.chat;
    const lines = conflicts.map(({ path, reason }) => `${conversation.place(path)}: ${reason}`);
    conversation.notice("warning", [t("Left as they are:"), ...lines].join("\n"));
  }

  async #showChange(path: string): Promise<void> {
    const { chat, editor } = this;
    const changes = chat.work.changesOf(path);
    const name = chat.conversation.place(path);
    const before = textBefore(await editor.textOf(path), changes);
    if (before !== undefined) await editor.showChange(path, before, chat.t("{0} (before and now)", name));
    else await editor.showText(`${name}.diff`, changes.map(({ diff }) => diff).join("\n"));
  }

  // --------------------------------------------------------------------------------------------------------------- going back

  /** Go on from before a prompt: with the chat as it was then, the files, or both. */
  async goBack(turnId: string): Promise<void> {
    const { chat } = this;
    const { t } = chat;
    const prompt = chat.conversation.prompt(turnId);
    if (prompt === undefined) return;
    const preview = await chat.work.revert({ since: turnId, dryRun: true });
    const canRevert = preview.reverted.length > 0;
    const detail = this.#previewText(preview);
    const choices = [
      ...(canRevert ? [{ label: t("Chat and files"), detail, chat: true, files: true }] : []),
      {
        label: t("Chat only"),
        detail: t("A copy of the chat ends before this prompt; the prompt stands in the composer. This chat stays."),
        chat: true,
        files: false,
      },
      ...(canRevert ? [{ label: t("Files only"), detail, chat: false, files: true }] : []),
    ];
    const chosen = await window.showQuickPick(choices, {
      title: t("Go back to before this prompt"),
      placeHolder: canRevert ? t("What goes back?") : detail || t("No file was changed since."),
      matchOnDetail: true,
    });
    if (chosen === undefined) return;
    const result = chosen.files ? await this.#undo({ since: turnId }) : undefined;
    if (!chosen.chat) return;
    await this.#chatBefore(turnId, prompt);
    // What was said of them stands in the chat that is not shown any more.
    if (result) this.#tellConflicts(result);
  }

  #previewText({ reverted, conflicts }: RevertResult): string {
    const { t, conversation } = this.chat;
    const names = (paths: readonly string[]): string => {
      const shown = paths.slice(0, MOST_NAMED).map((path) => conversation.place(path));
      return [...shown, ...(paths.length > MOST_NAMED ? ["…"] : [])].join(", ");
    };
    return [
      reverted.length > 0 && t("Put back: {0}", names(reverted)),
      conflicts.length > 0 && t("Left as they are: {0}", names(conflicts.map(({ path }) => path))),
    ]
      .filter((part) => part !== false)
      .join(" · ");
  }

  async #chatBefore(turnId: string, { text, pasted = [], pictures = [] }: PromptRow): Promise<void> {
    const { chat } = this;
    const prompts = chat.conversation.rows.filter((row) => row.kind === "prompt");
    const before = prompts[prompts.findIndex((row) => row.turnId === turnId) - 1];
    if (before === undefined) await chat.startNew();
    else await chat.fork(before.turnId);
    chat.draftStore.change({ draft: text, pasted, pictures }); // the page keeps what is written there
    this.prefill(text);
  }
}

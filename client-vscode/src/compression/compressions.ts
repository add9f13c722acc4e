/** What a person does with a compression, from the palette or from its row in the chat. */
import { ProgressLocation, window } from "vscode";
import { visibleText } from "../chat/pure/history.js";
import { number } from "../chat/pure/numbers.js";
import { DaemonFault } from "../daemon/port.js";
import type { StrategyName } from "../panel/compressionWords.js";
import { COMPRESSION_STATUSES } from "../panel/statuses.js";
import type { CompressionInfo, CompressionResult, CompressionStatusReport } from "../protocol.gen.js";
import { attempt, type AttemptNeeds } from "./attempts.js";
import { SnapshotFiles, type TextViews } from "./documents.js";
import { askGuidance, askRating, type Guidance } from "./questions.js";
import type { SnapshotSources } from "./sources.js";
import { comparison, statusText, phaseText } from "./pure/texts.js";
import { WaitingUndos } from "./waitingUndos.js";
import { inform, warn } from "../toasts.js";

export interface CompressionNeeds extends AttemptNeeds {
  readonly views: TextViews;
  readonly files: SnapshotFiles;
  readonly sources: SnapshotSources;
  /** Bring a row of the chat that is shown into sight. */
  readonly showRow: (rowId: string) => void;
}

/** The span that a person chose: everything through a turn, or a turn and everything after it. */
export interface Span {
  readonly upTo?: string;
  readonly from?: string;
}

export class Compressions {
  readonly #undos: WaitingUndos;

  constructor(private readonly needs: CompressionNeeds) {
    this.#undos = new WaitingUndos(needs);
  }

  /** Compress, with guidance if the person wants to give some; by another strategy than the settings name, if one is given. */
  async compress(guided: boolean, strategy?: StrategyName): Promise<void> {
    const guidance = guided ? await askGuidance(this.needs.chat.t) : strategy === undefined ? {} : { strategy };
    if (guidance === undefined) return;
    await this.#run({ preview: false, ...guidance });
  }

  async preview({ upTo, from }: Span = {}, of?: string): Promise<void> {
    const span = { ...(upTo === undefined ? {} : { upTo }), ...(from === undefined ? {} : { from }) };
    const { result, sessionId } = await this.#run({ preview: true, ...span }, of);
    // Another chat may be shown by now, and the person may be writing: what comes by itself takes no focus.
    if (result?.status === "PREVIEW") await this.#view(result.compressionId, sessionId, { preserveFocus: true });
  }

  /** Take a compression back; without an id the newest in force. While an answer is made its row says that this waits. */
  async undo(compressionId?: string, of?: string): Promise<void> {
    const { chat } = this.needs;
    await attempt(this.needs, of, this.#session(of), async (sessionId) => {
      if (sessionId === undefined) {
        this.#missing();
        return;
      }
      const isShown = this.#isShown(sessionId);
      const id = compressionId ?? (isShown ? chat.conversation.undoable?.compressionId : undefined);
      const params = { sessionId, ...(id === undefined ? {} : { compressionId: id }) };
      const result =
        isShown && chat.job.kind === "turn"
          ? await this.#undos.waiting(id ?? "", (token) =>
              chat.daemon.request("gemini/compression/undo", params, token),
            )
          : await chat.daemon.request("gemini/compression/undo", params);
      await this.#done(result, sessionId);
    });
  }

  /** Install a preview, with what was edited in it. */
  async apply(compressionId: string, of?: string): Promise<void> {
    const { chat, files } = this.needs;
    await attempt(this.needs, of, this.#session(of), async (sessionId) => {
      const original = (await this.#find(sessionId, compressionId))?.snapshot;
      if (sessionId === undefined) {
        this.#missing();
        return;
      }
      const edited = await files.current(compressionId, sessionId);
      const snapshot = edited !== undefined && edited !== original ? edited : undefined;
      const params = { sessionId, compressionId, ...(snapshot === undefined ? {} : { snapshot }) };
      const result = await chat.daemon.request("gemini/compression/apply", params).catch((error: unknown) => {
        if (!this.#isOutdated(error, compressionId, sessionId)) throw error;
      });
      if (!result) {
        void this.#tellOutdated(compressionId, sessionId);
        return;
      }
      if (result.status === "COMPRESSED" || result.status === "CONTENT_TRUNCATED")
        await files.close(compressionId, sessionId);
      await this.#done(result, sessionId);
    });
  }

  #isOutdated(error: unknown, compressionId: string, sessionId: string): boolean {
    const kind = error instanceof DaemonFault ? error.data.kind : "";
    const state = this.needs.chat.conversation.divider(compressionId)?.state;
    const wasPreview = state === "preview" || state === "outdated" || !this.#isShown(sessionId);
    return kind === "staleVersion" || (kind === "compressionNotFound" && wasPreview);
  }

  /** Wherever the person is: what was edited may be in front, and stays open. */
  async #tellOutdated(compressionId: string, sessionId: string): Promise<void> {
    const { chat } = this.needs;
    if (this.#isShown(sessionId)) chat.conversation.change(`c:${compressionId}`, "divider", { state: "outdated" });
    const renew = chat.t("New preview");
    const text = chat.t(
      "The preview is out of date: the chat has changed since it was made. What you edited stays open.",
    );
    if ((await warn(text, renew)) === renew) await this.preview({}, sessionId);
  }

  async discard(compressionId: string, of?: string): Promise<void> {
    const { chat, files, views } = this.needs;
    await attempt(this.needs, of, of ?? chat.info?.sessionId, async (sessionId) => {
      if (sessionId === undefined) return;
      await files.close(compressionId, sessionId);
      await views.close(this.#snapshotPath(compressionId)); // it was opened with the preview
      if (this.#isShown(sessionId)) chat.discardPreview(compressionId);
      else await chat.daemon.request("gemini/compression/discard", { sessionId, compressionId });
    });
  }

  async edit(compressionId: string): Promise<void> {
    await attempt(this.needs, undefined, this.#session(), async (sessionId) => {
      const info = await this.#find(sessionId, compressionId);
      if (info?.snapshot === undefined || sessionId === undefined) {
        this.#missing();
        return;
      }
      await this.needs.views.close(this.#snapshotPath(compressionId)); // one tab is enough
      await this.needs.files.edit(compressionId, sessionId, info.snapshot);
    });
  }

  /** The snapshot as a document. */
  async view(compressionId?: string, of?: string): Promise<void> {
    await this.#view(compressionId, of, { preserveFocus: false });
  }

  async #view(
    compressionId: string | undefined,
    of: string | undefined,
    options: { readonly preserveFocus: boolean },
  ): Promise<void> {
    const { views, files } = this.needs;
    await attempt(this.needs, of, this.#session(of), async (sessionId) => {
      const info = await this.#find(sessionId, compressionId);
      if (info?.snapshot === undefined || sessionId === undefined) {
        this.#missing();
        return;
      }
      const edited = await files.current(info.compressionId, sessionId);
      const path = this.#snapshotPath(info.compressionId);
      await this.#learnSources(path, sessionId, info, edited);
      await views.show(path, `${edited ?? info.snapshot}\n`, options);
    });
  }

  /** What the compression hides beside what stands in its place, in the diff editor. */
  async compare(compressionId: string): Promise<void> {
    const { chat, views, files } = this.needs;
    await attempt(this.needs, undefined, this.#session(), async (sessionId) => {
      const info = await this.#find(sessionId, compressionId);
      if (info?.snapshot === undefined || sessionId === undefined) {
        this.#missing();
        return;
      }
      const { contents } = await chat.daemon.request("gemini/session/history", { sessionId, view: "transcript" });
      const [first, last] = info.hides ?? [0, -1];
      const hidden = contents.filter((item) => item.seq >= first && item.seq <= last && item.kind !== "ide");
      const before = comparison(
        hidden.map((item) => ({ role: item.role, text: visibleText(item.parts) })),
        chat.t,
      );
      const left = views.put(`${compressionId}/${chat.t("Before")}.md`, before);
      const edited = await files.current(compressionId, sessionId);
      const after = `${compressionId}/${chat.t("After")}.md`;
      await this.#learnSources(after, sessionId, info, edited);
      const right = views.put(after, `${edited ?? info.snapshot}\n`);
      await views.compare(left, right, chat.t("Compression: what is hidden ↔ what stands in its place"));
    });
  }

  async cancel(compressionId: string): Promise<void> {
    const { chat } = this.needs;
    await attempt(this.needs, undefined, this.#session(), async (sessionId) => {
      if (sessionId !== undefined) await chat.daemon.request("gemini/cancel", { sessionId, compressionId });
    });
  }

  /** Call off an undo that waits for an answer. */
  cancelUndo(compressionId: string): void {
    this.#undos.cancel(compressionId);
  }

  async rate(compressionId: string | undefined, rating?: number): Promise<void> {
    const { chat } = this.needs;
    await attempt(this.needs, undefined, this.#session(), async (sessionId) => {
      const info = await this.#find(sessionId, compressionId);
      if (sessionId === undefined || !info) {
        this.#missing();
        return;
      }
      const stars = rating ?? (await askRating(chat.t));
      if (stars === undefined) return;
      await chat.daemon.request("gemini/compression/rate", {
        sessionId,
        compressionId: info.compressionId,
        rating: stars,
      });
      chat.conversation.change(`c:${info.compressionId}`, "divider", { rating: stars });
    });
  }

  /** In words, with what can be done next. */
  async showStatus(): Promise<void> {
    const { chat } = this.needs;
    await attempt(this.needs, undefined, chat.session(), async (sessionId) => {
      await this.#offer(await chat.daemon.request("gemini/compressionStatus", { sessionId }));
    });
  }

  /** What is offered stands there for as long as the person likes: it is about the chat that was shown then. */
  async #offer(report: CompressionStatusReport): Promise<void> {
    const { t } = this.needs.chat;
    const preview = t("Preview Compression");
    const undo = t("Undo");
    const offered = report.state === "running" ? [] : report.canUndo ? [preview, undo] : [preview];
    const chosen = await inform(statusText(report, t, number), ...offered);
    if (chosen === preview) await this.preview({}, report.sessionId);
    else if (chosen === undo) await this.undo(undefined, report.sessionId);
  }

  /** A text that was edited has other lines than the one that the daemon knows the sources of. */
  async #learnSources(
    path: string,
    sessionId: string,
    { compressionId, snapshot }: CompressionInfo,
    edited?: string,
  ): Promise<void> {
    const { sources } = this.needs;
    sources.forget(path);
    if (edited !== undefined && edited !== snapshot) return;
    await sources.learn(path, sessionId, compressionId).catch(() => undefined); // it is read all the same, its lines lead nowhere
  }

  async #run(
    params: { readonly preview: boolean } & Guidance & Span,
    of?: string,
  ): Promise<{ readonly result?: CompressionResult; readonly sessionId?: string }> {
    const { chat, isChatVisible } = this.needs;
    let made: { readonly result: CompressionResult; readonly sessionId: string } | undefined;
    await attempt(this.needs, of, of ?? chat.session(), async (sessionId) => {
      const result = await window.withProgress(
        {
          location: isChatVisible() ? ProgressLocation.Window : ProgressLocation.Notification,
          title: params.preview ? chat.t("Previewing the compression of the chat") : chat.t("Compressing the chat"),
          cancellable: true,
        },
        async (progress, token) => {
          if (!params.preview && chat.job.kind === "turn" && this.#isShown(sessionId))
            progress.report({ message: chat.t("waiting for the answer to end") });
          const subscription = chat.daemon.onEvent(({ event, sessionId: whose }) => {
            if (event.type === "compressionProgress" && whose === sessionId)
              progress.report({ message: phaseText(event.phase, chat.t, event.block, event.blocks) });
          });
          try {
            return await chat.daemon.request("gemini/compress", { sessionId, ...params }, token);
          } finally {
            subscription.dispose();
          }
        },
      );
      made = { result, sessionId };
      if (!params.preview && this.#isShown(sessionId)) await chat.refresh();
    });
    if (made && made.result.status !== "PREVIEW") void this.#notify(made.result, made.sessionId);
    return made ?? {};
  }

  async #done(result: CompressionResult, sessionId: string): Promise<void> {
    if (this.#isShown(sessionId)) await this.needs.chat.refresh();
    void this.#notify(result, sessionId);
  }

  /** The outcome: in its row, which may be out of sight, or where no row can show it. */
  async #notify(result: CompressionResult, sessionId: string): Promise<void> {
    const { chat, isChatVisible } = this.needs;
    if (isChatVisible() && this.#isShown(sessionId)) {
      this.needs.showRow(`c:${result.compressionId}`);
      return;
    }
    const [undo, show] = [chat.t("Undo"), chat.t("Show Snapshot")];
    const offered = COMPRESSION_STATUSES[result.status].offers.map((offer) => ({ undo, show })[offer]);
    const chosen = await inform(result.message, ...offered);
    if (chosen === undo) await this.undo(result.compressionId, sessionId);
    else if (chosen === show) await this.view(result.compressionId, sessionId);
  }

  /** A compression by its id, or the newest that has a snapshot: in force before a preview. */
  async #find(sessionId: string | undefined, compressionId?: string): Promise<CompressionInfo | undefined> {
    if (sessionId === undefined) return undefined;
    const { compressions } = await this.needs.chat.daemon.request("gemini/compression/list", { sessionId });
    if (compressionId !== undefined) return compressions.find((info) => info.compressionId === compressionId);
    return (
      compressions.find((info) => info.state === "inForce") ?? compressions.find((info) => info.state === "preview")
    );
  }

  #snapshotPath(compressionId: string): string {
    return `${compressionId}/${this.needs.chat.t("Snapshot")}.md`;
  }

  #missing(): void {
    void inform(this.needs.chat.t("This chat has no snapshot: it was not compressed, or only shortened."));
  }

  /**
   * The session that is meant: the one that a message or an editor is about, else the open chat's. A chat that is not begun has none;
   * without an id the daemon would take the chat before it.
   */
  async #session(of?: string): Promise<string | undefined> {
    await this.needs.chat.ready();
    return of ?? this.needs.chat.info?.sessionId;
  }

  #isShown(sessionId: string): boolean {
    return sessionId === this.needs.chat.info?.sessionId;
  }
}

/** The side panel: a webview that shows the chat. It may be made, hidden, moved and thrown away at any time; the chat goes on. */
import { randomBytes } from "node:crypto";
import {
  EventEmitter,
  Uri,
  commands,
  env,
  l10n,
  type CancellationToken,
  type Disposable,
  type Event,
  type ExtensionContext,
  type Webview,
  type WebviewView,
  type WebviewViewProvider,
} from "vscode";
import type { FromPage, PageCommand, PanelState, Written } from "../panel/contract.js";
import type { Actions } from "./actions.js";
import type { Chat } from "./chat.js";
import { viewOf } from "./chatState.js";
import { PageLink } from "./pageLink.js";
import { InOrder } from "./pure/inOrder.js";
import { pageDocument } from "./pure/pageDocument.js";
import { enclosedIn } from "../panel/written.js";
import { decodeFromPage } from "../panel/fromPage.js";
import { answerPage } from "./requests.js";

export const VIEW_ID = "geminiCompanion.chat";

/** Set while the page has the keyboard; `focusedView` is not set for webviews. */
const FOCUS_KEY = "geminiCompanion.panelFocused";

/** How long a command waits for a page that is being made, ms. */
const PAGE_WAIT_MS = 15_000;

/** How long the daemon's start waits for it, ms. */
const START_WAIT_MS = 1_000;

export interface ViewNeeds {
  readonly context: ExtensionContext;
  readonly chat: Chat;
  readonly actions: () => Actions;
  readonly state: () => PanelState;
  readonly log: (message: string) => void;
}

export class ChatView implements WebviewViewProvider, Disposable {
  readonly #ready = new EventEmitter<void>();
  readonly #shown = new EventEmitter<void>();
  readonly #subscriptions: Disposable[] = [];
  readonly #commands = new InOrder();
  #view: WebviewView | undefined;
  #link: PageLink | undefined;
  #isReady = false;
  #unseen = 0;
  #focused = false;

  constructor(private readonly needs: ViewNeeds) {
    const { chat } = needs;
    this.#subscriptions.push(
      chat.onDidChange(() => this.#link?.state()),
      chat.onDidChangeRows((change) =>
        change === "reset" ? this.#link?.reset() : this.#link?.rows(change.from, change.count),
      ),
      chat.onDelta(({ row, field, at, text }) => this.#link?.delta(row, field, at, text)),
      chat.onOutput(({ row, tool }) => this.#link?.output(row, tool)),
      chat.onPrefill((text) =>
        this.#link?.post({ type: "command", command: { do: "setDraft", ...this.#draft(text) } }),
      ),
    );
  }

  /** The panel came into sight. */
  get onDidShow(): Event<void> {
    return this.#shown.event;
  }

  get isVisible(): boolean {
    return this.#view?.visible ?? false;
  }

  get isFocused(): boolean {
    return this.#focused;
  }

  /** Called for every new page: the first one, after the view was moved, after the window was reloaded. */
  resolveWebviewView(view: WebviewView, _state: unknown, _token: CancellationToken): void {
    const askedAt = Date.now();
    this.#close();
    this.#view = view;
    const media = Uri.joinPath(this.needs.context.extensionUri, "out", "panel");
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [media],
      enableCommandUris: false,
      enableForms: false,
    };
    const link = new PageLink((message) => void view.webview.postMessage(message), {
      get rows() {
        return source.conversation.rows;
      },
      state: this.needs.state,
      draft: () => ({ ...this.#draft(this.needs.chat.saved.draft), scroll: this.needs.chat.saved.scroll }),
      strings: l10n.bundle ?? {},
    });
    const source = this.needs.chat;
    this.#link = link;
    view.webview.onDidReceiveMessage((raw: unknown) => this.#received(raw, link));
    view.onDidChangeVisibility(() => {
      link.visible(view.visible);
      if (view.visible) {
        this.#seen();
        this.#shown.fire();
        void this.needs.chat.reopenIfReadOnly();
      } else this.#setFocus(false);
    });
    view.onDidDispose(() => {
      if (this.#view === view) this.#close();
    });
    view.webview.html = this.#document(view.webview, media, askedAt);
    this.#seen();
    void this.#beginWith(view);
  }

  /** Starts the daemon once the page is there: both at once take the processors from each other, and a person sees the page first. */
  async #beginWith(view: WebviewView): Promise<void> {
    await this.#untilReady(START_WAIT_MS);
    if (this.#view === view) await this.needs.chat.begin();
  }

  /** Bring the panel to the front, then post its page a command. */
  command(command: PageCommand): Promise<void> {
    // In order: "Focus Chat" that waited longer would close the pop-up that was asked for after it.
    return this.#commands.after(this.#inFront(), () => this.#link?.post({ type: "command", command }));
  }

  /** Bring a row of the chat into sight, if the panel is; the focus stays where it is. */
  showRow(rowId: string): void {
    const row = this.needs.chat.conversation.indexOf(rowId);
    if (this.isVisible && row !== undefined)
      this.#link?.post({ type: "command", command: { do: "showRow", row, rowId } });
  }

  /** An answer is done that nobody sees: a mark on the icon until the panel shows. */
  markUnseen(): void {
    if (this.isVisible || !this.#view) return;
    this.#unseen += 1;
    const tooltip =
      this.#unseen === 1 ? this.needs.chat.t("One new answer") : this.needs.chat.t("{0} new answers", this.#unseen);
    this.#view.badge = { value: this.#unseen, tooltip };
  }

  dispose(): void {
    this.#close();
    this.#ready.dispose();
    this.#shown.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** A text for the composer, and what of it is shown as attachments if it is the draft. */
  #draft(text: string): Written & { readonly draft: number } {
    const { saved, draftStore } = this.needs.chat;
    const named = { draft: draftStore.number, text };
    return text === saved.draft ? { ...named, ...enclosedIn(saved) } : named;
  }

  #document(webview: Webview, media: Uri, askedAt: number): string {
    const address = (name: string): string => webview.asWebviewUri(Uri.joinPath(media, name)).toString();
    return pageDocument({
      nonce: randomBytes(16).toString("base64url"),
      source: webview.cspSource,
      script: address("panel.js"),
      style: address("styles.css"),
      firstStyles: typeof FIRST_STYLES === "undefined" ? "" : FIRST_STYLES,
      modules: (typeof PAGE_MODULES === "undefined" ? [] : PAGE_MODULES).map(address),
      language: l10nLanguage(),
      view: VIEW_ID,
      starting: this.needs.chat.t("Starting Gemini Companion…"),
      failed: this.needs.chat.t(
        "The panel could not be loaded. Reload the window; if that does not help, install the extension again.",
      ),
      reload: this.needs.chat.t("Reload Window"),
      askedAt,
    });
  }

  #received(raw: unknown, link: PageLink): void {
    const message = decodeFromPage(raw);
    if (!message) {
      this.needs.log("panel: a message that is none was dropped");
      return;
    }
    if (message.type === "ready") {
      void this.#started(link, message.boot);
    } else if (message.type === "focus") {
      this.#setFocus(message.focused);
      if (message.focused) void this.needs.chat.reopenIfReadOnly();
    } else if (message.type === "call") void this.#answer(message);
    else void this.needs.actions().handle(message);
  }

  async #started(link: PageLink, boot: boolean): Promise<void> {
    await this.needs.chat.loaded;
    if (link !== this.#link) return; // another page came meanwhile, and says for itself when it is there
    link.ready(boot);
    this.#isReady = true;
    this.#ready.fire();
  }

  async #answer({ call, request, chat = this.needs.chat.number }: Extract<FromPage, { type: "call" }>): Promise<void> {
    const link = this.#link;
    try {
      link?.post({ type: "result", call, ok: true, value: await answerPage(this.needs.chat, request, chat) });
    } catch (error) {
      link?.post({ type: "result", call, ok: false, error: viewOf(error, this.needs.chat.t) });
    }
  }

  #setFocus(focused: boolean): void {
    this.#focused = focused;
    void commands.executeCommand("setContext", FOCUS_KEY, focused);
  }

  #seen(): void {
    this.#unseen = 0;
    if (this.#view) this.#view.badge = undefined;
  }

  async #inFront(): Promise<void> {
    await commands.executeCommand(`${VIEW_ID}.focus`);
    if (!this.#isReady) await this.#untilReady(PAGE_WAIT_MS);
  }

  async #untilReady(limitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        subscription.dispose();
        resolve();
      };
      const subscription = this.#ready.event(done);
      const timer = setTimeout(done, limitMs);
    });
  }

  #close(): void {
    this.#link?.dispose();
    this.#link = undefined;
    this.#view = undefined;
    this.#isReady = false;
    this.#setFocus(false);
  }
}

/** Names of the page's modules, as the build made them; none where nothing was built. */
declare const PAGE_MODULES: readonly string[] | undefined;
/** The styles of the page's first picture, as the build made them. */
declare const FIRST_STYLES: string | undefined;

function l10nLanguage(): string {
  return l10n.uri ? env.language : "en";
}

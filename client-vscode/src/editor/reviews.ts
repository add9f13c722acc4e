/** Proposed changes in the editor's own diff, to be accepted, edited and accepted, or rejected. */
import { basename } from "node:path";
import {
  commands,
  TabInputText,
  TabInputTextDiff,
  Uri,
  window,
  workspace,
  type CancellationToken,
  type Disposable,
  type Tab,
} from "vscode";
import type { OpenReview, ReviewEnd } from "../chat/editorPort.js";
import { PROPOSAL_SCHEME, SHOWN_SCHEME, type ProposalFiles } from "./proposalFiles.js";

export interface Change {
  /** The file that would change; it need not exist. */
  readonly file: Uri;
  readonly content: string;
  readonly title: string;
}

interface Pending {
  readonly shown: readonly Uri[];
  readonly settle: (reviewed: ReviewEnd) => void;
}

export class Reviews implements Disposable {
  /** By the URI of the proposal. */
  readonly #pending = new Map<string, Pending>();
  readonly #subscriptions: Disposable[];

  constructor(private readonly files: ProposalFiles) {
    this.#subscriptions = [
      window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const proposal of closed.map(proposalOf))
          if (proposal !== undefined && !isShown(proposal)) void this.#finish(proposal, "closed");
      }),
      commands.registerCommand("geminiCompanion.acceptDiff", (uri: unknown) => this.#decide(uri, "accepted")),
      commands.registerCommand("geminiCompanion.rejectDiff", (uri: unknown) => this.#decide(uri, "rejected")),
    ];
  }

  /** Shows a change and waits for the person. Closing the tab is no answer, and ends it; so does the token. */
  async review(change: Change, token?: CancellationToken): Promise<ReviewEnd> {
    return (await this.open(change, token)).end;
  }

  /** Shows a change; resolves when it is shown. */
  async open(change: Change, token?: CancellationToken): Promise<OpenReview> {
    const name = basename(change.file.path);
    const left = (await exists(change.file)) ? change.file : this.files.add(SHOWN_SCHEME, name, "");
    const right = this.files.add(PROPOSAL_SCHEME, name, change.content);
    const settled = new Promise<ReviewEnd>((settle) =>
      this.#pending.set(right.toString(), { shown: [left, right], settle }),
    );
    const subscription = token?.onCancellationRequested(() => void this.#finish(right, "closed"));
    const end = settled.finally(() => {
      subscription?.dispose();
    });
    try {
      await commands.executeCommand("vscode.diff", left, right, change.title, { preview: false });
    } catch (error) {
      await this.#finish(right, "closed");
      throw error;
    }
    if (token?.isCancellationRequested === true) await this.#finish(right, "closed");
    // What was typed last is in the document, and is gone with it.
    let text = change.content;
    return { end, read: () => (text = this.files.has(right) ? this.files.read(right) : text) };
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    for (const pending of this.#pending.values()) pending.settle({ outcome: "closed" });
    this.#pending.clear();
  }

  /** @param target the document of the button; from the palette there is none, and the active tab is meant */
  async #decide(target: unknown, outcome: ReviewEnd["outcome"]): Promise<void> {
    const uri =
      target instanceof Uri && target.scheme === PROPOSAL_SCHEME
        ? target
        : proposalOf(window.tabGroups.activeTabGroup.activeTab);
    if (uri !== undefined) await this.#finish(uri, outcome);
  }

  async #finish(proposal: Uri, outcome: ReviewEnd["outcome"]): Promise<void> {
    const pending = this.#pending.get(proposal.toString());
    if (pending === undefined) return;
    this.#pending.delete(proposal.toString());
    pending.settle(outcome === "accepted" ? { outcome, content: this.files.read(proposal) } : { outcome });
    // Saved, so that closing asks nothing: what was typed is taken or refused with the rest.
    const document = workspace.textDocuments.find((open) => open.uri.toString() === proposal.toString());
    if (document?.isDirty === true) await document.save();
    await this.close(proposal);
    for (const uri of pending.shown) if (uri.scheme === SHOWN_SCHEME) this.files.remove(uri);
  }

  /** Closes the tabs of a document of ours, and forgets it. */
  async close(uri: Uri): Promise<void> {
    const tabs = window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => documentOf(tab)?.toString() === uri.toString());
    if (tabs.length > 0) await window.tabGroups.close(tabs);
    this.files.remove(uri);
  }
}

function proposalOf(tab: Tab | undefined): Uri | undefined {
  const uri = documentOf(tab);
  return uri?.scheme === PROPOSAL_SCHEME ? uri : undefined;
}

/** What a tab is about; of a diff the right side. */
function documentOf(tab: Tab | undefined): Uri | undefined {
  const input: unknown = tab?.input;
  return input instanceof TabInputTextDiff ? input.modified : input instanceof TabInputText ? input.uri : undefined;
}

function isShown(proposal: Uri): boolean {
  return window.tabGroups.all.some((group) =>
    group.tabs.some((tab) => proposalOf(tab)?.toString() === proposal.toString()),
  );
}

async function exists(uri: Uri): Promise<boolean> {
  try {
    await workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

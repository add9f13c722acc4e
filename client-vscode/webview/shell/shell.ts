/** What the shell shows: signals that components read, and the few things that change more than one of them. */
import { batch, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Action, ErrorView, PanelState, PastedRange, QueuedPrompt } from "../../src/panel/contract.js";
import { MOST_PICTURES, type Picture } from "../../src/panel/pictures.js";
import { enclosedIn, type Enclosed } from "../../src/panel/written.js";
import { MODES } from "../../src/panel/tools.js";
import type { SlashCommandInfo } from "../../src/protocol.gen.js";
import { CallError } from "../bridge.js";
import { t } from "../strings.js";
import { Thumbnails } from "../thumbnails.js";
import { Pastes } from "./pastes.js";
import type { HostLine, TranscriptPort } from "./ports.js";
import { beginEdit, reconcileEdit, withRescued, type QueueEdit } from "./queueEditing.js";

export type PopupName =
  | "sessions"
  | "more"
  | "meter"
  | "model"
  | "mode"
  | "toolRules"
  | "rules"
  | "kept"
  | "memory"
  | "skills"
  | "servers"
  | "statistics"
  | "help"
  | "pasted";

export interface Confirmation {
  readonly question: string;
  readonly confirmLabel: string;
  readonly answer: (yes: boolean) => void;
}

/** A text for the live regions; `number` makes the same text twice two announcements. */
export interface Announcement {
  readonly number: number;
  readonly text: string;
}

const silence: Announcement = { number: 0, text: "" };

export class Shell {
  /** Undefined until the first sync. */
  readonly panel = signal<PanelState | undefined>(undefined);
  /** A part of the page could not be loaded: nothing but a reload helps. */
  readonly broken = signal(false);
  /** Rows of the chat. */
  readonly total = signal(0);
  /** As it stands in the composer: pasted texts are markers in it. */
  readonly draft = signal("");
  /** Which draft of the host's that is. Between the state of another chat and its draft it is still the one before. */
  draftNumber = 0;
  readonly pastes = new Pastes();
  /** What goes along with the draft. */
  readonly pictures = signal<readonly Picture[]>([]);
  /** Files that are being read: what is sent meanwhile would go without them. */
  attaching = 0;
  readonly thumbnails = new Thumbnails((digest) => this.line.call({ do: "picture", digest }));
  /** The daemon's slash commands, as far as they are known. */
  readonly commands = signal<readonly SlashCommandInfo[]>([]);
  readonly popup = signal<PopupName | undefined>(undefined);
  /** What the find bar was opened with; undefined while it is closed. */
  readonly find = signal<{ readonly query: string } | undefined>(undefined);
  /** What the list of chats was asked to look for when it was opened; a new object each time. */
  readonly searched = signal<{ readonly query: string }>({ query: "" });
  /** Which compression the list of what is kept is about; without an id the newest in force. */
  readonly kept = signal<{ readonly compressionId: string | undefined }>({ compressionId: undefined });
  readonly confirmation = signal<Confirmation | undefined>(undefined);
  /** What came of something that the person asked the page for, if it went wrong. */
  readonly note = signal<ErrorView | undefined>(undefined);
  readonly polite = signal<Announcement>(silence);
  readonly assertive = signal<Announcement>(silence);
  /** The job that the person wants stopped, until the host has it. */
  readonly stopAsked = signal<string | undefined>(undefined);
  /** A prompt went to the host, which has not said yet that it runs: it can be stopped already. Rows that there were before it. */
  readonly sending = signal<number | undefined>(undefined);
  readonly queueEdit = signal<QueueEdit | undefined>(undefined);
  /** Rises when the composer is to take the focus. */
  readonly composerFocus = signal(0);
  /** A text to be put in at the caret, and whether all is sent then; a new object each time. */
  readonly insertion = signal<{ readonly text: string; readonly send: boolean } | undefined>(undefined);

  /** Mentions that the person sent although nothing goes along for them. */
  readonly sentAnyway = new Set<string>();

  /** What the person wrote, where an earlier prompt stands in the composer; the prompt itself where none does. */
  written = (prompt: string): string => prompt;

  /** What is written from now on is written for another chat, which the host was asked for. */
  leaveDraft = (): void => undefined;

  transcript: TranscriptPort | undefined;

  constructor(readonly line: HostLine) {}

  /** What the draft means: the prompt that would be sent. */
  get prompt(): string {
    return this.pastes.expanded(this.draft.peek());
  }

  /** What of it was not typed. */
  get enclosed(): Enclosed {
    return enclosedIn({ pasted: this.pastes.ranges(this.draft.peek()), pictures: this.pictures.peek() });
  }

  /** Puts a prompt into the composer. Of what was pasted in it, what is told or known is shown as attachments. */
  setDraft(prompt: string, { pasted = [], pictures = [] }: Enclosed = {}): void {
    this.draft.value = this.folded(prompt, pasted);
    this.pictures.value = pictures;
  }

  /** Puts what was written meanwhile beside a prompt that came into the composer. */
  rescue(typed: string, pictures: readonly Picture[]): void {
    if (typed.trim() !== "") this.draft.value = withRescued(this.draft.peek(), typed);
    const known = this.pictures.peek();
    const more = pictures.filter(({ digest }) => known.every((one) => one.digest !== digest));
    if (more.length > 0) this.pictures.value = [...known, ...more].slice(0, MOST_PICTURES);
  }

  /** What the composer shows for a prompt. */
  folded(prompt: string, pasted: readonly PastedRange[] = []): string {
    return this.pastes.folded(prompt, pasted, this.panel.peek()?.settings.locale ?? "en");
  }

  setPanel(next: PanelState): void {
    batch(() => {
      const before = this.panel.peek();
      if (before?.session?.sessionId !== next.session?.sessionId) this.note.value = undefined;
      if (next.job.kind === "idle" || next.job.id !== this.stopAsked.peek()) this.stopAsked.value = undefined;
      const isShown = next.job.kind !== "idle" || this.total.peek() > (this.sending.peek() ?? Infinity);
      if (isShown || startsNothing(before, next)) this.sending.value = undefined;
      this.panel.value = next;
      this.#reconcileQueue(next.queue);
      if (isPast(before, next)) this.#fallSilent();
      if (isGoneOnFrom(before, next)) this.assertive.value = silenced(this.assertive.peek());
      if (isAnother(before, next)) this.confirmation.peek()?.answer(false); // it was asked about the chat that was left
      this.#tellFaults(before, next);
      if (isTaken(before, next)) this.announce(t("Another window is using this chat, so it can only be read here."));
      if (isPreparedNews(before, next) && next.settings.announce !== "off")
        this.announce(t("A compression is prepared: you will not wait for it."));
      if (isModeNews(before, next)) this.announce(t(MODES[next.work.mode].announcement));
    });
  }

  announce(text: string, assertive = false): void {
    const region = assertive ? this.assertive : this.polite;
    region.value = { number: region.peek().number + 1, text };
  }

  /** Asks in a dialog; false too if another question takes its place. */
  confirm(question: string, confirmLabel = t("OK")): Promise<boolean> {
    this.confirmation.peek()?.answer(false);
    return new Promise((resolve) => {
      this.confirmation.value = {
        question,
        confirmLabel,
        answer: (yes) => {
          this.confirmation.value = undefined;
          resolve(yes);
        },
      };
    });
  }

  /** What went wrong with something that was asked of the host is read, or the person goes on. */
  dismissNote(): void {
    this.note.value = undefined;
    this.assertive.value = silenced(this.assertive.peek());
  }

  act(action: Action): void {
    this.dismissNote();
    this.line.send({ type: "action", action });
  }

  /** Shows what went wrong with something that was asked of the host. */
  show(error: unknown): void {
    if (error instanceof CallError && error.view.kind === "cancelled") return; // it was about a chat that is not shown any more
    this.note.value =
      error instanceof CallError
        ? error.view
        : {
            kind: "defect",
            message: t("Something went wrong inside the panel."),
            hint: t("Try again; the log says more."),
            retryable: true,
            actions: [],
          };
    if (!(error instanceof CallError))
      this.line.send({ type: "defect", message: error instanceof Error ? error.name : "unknown" });
    this.announce(this.note.value.message, true);
  }

  openPopup(name: PopupName): void {
    this.popup.value = name;
  }

  closePopup(name?: PopupName): void {
    if (name === undefined || this.popup.peek() === name) this.popup.value = undefined;
  }

  togglePopup(name: PopupName): void {
    this.popup.value = this.popup.peek() === name ? undefined : name;
  }

  focusComposer(): void {
    this.composerFocus.value += 1;
  }

  editQueued(prompt: QueuedPrompt | undefined): void {
    this.queueEdit.value =
      prompt === undefined ? undefined : beginEdit({ ...prompt, text: this.folded(prompt.text, prompt.pasted) });
  }

  #reconcileQueue(queue: readonly QueuedPrompt[]): void {
    const before = this.queueEdit.peek();
    const { edit, rescued } = reconcileEdit(before, queue);
    if (edit !== before) {
      this.queueEdit.value = edit;
      this.focusComposer();
    }
    if (rescued === undefined) return;
    this.draft.value = withRescued(this.draft.peek(), rescued);
    this.announce(t("The queued prompt was sent before your change was saved. Your text is in the composer."), true);
  }

  #fallSilent(): void {
    this.polite.value = silenced(this.polite.peek());
    this.assertive.value = silenced(this.assertive.peek());
  }

  /** Faults are announced once: when they come, not whenever the state is sent again. */
  #tellFaults(before: PanelState | undefined, next: PanelState): void {
    const banner = next.banner;
    if (banner !== undefined && (before?.banner?.kind !== banner.kind || before.banner.message !== banner.message)) {
      this.announce(`${banner.message} ${banner.hint}`.trim(), banner.level === "error");
    }
    if (next.daemon.kind === "failed" && before?.daemon.kind !== "failed")
      this.announce(next.daemon.error.message, true);
    if (next.daemon.kind === "lost" && before?.daemon.kind !== "lost")
      this.announce(t("The connection to the daemon was lost. Reconnecting."), true);
    if (next.daemon.kind === "ready" && before?.daemon.kind === "lost") this.announce(t("Connected again"));
  }
}

/** A region without a text: an old error is not met by who walks through the page. */
function silenced({ number }: Announcement): Announcement {
  return { number, text: "" };
}

/** Whether what was read out last is about another chat, about a fault that is mended, or a chat that is given back. */
function isPast(before: PanelState | undefined, next: PanelState): boolean {
  return (
    before !== undefined && (isAnother(before, next) || (hasFault(before) && !hasFault(next)) || isTaken(next, before))
  );
}

/** Whether the person went on from what was read out at once: a question is answered, or something else runs than what failed. */
function isGoneOnFrom(before: PanelState | undefined, next: PanelState): boolean {
  if (before === undefined) return false;
  const [was, is] = [before.job, next.job];
  const begins = is.kind !== "idle" && (was.kind === "idle" || was.id !== is.id);
  return begins || next.work.questions < before.work.questions;
}

/** Whether a prompt that went to the host before does not run now: it waits there, or another chat is shown. */
function startsNothing(before: PanelState | undefined, next: PanelState): boolean {
  if (next.daemon.kind === "lost" || next.daemon.kind === "failed") return true;
  if (before === undefined) return false;
  return isAnother(before, next) || next.queue.length > before.queue.length;
}

/** Whether another chat took the place of one that had its session. */
function isAnother(before: PanelState | undefined, next: PanelState): boolean {
  return before?.session !== undefined && before.session.sessionId !== next.session?.sessionId;
}

/** The mode of the chat that is shown is another one than before. */
function isModeNews(before: PanelState | undefined, next: PanelState): boolean {
  if (before === undefined || before.session?.sessionId !== next.session?.sessionId) return false;
  return before.work.mode !== next.work.mode;
}

/** Another window took the chat while it was shown. */
function isTaken(before: PanelState | undefined, next: PanelState): boolean {
  if (before === undefined || before.session?.sessionId !== next.session?.sessionId) return false;
  return before.session?.heldBy === undefined && next.session?.heldBy !== undefined;
}

/** A compression of this chat became ready; which one does not matter, so one that is made anew is no news. */
function isPreparedNews(before: PanelState | undefined, next: PanelState): boolean {
  if (before === undefined || before.session?.sessionId !== next.session?.sessionId) return false;
  return before.meter !== undefined && before.meter.background !== "prepared" && next.meter?.background === "prepared";
}

function hasFault({ banner, daemon }: PanelState): boolean {
  return banner !== undefined || daemon.kind === "failed" || daemon.kind === "lost";
}

const context = createContext<Shell | undefined>(undefined);
export const ShellProvider = context.Provider;

export function useShell(): Shell {
  const shell = useContext(context);
  if (shell === undefined) throw new Error("No shell around this component.");
  return shell;
}

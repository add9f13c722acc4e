/** The shell in a document, with a host and a transcript that remember what they were told. Elements are found by role and name. */
import { h, render } from "preact";
import { act } from "preact/test-utils";
import type {
  FromPage,
  PageRequest,
  PageResults,
  PanelState,
  PastedRange,
  Row,
  ScrollAnchor,
  Unnumbered,
} from "../../../src/panel/contract.js";
import type { Picture } from "../../../src/panel/pictures.js";
import type { ShellMessage } from "../../../webview/bridge.js";
import { decoders } from "../../../webview/decoders.js";
import { App } from "../../../webview/shell/app.js";
import { DraftReporter } from "../../../webview/shell/draftReporter.js";
import { Messages } from "../../../webview/shell/messages.js";
import type { FindMatch, HostLine, TextDelta, TranscriptPort } from "../../../webview/shell/ports.js";
import { Shell, ShellProvider } from "../../../webview/shell/shell.js";
import { answers } from "../../panel/answers.js";
import { baseState } from "../../panel/chatRows.js";

export class FakeTranscript implements TranscriptPort {
  place: ScrollAnchor = "end";
  deltasFit = true;
  readonly received: string[] = [];
  readonly revealed: FindMatch[] = [];
  reset(total: number, from: number, _rows: readonly Row[], anchor?: ScrollAnchor): void {
    this.received.push(`reset ${total} ${from} ${JSON.stringify(anchor)}`);
  }
  setRows(total: number, from: number): void {
    this.received.push(`rows ${total} ${from}`);
  }
  appendDelta(_delta: TextDelta): boolean {
    return this.deltasFit;
  }
  setOutput({ callId }: { readonly callId: string }): void {
    this.received.push(`output ${callId}`);
  }
  focusQuestion(row: number, callId: string): boolean {
    this.received.push(`question ${row} ${callId}`);
    return true;
  }
  setState(): void {
    this.received.push("state");
  }
  anchor(): ScrollAnchor {
    return this.place;
  }
  highlightMatches(matches: readonly FindMatch[]): void {
    this.received.push(`highlight ${matches.length}`);
  }
  revealMatch(match: FindMatch): void {
    this.revealed.push(match);
  }
  clearMatches(): void {
    this.received.push("clear");
  }
  showPlace(place: FindMatch): void {
    this.received.push(`place ${place.rowId}`);
  }
  showRow(row: number, rowId: string): void {
    this.received.push(`row ${row} ${rowId}`);
  }
  focusNewest(): boolean {
    this.received.push("focusNewest");
    return true;
  }
  promptSent(): void {
    this.received.push("promptSent");
  }
}

interface Question {
  readonly request: PageRequest;
  readonly settle: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
}

export class FakeHost implements HostLine {
  readonly sent: FromPage[] = [];
  readonly questions: Question[] = [];
  resyncs = 0;
  /** Whether questions are answered from the fixtures at once; else the test answers them. */
  answering = true;
  send(message: FromPage): void {
    this.sent.push(message);
  }
  call<R extends PageRequest>(request: R): Promise<PageResults[R["do"]]> {
    return new Promise((resolve, reject) => {
      // The answer to a request is of the request's kind: the fixtures are typed so, and tests answer what was asked.
      const settle = (value: unknown) => resolve(value as PageResults[R["do"]]);
      this.questions.push({ request, settle, fail: reject });
      if (this.answering) settle(answers[request.do]);
    });
  }
  resync(): void {
    this.resyncs += 1;
  }
  /** What was asked, newest last. */
  asked(what: PageRequest["do"]): PageRequest[] {
    return this.questions.map(({ request }) => request).filter((request) => request.do === what);
  }
}

export class Mounted {
  readonly host = new FakeHost();
  readonly shell = new Shell(this.host);
  readonly transcript = new FakeTranscript();
  saved: unknown; // as the page finds it: anything
  readonly drafts = new DraftReporter(this.shell, {
    read: () => decoders.draft(this.saved),
    write: (state) => (this.saved = state),
  });
  readonly #messages = new Messages(this.shell, this.drafts);
  readonly #root = document.createElement("div");

  constructor() {
    this.shell.transcript = this.transcript;
    document.body.append(this.#root);
  }

  static async with(change: Partial<PanelState> = {}, rows: readonly Row[] = []): Promise<Mounted> {
    const mounted = new Mounted();
    await mounted.render();
    await mounted.sync(change, rows);
    return mounted;
  }

  async render(): Promise<void> {
    await act(() =>
      render(h(ShellProvider, { value: this.shell, children: h(App, { onFeed: () => undefined }) }), this.#root),
    );
  }

  async take(message: Unnumbered): Promise<void> {
    // The number is the bridge's business; results never come here.
    await act(() => this.#messages.take({ ...message, rev: 1 } as ShellMessage));
  }

  sync(
    change: Partial<PanelState>,
    rows: readonly Row[] = [],
    draft?: {
      readonly draft?: number;
      readonly text: string;
      readonly scroll: ScrollAnchor;
      readonly pasted?: readonly PastedRange[];
      readonly pictures?: readonly Picture[];
    },
  ): Promise<void> {
    return this.take({
      type: "sync",
      state: { ...baseState, ...change },
      total: rows.length,
      from: 0,
      rows,
      strings: {},
      ...(draft === undefined ? {} : { draft: { draft: 1, ...draft } }),
    });
  }

  state(change: Partial<PanelState>): Promise<void> {
    return this.take({ type: "state", state: { ...baseState, ...change } });
  }

  async unmount(): Promise<void> {
    await act(() => render(null, this.#root));
    this.#root.remove();
  }

  // ------------------------------------------------------------------------------------------------ finding

  all(role: string, name?: string | RegExp): HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>("*")].filter(
      (element) => roleOf(element) === role && (name === undefined || fits(nameOf(element), name)),
    );
  }

  has(role: string, name?: string | RegExp): boolean {
    return this.all(role, name).length > 0;
  }

  get(role: string, name?: string | RegExp): HTMLElement {
    const [first, ...others] = this.all(role, name);
    if (first === undefined)
      throw new Error(`No ${role} ${String(name)}; there are ${this.all(role).map(nameOf).join(" | ")}`);
    if (others.length > 0) throw new Error(`${others.length + 1} ${role}s ${String(name)}`);
    return first;
  }

  get prompt(): HTMLTextAreaElement {
    const area = this.get("textbox", "Prompt");
    if (!(area instanceof HTMLTextAreaElement)) throw new Error("The prompt is no text area.");
    return area;
  }

  get text(): string {
    return this.#root.textContent;
  }

  // ------------------------------------------------------------------------------------------------ doing

  async click(role: string, name?: string | RegExp): Promise<void> {
    const element = this.get(role, name);
    await act(() => {
      element.dispatchEvent(new Event("pointerdown", { bubbles: true, cancelable: true }));
      element.focus();
      element.click();
    });
  }

  async type(text: string, element: HTMLInputElement | HTMLTextAreaElement = this.prompt): Promise<void> {
    await act(() => {
      element.focus();
      element.value = text;
      element.setSelectionRange(text.length, text.length);
      element.dispatchEvent(new InputEvent("input", { bubbles: true }));
    });
  }

  /** Presses a key where the focus is; true if the page took it. */
  async press(key: string, how: KeyboardEventInit = {}): Promise<boolean> {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...how });
    await act(() => void (document.activeElement ?? document.body).dispatchEvent(event));
    return event.defaultPrevented;
  }

  /** Pastes into the composer; true if the page took it, else the browser would put it in. */
  async paste(text: string, types: readonly string[] = ["text/plain"], files: readonly File[] = []): Promise<boolean> {
    const event = new Event("paste", { bubbles: true, cancelable: true });
    Object.assign(event, { clipboardData: { types, files, getData: () => text } });
    await act(() => void this.prompt.dispatchEvent(event));
    return event.defaultPrevented;
  }

  /** Cuts what is selected in the composer; returns what the page put into the clipboard. */
  async cut(): Promise<string | undefined> {
    let copied: string | undefined;
    const event = new Event("cut", { bubbles: true, cancelable: true });
    Object.assign(event, { clipboardData: { setData: (_type: string, text: string) => (copied = text) } });
    await act(() => void this.prompt.dispatchEvent(event));
    return copied;
  }

  /** Lets timers run until `ms` have passed, and what waits for them. */
  async pass(advance: (ms: number) => Promise<unknown>, ms: number): Promise<void> {
    await act(async () => {
      await advance(ms);
    });
  }
}

function roleOf(element: HTMLElement): string | undefined {
  const explicit = element.getAttribute("role");
  if (explicit !== null) return explicit;
  switch (element.tagName) {
    case "BUTTON":
      return "button";
    case "TEXTAREA":
      return "textbox";
    case "INPUT":
      return element.getAttribute("type") === "search" ? "searchbox" : "textbox";
    case "LI":
      return "listitem";
    case "H2":
      return "heading";
    case "TR":
      return "row";
    case "SECTION":
      return "region";
    default:
      return undefined;
  }
}

export function nameOf(element: HTMLElement): string {
  const label = element.getAttribute("aria-label");
  if (label !== null) return label;
  const by = element.getAttribute("aria-labelledby");
  return ((by === null ? element : document.getElementById(by))?.textContent ?? "").trim();
}

function fits(name: string, wanted: string | RegExp): boolean {
  return typeof wanted === "string" ? name === wanted : wanted.test(name);
}

/** One call of a tool: what it does and where it is in a line; folded, what went in and what came out; and what it asks. */
import type { ToolRow } from "../../../src/panel/contract.js";
import { TOOL_STATES } from "../../../src/panel/statuses.js";
import { TOOL_KINDS } from "../../../src/panel/tools.js";
import { iconPaths, type IconName } from "../../icons.js";
import { button, element, setText } from "../element.js";
import { codeNodes } from "../markdown/bidi.js";
import { durationText, type Language } from "../texts.js";
import { AskingView } from "./asking.js";
import { fillWithDiff, linesOfDiff } from "./evidence.js";
import { QuestionView } from "./question.js";
import type { RowContext } from "./rowView.js";

const SVG = "http://www.w3.org/2000/svg";

export class ToolView {
  readonly element = element("div", { class: "tool" });
  readonly #context: RowContext;
  readonly #details: HTMLDetailsElement;
  readonly #title = element("span", { class: "tool-title" });
  readonly #note = element("span", { class: "tool-note" });
  readonly #consent = element("p", { class: "tool-consent" });
  readonly #args: HTMLElement;
  #diff: HTMLElement;
  readonly #cut: HTMLElement;
  readonly #output: HTMLElement;
  readonly #open: HTMLButtonElement;
  readonly #log: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #question: QuestionView;
  readonly #asking: AskingView;
  #tool: ToolRow;
  #shown: ToolRow | undefined;
  #untick: (() => void) | undefined;
  #isAskedFor = false;

  constructor(tool: ToolRow, context: RowContext) {
    this.#tool = tool;
    this.#context = context;
    const { t } = context.language;
    const { host } = context;
    this.#args = element("pre", { tabindex: 0, dir: "ltr", "aria-label": t("Arguments"), role: "group" });
    this.#diff = this.#diffBox();
    this.#output = element("pre", { tabindex: 0, dir: "ltr", "aria-label": t("Output"), role: "group" });
    this.#cut = element("p", { class: "tool-consent" }, t("Only the end is shown."));
    this.#open = button(t("Open"), () => host.send({ type: "open", href: this.#tool.href ?? "" }), { class: "link" });
    const openLog = (): void => {
      if (this.#tool.agentSession !== undefined) host.send({ type: "openSession", sessionId: this.#tool.agentSession });
    };
    this.#log = button(t("Open"), openLog, { class: "link" });
    this.#stop = button(t("Stop"), () => host.send({ type: "tool", do: "stop", callId: this.#tool.id }));
    this.#details = element(
      "details",
      {},
      element("summary", { tabindex: -1 }, icon(TOOL_KINDS[tool.kind].icon), this.#title, this.#note),
      this.#consent,
      this.#args,
      this.#diff,
      this.#cut,
      this.#output,
    );
    this.#details.addEventListener("toggle", () => this.#unfolded());
    this.#details.querySelector("summary")?.addEventListener("click", () => context.keepPlace());
    this.#question = new QuestionView(context);
    this.#asking = new AskingView(context);
    const line = element("div", { class: "tool-line" }, this.#details, this.#open, this.#log, this.#stop);
    this.element.append(line, this.#question.element, this.#asking.element);
  }

  update(tool: ToolRow): void {
    if (tool === this.#shown) return;
    const { language, readOnly } = this.#context;
    const before = this.#shown;
    this.#tool = this.#shown = tool;
    this.element.dataset["state"] = tool.state;
    this.element.dataset["kind"] = tool.kind;
    setText(this.#title, tool.title);
    this.#title.title = tool.title;
    setText(this.#consent, tool.consent ?? "");
    this.#consent.hidden = (tool.consent ?? "") === "";
    if (before?.args !== tool.args) this.#args.replaceChildren(...codeNodes(tool.args));
    this.#args.hidden = tool.args === "";
    if (before?.diff !== tool.diff) {
      const box = this.#diffBox(); // a new one: that which was there goes on filling itself as it is scrolled
      fillWithDiff(box, linesOfDiff(tool.diff ?? ""));
      this.#diff.replaceWith(box);
      this.#diff = box;
    }
    // What is asked shows it already.
    this.#diff.hidden = (tool.diff ?? "") === "" || tool.question !== undefined;
    if (before?.output !== tool.output) this.#showOutput(tool.output);
    this.#cut.hidden = tool.isCut !== true;
    this.#open.hidden = tool.href === undefined;
    this.#open.setAttribute("aria-label", language.t("Open {0}", tool.href ?? ""));
    this.#log.hidden = tool.agentSession === undefined;
    this.#log.setAttribute("aria-label", language.t("Open the chat of the subagent: {0}", tool.title));
    this.#stop.hidden = readOnly || !canStop(tool);
    this.#stop.setAttribute("aria-label", language.t("Stop: {0}", tool.title));
    this.#question.update(tool);
    this.#asking.update(tool);
    this.#tick();
    if (tool.state === "running") this.#untick ??= this.#context.ticker.every(() => this.#tick());
    else this.dispose();
  }

  #diffBox(): HTMLElement {
    const label = this.#context.language.t("Changes");
    return element("pre", { class: "tool-diff", tabindex: 0, dir: "ltr", "aria-label": label, role: "group" });
  }

  dispose(): void {
    this.#untick?.();
    this.#untick = undefined;
  }

  /** The end of a growing output stays in sight, unless somebody scrolled away from it. */
  #showOutput(output: string): void {
    const box = this.#output;
    const follows = box.scrollHeight - box.clientHeight - box.scrollTop < 24;
    const grows = this.#tool.state === "running" || box.childNodes.length > 0; // the last lines may come with the end
    box.replaceChildren(...codeNodes(output));
    box.hidden = output === "";
    if (follows && grows) box.scrollTop = box.scrollHeight;
  }

  #tick(): void {
    setText(this.#note, noteOf(this.#tool, this.#context.ticker.now(), this.#context.language));
  }

  /** What a call did is in the log; it comes when somebody wants to see it. */
  #unfolded(): void {
    const { id, state, isTold } = this.#tool;
    if (!this.#details.open) this.#isAskedFor = false; // one that was not in the log yet is asked for again
    if (!this.#details.open || this.#isAskedFor || isTold === true || !TOOL_STATES[state].isEnded) return;
    this.#isAskedFor = true;
    this.#context.host.send({ type: "tool", do: "output", callId: id });
  }
}

function canStop({ kind, state, background }: ToolRow): boolean {
  return (kind === "command" && state === "running") || background === "running";
}

/** "exit code 1 · 2 s", "running · 12 s", or what it waits for. `now` in Unix milliseconds. */
export function noteOf(tool: ToolRow, now: number, language: Language): string {
  const { t } = language;
  const { state, summary, durationMs, startedAt, background, question, asks } = tool;
  const parts: string[] = [];
  const { note, isEnded } = TOOL_STATES[state];
  if (question !== undefined)
    parts.push(question.isOurs ? t("waiting for your yes") : t("waiting for a yes elsewhere"));
  else if (asks !== undefined) parts.push(t("waiting for your answer"));
  else if (background === "running") parts.push(t("runs in the background"));
  else if (note !== "") parts.push(t(note));
  if (summary !== undefined && summary !== parts.at(-1)) parts.push(summary);
  if (isEnded && durationMs !== undefined && background !== "running") parts.push(durationText(durationMs, language));
  if (state === "running" && startedAt !== undefined && now - startedAt >= 1_000)
    parts.push(durationText(now - startedAt, language));
  return parts.map((part) => ` · ${part}`).join("");
}

function icon(name: IconName): SVGElement {
  const made = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  made.setAttribute("class", "icon");
  made.setAttribute("viewBox", "0 0 16 16");
  made.setAttribute("aria-hidden", "true");
  path.setAttribute("d", iconPaths[name]);
  made.append(path);
  return made;
}

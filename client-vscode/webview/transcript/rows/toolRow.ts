import type { ToolRow } from "../../../src/panel/contract.js";
import { TOOL_STATES } from "../../../src/panel/statuses.js";
import { element, setText } from "../element.js";
import { durationText, type Language } from "../texts.js";
import { codeNodes } from "../markdown/bidi.js";
import type { RowContext } from "./rowView.js";

/** "Read src/tokenizer.py · 2 s", or what it waits for. */
function toolSummary(tool: ToolRow, language: Language): string {
  return [tool.title === "" ? tool.name : tool.title, stateText(tool, language)]
    .filter((part) => part !== "")
    .join(" · ");
}

function stateText(tool: ToolRow, language: Language): string {
  if (tool.state === "done" && tool.durationMs !== undefined) return durationText(tool.durationMs, language);
  const { note } = TOOL_STATES[tool.state];
  return note === "" ? "" : language.t(note);
}

/** One folded line for each call of a tool, with what went in and what came out. */
export class ToolRows {
  readonly element = element("div", { class: "tools" });
  readonly #views = new Map<
    string,
    {
      readonly details: HTMLElement;
      readonly summary: HTMLElement;
      readonly args: HTMLElement;
      readonly output: HTMLElement;
      shown: ToolRow | undefined;
    }
  >();
  readonly #context: RowContext;

  constructor(context: RowContext) {
    this.#context = context;
  }

  update(tools: readonly ToolRow[]): void {
    const { language } = this.#context;
    const gone = new Set(this.#views.keys());
    for (const tool of tools) {
      gone.delete(tool.id);
      const view = this.#views.get(tool.id) ?? this.#add(tool.id);
      if (view.shown === tool) continue;
      view.details.dataset["state"] = tool.state;
      setText(view.summary, toolSummary(tool, language));
      if (view.shown?.args !== tool.args) view.args.replaceChildren(...codeNodes(tool.args));
      if (view.shown?.output !== tool.output) view.output.replaceChildren(...codeNodes(tool.output));
      view.output.hidden = tool.output === "";
      view.shown = tool;
    }
    for (const id of gone) {
      this.#views.get(id)?.details.remove();
      this.#views.delete(id);
    }
  }

  #add(id: string): {
    readonly details: HTMLElement;
    readonly summary: HTMLElement;
    readonly args: HTMLElement;
    readonly output: HTMLElement;
    shown: ToolRow | undefined;
  } {
    const { t } = this.#context.language;
    const summary = element("summary", { tabindex: -1 });
    const args = element("pre", { tabindex: 0, dir: "ltr", "aria-label": t("Arguments"), role: "group" });
    const output = element("pre", { tabindex: 0, dir: "ltr", "aria-label": t("Output"), role: "group" });
    const details = element("details", { class: "tool" }, summary, args, output);
    this.element.append(details);
    const view = { details, summary, args, output, shown: undefined };
    this.#views.set(id, view);
    return view;
  }
}

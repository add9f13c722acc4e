import type { DividerRow, FromPage, Row } from "../../../src/panel/contract.js";
import { button, element, setAttribute, setText } from "../element.js";
import { dividerLines, dividerTitle, foldedText } from "./dividerTexts.js";
import { Problem } from "./problem.js";
import { rating } from "./rating.js";
import { rowFrame, type RowCommand, type RowContext, type RowOf, type RowView } from "./rowView.js";

type CompactionAction = Extract<FromPage, { readonly type: "compaction" }>["do"];

/** A compression: one row from its start to its undo. */
export class DividerView implements RowView {
  readonly element: HTMLElement;
  readonly #context: RowContext;
  readonly #heading: HTMLElement;
  readonly #lines = element("div", { class: "divider-lines" });
  readonly #folded: HTMLButtonElement;
  readonly #problem: Problem;
  readonly #buttons = element("div", { class: "row-buttons" });
  #row: RowOf<"divider">;
  #shownButtons = "";
  #untick: (() => void) | undefined;

  constructor(row: RowOf<"divider">, context: RowContext) {
    this.#row = row;
    this.#context = context;
    const { article, head, heading } = rowFrame("divider", "");
    this.#heading = heading;
    this.#folded = button("", () => this.#toggle(), { class: "link" });
    this.#problem = new Problem(context);
    article.append(head, this.#lines, this.#folded, this.#problem.element, this.#buttons);
    this.element = article;
    this.update(row);
  }

  update(row: Row): void {
    if (row.kind !== "divider") return;
    this.#row = row;
    const { language, ticker } = this.#context;
    this.element.dataset["state"] = row.state;
    setText(this.#heading, dividerTitle(row, language));
    this.#problem.show(row.error);
    this.#showFolded();
    this.#showButtons();
    this.#tick();
    if (row.state === "running" || row.error?.retryAt !== undefined) this.#untick ??= ticker.every(() => this.#tick());
    else this.dispose();
  }

  command(command: RowCommand): boolean {
    if (command === "undo" && this.#canUndo()) void this.#undo();
    else if (command === "open" && this.#hasSnapshot()) this.#send("view");
    else return false;
    return true;
  }

  dispose(): void {
    this.#untick?.();
    this.#untick = undefined;
  }

  #tick(): void {
    const { language, ticker } = this.#context;
    const lines = dividerLines(this.#row, ticker.now(), language);
    while (this.#lines.childElementCount > lines.length) this.#lines.lastElementChild?.remove();
    while (this.#lines.childElementCount < lines.length) this.#lines.append(element("p", { dir: "auto" }));
    for (const [index, line] of lines.entries()) {
      const target = this.#lines.children[index];
      if (target !== undefined) setText(target, line);
    }
    this.#problem.tick();
  }

  #showFolded(): void {
    const run = this.#context.hiddenRun(this.#row.compactionId);
    const turns = run?.turns ?? this.#row.hiddenTurns ?? 0;
    this.#folded.hidden = run === undefined || turns === 0 || this.#row.state !== "compressed";
    setText(this.#folded, foldedText(turns, this.#context.language));
    setAttribute(this.#folded, "aria-expanded", String(run?.expanded ?? false));
  }

  #toggle(): void {
    const { compactionId } = this.#row;
    const run = this.#context.hiddenRun(compactionId);
    if (run !== undefined) this.#context.setExpanded(compactionId, !run.expanded);
  }

  #canUndo(): boolean {
    return this.#row.canUndo === true && !this.#context.readOnly;
  }

  #hasSnapshot(): boolean {
    return this.#row.state === "compressed" || this.#row.state === "preview" || (this.#row.state === "undone" && this.#row.result?.snapshot !== undefined);
  }

  /** Buttons are made anew only if other ones are needed: the focus is on one of them when it changes something. */
  #showButtons(): void {
    const { t } = this.#context.language;
    const wanted = this.#wantedButtons();
    const key = `${wanted.join()} ${this.#row.rating ?? ""} ${this.#row.state}`;
    if (key === this.#shownButtons) return;
    this.#shownButtons = key;
    const labels: Readonly<Record<CompactionAction, string>> = {
      view: t("View snapshot"), compare: t("Compare"), edit: t("Edit"), apply: t("Apply"), discard: t("Discard"), undo: t("Undo"), cancel: t("Cancel"), rate: t("Rate"),
    };
    this.#buttons.replaceChildren(
      ...wanted.map((action) =>
        action === "rate"
          ? rating(this.#row.rating, (stars) => this.#context.host.send({ type: "compaction", do: "rate", compactionId: this.#row.compactionId, rating: stars }), this.#context.language)
          : button(labels[action], () => (action === "undo" ? void this.#undo() : this.#send(action))),
      ),
    );
  }

  #wantedButtons(): readonly CompactionAction[] {
    const changes = !this.#context.readOnly;
    const undo: CompactionAction[] = this.#canUndo() ? ["undo"] : [];
    switch (this.#row.state) {
      case "running":
        return changes ? ["cancel"] : [];
      case "preview":
        return changes ? ["apply", "edit", "compare", "discard"] : ["view", "compare"];
      case "compressed":
        return ["view", "compare", ...undo, ...(changes ? (["rate"] as const) : [])];
      case "truncated":
        return undo;
      case "undone":
        return this.#hasSnapshot() ? ["view"] : [];
      default:
        return [];
    }
  }

  async #undo(): Promise<void> {
    const { host, language } = this.#context;
    const { compactionId } = this.#row;
    const yes = await host.confirm(language.t("Undo this compression? The earlier turns are sent to Gemini again; what came later stays."));
    if (yes && this.#canUndo()) host.send({ type: "compaction", do: "undo", compactionId });
  }

  #send(action: CompactionAction): void {
    const { compactionId }: DividerRow = this.#row;
    this.#context.host.send({ type: "compaction", do: action, compactionId });
  }
}

import type { CompressionAction, DividerRow, Row } from "../../../src/panel/contract.js";
import { COMPRESSION_ACTIONS, dividerLook } from "../../../src/panel/statuses.js";
import { button, element, setAttribute, setText } from "../element.js";
import { dividerLines, dividerTitle, foldedText } from "./dividerTexts.js";
import { Facts } from "./facts.js";
import { Problem } from "./problem.js";
import { rating } from "./rating.js";
import { rowFrame, type RowCommand, type RowContext, type RowOf, type RowView } from "./rowView.js";

/** A compression: one row from its start to its undo. */
export class DividerView implements RowView {
  readonly element: HTMLElement;
  readonly #context: RowContext;
  readonly #heading: HTMLElement;
  readonly #lines = element("div", { class: "divider-lines" });
  readonly #facts: Facts;
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
    this.#facts = new Facts(context);
    this.#problem = new Problem(context);
    article.append(head, this.#lines, this.#facts.element, this.#folded, this.#problem.element, this.#buttons);
    this.element = article;
    this.update(row);
  }

  update(row: Row): void {
    if (row.kind !== "divider") return;
    this.#row = row;
    const { language, ticker } = this.#context;
    const look = dividerLook(row.state);
    this.element.dataset["state"] = row.state;
    this.element.toggleAttribute("data-running", look.isRunning);
    this.element.toggleAttribute("data-prominent", look.isProminent === true);
    setText(this.#heading, dividerTitle(row, language));
    this.#facts.update(look.hasFacts === true ? row.result : undefined);
    this.#problem.show(row.error);
    this.#showFolded();
    this.#showButtons();
    this.#showUndo();
    this.#tick();
    if (look.isRunning || row.error?.retryAt !== undefined) this.#untick ??= ticker.every(() => this.#tick());
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
    const run = this.#context.hiddenRun(this.#row.compressionId);
    const turns = run?.turns ?? this.#row.hiddenTurns ?? 0;
    this.#folded.hidden = run === undefined || turns === 0 || dividerLook(this.#row.state).hidesTurns !== true;
    setText(this.#folded, foldedText(turns, this.#context.language));
    setAttribute(this.#folded, "aria-expanded", String(run?.expanded ?? false));
  }

  #toggle(): void {
    const { compressionId } = this.#row;
    const run = this.#context.hiddenRun(compressionId);
    if (run !== undefined) this.#context.setExpanded(compressionId, !run.expanded);
  }

  #canUndo(): boolean {
    return this.#showsUndo() && this.#row.undoWaits !== true;
  }

  #showsUndo(): boolean {
    return this.#row.canUndo === true && !this.#context.readOnly;
  }

  /** Whether the snapshot can be opened: one that was undone may have had none. */
  #hasSnapshot(): boolean {
    const { state, result } = this.#row;
    const canBeViewed = dividerLook(state).readOnlyActions.includes("view");
    return canBeViewed && (state !== "undone" || result?.snapshot !== undefined);
  }

  /** Whether what was said is quoted beside its snapshot, and no later compression took its place. */
  #keepsWords(): boolean {
    const { state, result, canUndo } = this.#row;
    return result?.strategy === "record" && (state === "preview" || canUndo === true);
  }

  /** Buttons are made anew only if other ones are needed: the focus is on one of them when it changes something. */
  #showButtons(): void {
    const { t } = this.#context.language;
    const wanted = this.#wantedButtons();
    const key = `${wanted.join()} ${this.#row.rating ?? ""} ${this.#row.state}`;
    if (key === this.#shownButtons) return;
    this.#shownButtons = key;
    this.#buttons.replaceChildren(
      ...wanted.map((action) =>
        action === "rate"
          ? rating(
              this.#row.rating,
              (stars) =>
                this.#context.host.send({
                  type: "compression",
                  do: "rate",
                  compressionId: this.#row.compressionId,
                  rating: stars,
                }),
              this.#context.language,
            )
          : button(t(COMPRESSION_ACTIONS[action].label), () => {
              if (action !== "undo") this.#send(action);
              else if (this.#row.undoWaits === true) this.#send("cancelUndo");
              else if (this.#canUndo()) void this.#undo();
            }),
      ),
    );
  }

  /** In place: the button that was pressed keeps the focus while its undo waits, and calls that off. */
  #showUndo(): void {
    const { t } = this.#context.language;
    const waits = this.#row.undoWaits === true;
    const wanted = this.#wantedButtons();
    const [undo, rate] = [wanted.indexOf("undo"), wanted.indexOf("rate")].map((at) => this.#buttons.children[at]);
    const action = waits ? "cancelUndo" : "undo";
    if (undo !== undefined) setText(undo, t(COMPRESSION_ACTIONS[action].label));
    rate?.toggleAttribute("hidden", waits); // nobody rates what goes, and all stand in one line
  }

  #wantedButtons(): readonly CompressionAction[] {
    const { actions, readOnlyActions } = dividerLook(this.#row.state);
    return (this.#context.readOnly ? readOnlyActions : actions).filter(
      (action) =>
        (action !== "undo" || this.#showsUndo()) &&
        (action !== "view" || this.#hasSnapshot()) &&
        (action !== "kept" || this.#keepsWords()),
    );
  }

  async #undo(): Promise<void> {
    const { host, language } = this.#context;
    const { compressionId } = this.#row;
    const yes = await host.confirm(
      language.t("Undo this compression? The earlier turns are sent to Gemini again; what came later stays."),
    );
    if (yes && this.#canUndo()) host.send({ type: "compression", do: "undo", compressionId });
  }

  #send(action: CompressionAction): void {
    const { compressionId }: DividerRow = this.#row;
    this.#context.host.send({ type: "compression", do: action, compressionId });
  }
}

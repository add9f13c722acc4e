import type { HiddenRun } from "../../../src/panel/contract.js";
import { button, setAttribute, setText } from "../element.js";
import { plural } from "../texts.js";
import { rowFrame, type RowCommand, type RowContext } from "./rowView.js";

/** Stands for a run of rows that a compression hides from the model; the rows themselves are shown below it when it is unfolded. */
export class FoldView {
  readonly element: HTMLElement;
  readonly #context: RowContext;
  readonly #heading: HTMLElement;
  readonly #button: HTMLButtonElement;
  #run: HiddenRun;

  constructor(run: HiddenRun, context: RowContext) {
    this.#run = run;
    this.#context = context;
    const { article, heading, head } = rowFrame("fold", "");
    this.#heading = heading;
    this.#button = button("", () => this.command("open"), { class: "link" });
    head.append(this.#button);
    this.element = article;
    this.update(run);
  }

  update(run: HiddenRun): void {
    this.#run = run;
    const { language } = this.#context;
    const { t } = language;
    const expanded = this.#context.hiddenRun(run.compressionId)?.expanded ?? false;
    setText(
      this.#heading,
      plural(
        run.turns,
        "{0} earlier turn is no longer sent to Gemini",
        "{0} earlier turns are no longer sent to Gemini",
        language,
      ),
    );
    setText(this.#button, expanded ? t("Hide") : t("Show"));
    setAttribute(this.#button, "aria-expanded", String(expanded));
  }

  command(command: RowCommand): boolean {
    if (command !== "open") return false;
    const { compressionId } = this.#run;
    this.#context.setExpanded(compressionId, !(this.#context.hiddenRun(compressionId)?.expanded ?? false));
    return true;
  }
}

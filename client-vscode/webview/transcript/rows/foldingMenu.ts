import type { Row } from "../../../src/panel/contract.js";
import { button, element } from "../element.js";
import type { RowContext } from "./rowView.js";

/** Compressing everything up to a message, or from it on: two buttons that open in the line of the others. Both show a preview first. */
export class FoldingMenu {
  readonly element: HTMLDetailsElement;
  readonly #context: RowContext;

  constructor(
    private readonly turnId: string,
    context: RowContext,
  ) {
    this.#context = context;
    const { t } = context.language;
    this.element = element(
      "details",
      { class: "row-more" },
      element("summary", { tabindex: -1, "aria-label": t("More"), title: t("More") }, "⋯"),
      button(t("Compress up to here"), () => this.#ask("upTo"), {
        title: t("Compresses this turn and everything before it; a preview comes first"),
      }),
      button(t("Compress from here"), () => this.#ask("from"), {
        title: t("Compresses this turn and everything after it; a preview comes first"),
      }),
    );
    this.element.querySelector("summary")?.addEventListener("click", () => context.keepPlace());
  }

  /** Shown where it can be done: not for what is hidden already, is on its way, or is somebody else's. */
  update(row: Row): void {
    const isLogged = !this.turnId.startsWith("local-") && !this.turnId.startsWith("entry-");
    this.element.hidden = this.#context.readOnly || row.hiddenBy !== undefined || !isLogged;
  }

  #ask(where: "upTo" | "from"): void {
    this.element.open = false;
    this.element.querySelector("summary")?.focus();
    this.#context.host.send({ type: "compress", preview: true, guided: false, [where]: this.turnId });
    this.#context.goToEnd();
  }
}

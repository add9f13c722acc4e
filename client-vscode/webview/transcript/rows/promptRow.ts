import type { PromptRow, Row } from "../../../src/panel/contract.js";
import { PROMPT_OUTCOMES } from "../../../src/panel/statuses.js";
import { button, element, setAttribute, setText } from "../element.js";
import { countText, plural, timeText, type Language } from "../texts.js";
import { buttonLine, copyText } from "./buttons.js";
import { foldedNodes, isFolded } from "./folding.js";
import { FoldingMenu } from "./foldingMenu.js";
import { pictureList } from "./pictures.js";
import { receiptDetails } from "./receipt.js";
import { RuleLines } from "./rules.js";
import { rowFrame, type RowCommand, type RowContext, type RowOf, type RowView } from "./rowView.js";

/** What became of a prompt whose turn did not complete. */
function outcomeText(outcome: NonNullable<PromptRow["outcome"]>, { t }: Language): string {
  return t(PROMPT_OUTCOMES[outcome].note);
}

/** "Command of this project, ran 1 command" */
function commandText({ scope, owner = "", calls = [] }: NonNullable<PromptRow["command"]>, language: Language): string {
  const { t } = language;
  const whose = {
    builtIn: t("Command"),
    user: t("Command of yours"),
    workspace: t("Command of this project"),
    extension: t("Command of {0}", owner),
    server: t("Command of {0}", owner),
  }[scope];
  return calls.length === 0
    ? whose
    : `${whose}, ${plural(calls.length, "ran {0} command", "ran {0} commands", language)}`;
}

/** A prompt: plain text, word for word; a long one folded. */
export class PromptView implements RowView {
  readonly element: HTMLElement;
  readonly #context: RowContext;
  readonly #outcome = element("span", { class: "row-note" });
  readonly #pinned = element("span", { class: "row-note" });
  readonly #time = element("time");
  readonly #text = element("div", { class: "prompt-text", dir: "auto" });
  readonly #fold: HTMLButtonElement;
  readonly #receipt = element("div");
  readonly #rules: RuleLines;
  readonly #folding: FoldingMenu;
  readonly #copy: HTMLButtonElement;
  readonly #pin: HTMLButtonElement;
  readonly #goBack: HTMLButtonElement;
  #row: RowOf<"prompt">;
  #isUnfolded = false;
  #shownText = "";
  readonly #pictures = element("div");
  #shownPictures: PromptRow["pictures"];
  #shownReceipt: PromptRow["receipt"];
  readonly #command = element("div");
  #shownCommand: PromptRow["command"];

  constructor(row: RowOf<"prompt">, context: RowContext) {
    this.#row = row;
    this.#context = context;
    const { t } = context.language;
    const { article, head } = rowFrame("prompt", t("You"));
    this.#copy = button(t("Copy"), () => this.command("copy"));
    this.#pin = button(t("Pin"), () => this.command("pin"));
    this.#fold = button("", () => this.#toggle(), { class: "link" });
    this.#rules = new RuleLines(context);
    this.#folding = new FoldingMenu(row.turnId, context);
    head.append(this.#pinned, this.#outcome, this.#time);
    this.#goBack = button(t("Go back to here…"), () => this.#goBackHere(), {
      title: t("The chat, the files, or both, as they were before this prompt"),
    });
    const buttons = buttonLine(this.#copy, this.#pin, this.#goBack, this.#folding.element);
    article.append(this.#text, this.#fold, this.#pictures, this.#rules.element, this.#command, this.#receipt, buttons);
    this.element = article;
    this.update(row);
  }

  update(row: Row): void {
    if (row.kind !== "prompt") return;
    this.#row = row;
    const { language, readOnly } = this.#context;
    const { t } = language;
    this.#showText();
    showTime(this.#time, row.time, language);
    setText(this.#outcome, row.outcome === undefined ? "" : outcomeText(row.outcome, language));
    setText(this.#pinned, row.pinId === undefined ? "" : t("Pinned"));
    setText(this.#pin, row.pinId === undefined ? t("Pin") : t("Unpin"));
    this.#pin.hidden = readOnly;
    this.#goBack.hidden = readOnly || row.turnId.startsWith("local-") || row.turnId.startsWith("entry-");
    this.#rules.update(row.rules ?? []);
    this.#folding.update(row);
    this.#showCommand();
    if (JSON.stringify(row.pictures) !== JSON.stringify(this.#shownPictures)) {
      this.#shownPictures = row.pictures;
      this.#pictures.replaceChildren(...(row.pictures === undefined ? [] : [pictureList(row.pictures, this.#context)]));
    }
    if (row.receipt !== this.#shownReceipt) {
      this.#shownReceipt = row.receipt;
      this.#receipt.replaceChildren(...(row.receipt === undefined ? [] : [receiptDetails(row.receipt, this.#context)]));
    }
  }

  /** Whose command it is, and the way to what went to the model in its place. */
  #showCommand(): void {
    const { command, turnId } = this.#row;
    if (command === this.#shownCommand) return;
    this.#shownCommand = command;
    const { host, language } = this.#context;
    const show = button(language.t("Show what was sent"), () => host.send({ type: "turn", do: "showSent", turnId }), {
      class: "link",
    });
    this.#command.className = "command-use";
    this.#command.replaceChildren(
      ...(command === undefined
        ? []
        : [element("span", { class: "row-note" }, commandText(command, language)), " ", show]),
    );
  }

  showPlace(offset: number): void {
    if (isFolded(this.#row, offset)) this.#setUnfolded(true);
  }

  #toggle(): void {
    this.#context.keepPlace();
    this.#setUnfolded(!this.#isUnfolded);
  }

  #setUnfolded(isUnfolded: boolean): void {
    this.#isUnfolded = isUnfolded;
    this.#showText();
  }

  #showText(): void {
    const { text, pasted } = this.#row;
    const { t, locale } = this.#context.language;
    this.#fold.hidden = !isFolded(this.#row);
    const shown = JSON.stringify([this.#isUnfolded, text, pasted]);
    // The same nodes again: a selection in them would be lost.
    if (shown !== this.#shownText) {
      this.#shownText = shown;
      this.#text.replaceChildren(
        ...(this.#isUnfolded ? [document.createTextNode(text)] : foldedNodes(this.#row, this.#context)),
      );
    }
    setText(
      this.#fold,
      this.#isUnfolded ? t("Show less") : t("Show all {0} characters", countText(text.length, locale)),
    );
    setAttribute(this.#fold, "aria-expanded", String(this.#isUnfolded));
  }

  #goBackHere(): void {
    this.#context.host.send({ type: "turn", do: "goBack", turnId: this.#row.turnId });
  }

  command(command: RowCommand): boolean {
    const { host, readOnly, canRetry } = this.#context;
    const { turnId, pinId, text } = this.#row;
    if (command === "copy") copyText(text, this.#context, this.#copy);
    else if (command === "fork") host.send({ type: "turn", do: "fork", turnId });
    else if (command === "pin" && !readOnly)
      host.send({ type: "turn", do: pinId === undefined ? "pin" : "unpin", turnId });
    else if (command === "retry" && canRetry(turnId)) host.send({ type: "turn", do: "retry", turnId });
    else return false;
    return true;
  }
}

/** Shows when a row was, if that is known. */
export function showTime(target: HTMLTimeElement, time: number | undefined, { locale }: Language): void {
  const date = time === undefined ? undefined : new Date(time);
  const known = date !== undefined && !Number.isNaN(date.getTime());
  setText(target, known ? timeText(date.getTime(), locale, Date.now()) : "");
  setAttribute(target, "datetime", known && date.toISOString());
}

/** Keys and clicks in the transcript. */
import type { TranscriptHost } from "./host.js";
import { keyCommand, type KeyCommand, type KeyPlace } from "./keys.js";
import type { RowList } from "./list.js";
import { codeOf, unfold, type CodeAction } from "./markdown/codeFigure.js";
import { unfoldTable } from "./markdown/longTable.js";
import { articleOf, type Roving } from "./roving.js";
import { showCopied } from "./rows/buttons.js";

/** What the keys move. */
export interface Navigation {
  readonly feed: HTMLElement;
  readonly list: RowList;
  readonly roving: Roving;
  readonly host: TranscriptHost;
  readonly messageKeys: boolean;
  /** Brings an item into sight and gives it the focus. */
  focusItem(index: number): void;
  /** To the end, and follow it. */
  goToEnd(): void;
}

export class Navigator {
  readonly #around: Navigation;

  constructor(around: Navigation) {
    this.#around = around;
    around.feed.addEventListener("keydown", (event) => this.#key(event));
    around.feed.addEventListener("click", (event) => this.#click(event));
  }

  #key(event: KeyboardEvent): void {
    const article = articleOf(event.target);
    if (article === undefined || event.isComposing || !(event.target instanceof Element)) return;
    if (event.key === "Enter" && followLink(event.target, this.#around.host)) {
      event.preventDefault();
      return;
    }
    const command = keyCommand(event, placeOf(event.target, article), this.#around.messageKeys);
    if (command === undefined || !this.#run(command, article, event.target)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the command had something to do; if not, the key is the browser's. */
  #run(command: KeyCommand, article: HTMLElement, target: Element): boolean {
    const { list, roving } = this.#around;
    const index = Number(article.dataset["index"]);
    switch (command.do) {
      case "move":
        return this.#move(command.to, index);
      case "enter":
        if (article.classList.contains("divider") && list.viewAt(index)?.command("open") === true) return true;
        return roving.enter(article);
      case "leave":
        roving.focus(article);
        return true;
      case "row":
        return list.viewAt(index)?.command(command.command) ?? false;
      case "copyCode":
        return this.#copyCode(target);
      case "toolbar":
        return stepInToolbar(target, command.step);
    }
  }

  #move(to: Extract<KeyCommand, { readonly do: "move" }>["to"], index: number): boolean {
    const { list } = this.#around;
    const last = list.length - 1;
    if (to === "last") this.#around.goToEnd();
    const target = {
      next: index + 1,
      previous: index - 1,
      first: 0,
      last,
      nextPrompt: this.#prompt(index, 1),
      previousPrompt: this.#prompt(index, -1),
    }[to];
    if (target < 0 || target > last) return true;
    this.#around.focusItem(target);
    return true;
  }

  /** The next prompt in a direction. A row that is not here yet may be one, so the way stops there. */
  #prompt(index: number, step: 1 | -1): number {
    const { list } = this.#around;
    for (let at = index + step; at >= 0 && at < list.length; at += step) {
      const row = list.rowAt(at);
      if (row?.kind === "prompt" || (row === undefined && list.outline.at(at)?.kind === "row")) return at;
    }
    return -1;
  }

  #copyCode(target: Element): boolean {
    if (document.getSelection()?.isCollapsed === false) return false;
    const pre = target.closest("pre");
    if (pre === null) return false;
    const { host } = this.#around;
    const figure = pre.closest("figure.code");
    host.send({
      type: "code",
      do: "copy",
      text: pre.textContent,
      language: figure === null ? "" : codeOf(figure).language,
    });
    host.announce(host.t("Copied"));
    return true;
  }

  #click(event: MouseEvent): void {
    if (!(event.target instanceof Element)) return;
    const { host } = this.#around;
    if (followLink(event.target, host)) return;
    const pressed = event.target.closest<HTMLElement>("[data-code]");
    if (pressed === null) return;
    const figure = pressed.closest("figure.code");
    if (figure === null) {
      const table = pressed.closest(".table");
      if (table !== null) unfoldTable(table);
      return;
    }
    const action = pressed.dataset["code"] as CodeAction; // set in codeFigure.ts only; the sanitiser lets no data attribute through
    if (action === "showAll") {
      unfold(figure);
      return;
    }
    host.send({ type: "code", do: action, ...codeOf(figure) });
    if (action !== "copy") return;
    host.announce(host.t("Copied"));
    showCopied(pressed, host.t("Copied"));
  }
}

function followLink(target: Element, host: TranscriptHost): boolean {
  const href = target.closest<HTMLElement>("a[data-href]")?.dataset["href"];
  if (href === undefined) return false;
  host.send({ type: "open", href });
  return true;
}

function placeOf(target: Element, article: HTMLElement): KeyPlace {
  if (target === article) return "message";
  if (target.closest("pre") !== null) return "code";
  return target.closest("[role=toolbar]") === null ? "inside" : "toolbar";
}

function stepInToolbar(target: Element, step: 1 | -1): boolean {
  const buttons = [...(target.closest("[role=toolbar]")?.querySelectorAll("button") ?? [])];
  const next = buttons[buttons.findIndex((one) => one === target) + step];
  next?.focus();
  return next !== undefined;
}

import type { Action, AnswerRow, Row } from "../../../src/panel/contract.js";
import { answerLook } from "../../../src/panel/statuses.js";
import { button, element, setText } from "../element.js";
import { MarkdownView } from "../markdown/markdownView.js";
import { Pacer } from "../markdown/pacing.js";
import { countText, durationText, plural } from "../texts.js";
import { AnswerBody } from "./answerBody.js";
import { answerStateText, isGrowing, isTimed, thoughtText } from "./answerState.js";
import { actionButtons, buttonLine, copyText } from "./buttons.js";
import { FoldingMenu } from "./foldingMenu.js";
import { Problem } from "./problem.js";
import { showTime } from "./promptRow.js";
import { rowFrame, type RowCommand, type RowContext, type RowOf, type RowView } from "./rowView.js";

/** An answer, from the moment its prompt is sent. */
export class AnswerView implements RowView {
  readonly element: HTMLElement;
  readonly markdown: AnswerBody;
  readonly #context: RowContext;
  readonly #pacer = new Pacer();
  readonly #thoughtsMarkdown: MarkdownView;
  readonly #thoughts: HTMLDetailsElement;
  readonly #thoughtsSummary = element("summary", { tabindex: -1 });
  readonly #problem: Problem;
  readonly #model = element("span", { class: "model" });
  readonly #time = element("time");
  readonly #state = element("div", { class: "state" });
  readonly #stateText = element("span");
  readonly #stoppedRetry: HTMLButtonElement;
  readonly #goOn: HTMLElement;
  readonly #usage = element("span", { class: "usage" });
  readonly #copy: HTMLButtonElement;
  readonly #retry: HTMLButtonElement;
  readonly #pin: HTMLButtonElement;
  readonly #folding: FoldingMenu;
  readonly #buttons: HTMLElement;
  #row: RowOf<"answer">;
  /** What the Markdown of the thoughts was given, to tell an appended text from another one. */
  #thoughtsText = "";
  #untick: (() => void) | undefined;

  constructor(row: RowOf<"answer">, context: RowContext) {
    this.#row = row;
    this.#context = context;
    const { t } = context.language;
    const { article, head } = rowFrame("answer", t("Gemini"));
    this.markdown = new AnswerBody(context);
    this.#thoughtsMarkdown = new MarkdownView(t);
    this.#thoughts = element("details", { class: "thoughts" }, this.#thoughtsSummary, this.#thoughtsMarkdown.element);
    this.#thoughts.addEventListener("toggle", () => this.#showThoughts());
    this.#problem = new Problem(context);
    this.#stoppedRetry = button(t("Retry"), () => this.command("retry"));
    this.#state.append(this.#stateText, this.#stoppedRetry);
    const goOn: Action = { id: "resumeTurn", label: t("Go On"), argument: row.turnId };
    this.#goOn = buttonLine(...actionButtons([goOn], context));
    this.#goOn.classList.add("way-on");
    this.#copy = button(t("Copy"), () => this.command("copy"));
    this.#retry = button(t("Retry"), () => this.command("retry"));
    this.#pin = button(t("Pin"), () => this.command("pin"));
    this.#folding = new FoldingMenu(row.turnId, context);
    this.#buttons = buttonLine(
      this.#copy,
      this.#retry,
      button(t("Fork here"), () => this.command("fork")),
      this.#pin,
      this.#folding.element,
      this.#usage,
    );
    head.append(this.#model, this.#time);
    article.append(
      this.#thoughts,
      this.markdown.element,
      this.#state,
      this.#problem.element,
      this.#goOn,
      this.#buttons,
    );
    this.element = article;
    this.update(row);
  }

  update(row: Row): void {
    if (row.kind !== "answer") return;
    this.#row = row;
    const { language, readOnly, canRetry } = this.#context;
    const { t } = language;
    const look = answerLook(row.state);
    const growing = look.isLive;
    this.element.dataset["state"] = row.state;
    this.element.toggleAttribute("data-spins", look.spins);
    setText(this.#model, row.model);
    showTime(this.#time, row.time, language);
    setText(this.#thoughtsSummary, thoughtText(row, language));
    this.#thoughts.hidden = row.thoughts === "";
    this.#takeTexts(row, growing);
    const retries = canRetry(row.turnId);
    this.#problem.show(row.error, retries);
    const retriesBesideLine = look.retriesBesideLine === true && row.canGoOn !== true; // to go on is wanted more
    this.#stoppedRetry.hidden = !retriesBesideLine || !retries;
    this.#goOn.hidden = readOnly || row.canGoOn !== true;
    this.#buttons.hidden = growing;
    this.#copy.hidden = row.text === "";
    // One of its own stands where it is wanted most.
    this.#retry.hidden = !retries || retriesBesideLine || this.#problem.offersRetry;
    this.#pin.hidden = readOnly;
    this.#folding.update(row);
    setText(this.#pin, row.pinId !== undefined ? t("Unpin") : t("Pin"));
    this.#pin.title = t("Keeps the prompt of this answer word for word through every compression");
    this.#showUsage(row);
    this.#tick();
    if (isTimed(row)) this.#untick ??= this.#context.ticker.every(() => this.#tick());
    else this.#stopTicking();
  }

  renderStream(): void {
    const start = performance.now();
    if (!this.#pacer.due(start)) {
      this.#context.requestRender(this);
      return;
    }
    this.markdown.render();
    if (this.#thoughts.open) this.#thoughtsMarkdown.render();
    // The layout comes in this frame anyway; asked for here, it counts as a part of the cost.
    this.element.getBoundingClientRect();
    this.#pacer.rendered(start, performance.now());
  }

  command(command: RowCommand): boolean {
    const { host, readOnly, canRetry } = this.#context;
    const { turnId, pinId, text } = this.#row;
    if (command === "copy" && text !== "") copyText(text, this.#context, this.#copy);
    else if (command === "fork") host.send({ type: "turn", do: "fork", turnId });
    else if (command === "pin" && !readOnly)
      host.send({ type: "turn", do: pinId === undefined ? "pin" : "unpin", turnId });
    else if (command === "retry" && canRetry(turnId)) {
      if (!this.#problem.retry()) host.send({ type: "turn", do: "retry", turnId });
    } else return false;
    return true;
  }

  dispose(): void {
    this.markdown.dispose();
    this.#stopTicking();
  }

  #stopTicking(): void {
    this.#untick?.();
    this.#untick = undefined;
  }

  #takeTexts(row: AnswerRow, growing: boolean): void {
    this.markdown.update(row);
    take(this.#thoughtsMarkdown, this.#thoughtsText, row.thoughts);
    this.#thoughtsText = row.thoughts;
    if (!growing) {
      this.markdown.finish();
      this.#showThoughts();
    } else if (this.markdown.stale || this.#thoughtsMarkdown.stale) {
      this.#context.requestRender(this);
    }
  }

  /** Thoughts are rendered only where somebody looks at them. */
  #showThoughts(): void {
    if (!this.#thoughts.open) return;
    if (isGrowing(this.#row)) this.#thoughtsMarkdown.render();
    else this.#thoughtsMarkdown.finish();
  }

  #showUsage({ usage, durationMs }: AnswerRow): void {
    const { language } = this.#context;
    const { t, locale } = language;
    setText(this.#usage, usage === undefined ? "" : plural(usage.outputTokens, "{0} token", "{0} tokens", language));
    if (usage === undefined) return;
    const parts = [
      t("{0} sent", countText(usage.promptTokens, locale)),
      usage.cachedTokens > 0 && t("{0} of them cached", countText(usage.cachedTokens, locale)),
      usage.thoughtTokens > 0 && t("{0} thought", countText(usage.thoughtTokens, locale)),
      t("{0} answered", countText(usage.outputTokens, locale)),
      durationMs !== undefined && durationText(durationMs, language),
    ];
    this.#usage.title = parts.filter((part) => part !== false).join(", ");
  }

  #tick(): void {
    const { ticker, language } = this.#context;
    const text = answerStateText(this.#row, ticker.now(), language);
    setText(this.#stateText, text);
    this.#state.hidden = text === "";
    this.#problem.tick();
  }
}

function take(view: MarkdownView, old: string, now: string): void {
  if (now === old) return;
  if (now.startsWith(old)) view.append(now.slice(old.length));
  else view.restart(now);
}

/** What a screen reader is told, by comparing rows with what was known of them: starts and ends, never tokens. */
import type { AnswerRow, AnswerState, DividerRow, PanelSettings, Row } from "../../src/panel/contract.js";
import { t } from "../strings.js";
import { formatCount } from "./numbers.js";

export interface News {
  readonly text: string;
  readonly assertive: boolean;
}

/** States in which nothing more comes of itself. */
const ended: ReadonlySet<AnswerState> = new Set(["done", "stopped", "failed", "blocked"]);
const answering: ReadonlySet<AnswerState> = new Set(["sending", "thinking", "streaming"]);

export class NewsDesk {
  /** The last known state of a row, with the attempt: what was news once is not news again. */
  readonly #known = new Map<string, string>();

  /** Takes rows as known without a word: those of a snapshot are history. */
  learn(rows: readonly Row[]): void {
    this.#known.clear();
    for (const row of rows) this.#remember(row);
  }

  /** What changed in `rows`. Errors are told in every setting, the rest not if `announce` is off. */
  read(rows: readonly Row[], settings: Pick<PanelSettings, "announce" | "locale">): readonly News[] {
    const news: News[] = [];
    for (const row of rows) {
      const before = this.#known.get(row.id);
      if (before === this.#remember(row)) continue;
      const item = row.kind === "answer" ? answerNews(row, before, settings) : row.kind === "divider" ? dividerNews(row, settings.locale) : undefined;
      if (item !== undefined && (item.assertive || settings.announce !== "off")) news.push(item);
    }
    return news;
  }

  #remember(row: Row): string {
    const state = row.kind === "answer" ? phaseOf(row) : row.kind === "divider" ? row.state : "";
    if (state !== "") this.#known.set(row.id, state);
    return state;
  }
}

/** Sending, thinking and streaming are one thing to be told. */
function phaseOf(row: AnswerRow): string {
  return answering.has(row.state) ? "answering" : row.state;
}

function answerNews(row: AnswerRow, before: string | undefined, settings: Pick<PanelSettings, "announce" | "locale">): News | undefined {
  // A row that comes in ended is an older one that was scrolled to.
  if (before === undefined && ended.has(row.state)) return undefined;
  switch (row.state) {
    case "queued":
      return calm(t("Prompt queued"));
    case "sending":
    case "thinking":
    case "streaming":
      return before === "waiting" ? undefined : calm(t("Gemini is answering"));
    case "waiting":
      return { text: t("Gemini asks for your permission to use a tool"), assertive: true };
    case "stopping":
      return calm(t("Stopping"));
    case "stopped":
      return calm(t("Stopped"));
    case "failed":
    case "blocked":
      return { text: row.error === undefined ? t("The answer failed") : sentence(row.error.message, row.error.hint), assertive: true };
    case "done":
      return calm(settings.announce === "answer" && row.text.trim() !== "" ? t("Gemini: {0}", row.text) : finished(row.text, settings.locale));
  }
}

/** `Answer finished, 240 words, 2 code blocks`. */
function finished(markdown: string, locale: string): string {
  const { words, codeBlocks } = measure(markdown);
  const parts = [t("Answer finished"), words === 1 ? t("1 word") : t("{0} words", formatCount(words, locale))];
  if (codeBlocks > 0) parts.push(codeBlocks === 1 ? t("1 code block") : t("{0} code blocks", formatCount(codeBlocks, locale)));
  return parts.join(", ");
}

/** Words outside of code blocks, and how many code blocks there are; an open one at the end counts. */
export function measure(markdown: string): { readonly words: number; readonly codeBlocks: number } {
  let fence: string | undefined;
  let words = 0;
  let codeBlocks = 0;
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined;
    } else if (mark !== undefined) {
      fence = mark;
      codeBlocks += 1;
    } else {
      words += line.match(/[\p{L}\p{N}][^\s]*/gu)?.length ?? 0;
    }
  }
  return { words, codeBlocks };
}

function dividerNews(row: DividerRow, locale: string): News | undefined {
  switch (row.state) {
    case "running":
      return calm(row.trigger === "background" ? "" : t("Compressing the chat"));
    case "compressed":
    case "truncated":
      return calm(row.result === undefined ? t("Chat compressed") : t("Chat compressed to {0} tokens", formatCount(row.result.newTokenCount, locale)));
    case "unchanged":
      return calm(t("Chat not compressed. {0}", row.result?.message ?? ""));
    case "cancelled":
      return calm(t("Compression cancelled"));
    case "preview":
      return calm(t("The preview of the compression is ready"));
    case "undone":
      return calm(t("Compression undone"));
    case "failed":
      return { text: row.error === undefined ? t("The compression failed") : sentence(row.error.message, row.error.hint), assertive: true };
  }
}

function calm(text: string): News | undefined {
  return text.trim() === "" ? undefined : { text: text.trim(), assertive: false };
}

/** A message and its hint as they are read out. */
export function sentence(message: string, hint: string): string {
  return [message, hint].filter((part) => part !== "").join(" ");
}

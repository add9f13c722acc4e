/** What a screen reader reads out, by comparing rows with what was known of them: starts and ends, never tokens. */
import type { AnswerRow, DividerRow, ErrorView, PanelSettings, PromptRow, Row } from "../../src/panel/contract.js";
import { answerLook, dividerLook, TOOL_STATES, type AnnouncedStatus } from "../../src/panel/statuses.js";
import { TOOL_KINDS } from "../../src/panel/tools.js";
import { RULE_STANDINGS, ruleStanding } from "../../src/panel/rules.js";
import { t } from "../strings.js";
import { formatCount } from "./numbers.js";

export interface Announcement {
  readonly text: string;
  readonly assertive: boolean;
}

type Rule = NonNullable<PromptRow["rules"]>[number];

type Tool = AnswerRow["tools"][number];

export class Announcer {
  /** The last known state of a row: what was announced once is not announced again. */
  readonly #known = new Map<string, string>();
  /** How answers ended, as far as that was announced: a chat that is opened again tells no end twice. */
  readonly #told = new Map<string, string>();

  /** What became of rows that were known, for a page that is brought up to date while something runs; the rest of a sync is history. */
  catchUp(rows: readonly Row[], settings: Pick<PanelSettings, "announce" | "locale">): readonly Announcement[] {
    const news = this.read(
      rows.filter((row) => this.#known.has(row.id)),
      settings,
    );
    this.learn(rows);
    return news;
  }

  /** Takes rows as known without a word: those of another chat are history. */
  learn(rows: readonly Row[]): void {
    this.#known.clear();
    for (const row of rows) this.#remember(row);
  }

  /** What changed in `rows`. Errors are announced in every setting, the rest not if `announce` is off. */
  read(rows: readonly Row[], settings: Pick<PanelSettings, "announce" | "locale">): readonly Announcement[] {
    const announcements: Announcement[] = [];
    for (const row of rows) {
      if (row.kind === "answer") {
        const isKnown = this.#known.has(row.id);
        for (const tool of row.tools) {
          const item = this.#toolNews(tool, isKnown);
          if (item !== undefined && (item.assertive || settings.announce !== "off")) announcements.push(item);
        }
      }
      const before = this.#known.get(row.id);
      if (before === this.#remember(row)) continue;
      if (row.kind === "prompt") {
        if (settings.announce !== "off") announcements.push(...ruleAnnouncements(row, before));
        continue;
      }
      const item =
        row.kind === "answer"
          ? this.#untold(row, answerAnnouncement(row, before, settings))
          : row.kind === "divider"
            ? dividerAnnouncement(row, settings.locale)
            : undefined;
      if (item !== undefined && (item.assertive || settings.announce !== "off")) announcements.push(item);
    }
    return announcements;
  }

  /** The news of an answer, unless it is an end that was announced and from which it did not go on. */
  #untold(row: AnswerRow, item: Announcement | undefined): Announcement | undefined {
    if (item === undefined || answerLook(row.state).isLive) return item;
    if (this.#told.get(row.id) === row.state) return undefined;
    this.#told.set(row.id, row.state);
    return item;
  }

  /** What became of a call since it was known; those of an older answer that was scrolled to are history. */
  #toolNews(tool: Tool, isKnown: boolean): Announcement | undefined {
    const before = this.#known.get(toolId(tool));
    const now = this.#rememberTool(tool);
    return (isKnown || now === "question" || now === "asks") && before !== now ? toolAnnouncement(tool) : undefined;
  }

  #rememberTool(tool: Tool): string {
    const now = tool.question?.isOurs === true ? "question" : tool.asks === undefined ? tool.state : "asks";
    this.#known.set(toolId(tool), now);
    return now;
  }

  #remember(row: Row): string {
    if (row.kind === "answer") {
      for (const tool of row.tools) this.#rememberTool(tool);
      if (answerLook(row.state).isLive) this.#told.delete(row.id);
    }
    const state =
      row.kind === "answer"
        ? phaseOf(row)
        : row.kind === "divider"
          ? row.state
          : row.kind === "prompt"
            ? rulesOf(row)
                .map(({ name }) => name)
                .join("\n")
            : "";
    if (state !== "" || row.kind === "prompt") this.#known.set(row.id, state);
    return state;
  }
}

/** The rules of a prompt with how they stand, each under a name of its own. */
function rulesOf({ rules = [] }: PromptRow): readonly { readonly name: string; readonly rule: Rule }[] {
  return rules.map((rule) => ({ name: `${rule.constraintId} ${ruleStanding(rule)}`, rule }));
}

/** What changed about the rules of a prompt that was known; those of an older one that was scrolled to are history. */
function ruleAnnouncements(row: PromptRow, before: string | undefined): readonly Announcement[] {
  const known = before?.split("\n");
  return rulesOf(row)
    .filter(({ name }) => known?.includes(name) === false)
    .map(({ rule }) => {
      const look = RULE_STANDINGS[ruleStanding(rule)];
      return { text: t(look.announcement, rule.text), assertive: false };
    });
}

/** States that are one for who listens have one name. */
function phaseOf(row: AnswerRow): string {
  return answerLook(row.state).isAnswering ? "answering" : row.state;
}

function answerAnnouncement(
  row: AnswerRow,
  before: string | undefined,
  settings: Pick<PanelSettings, "announce" | "locale">,
): Announcement | undefined {
  const look = answerLook(row.state);
  // A row that comes in ended is an older one that was scrolled to.
  if (before === undefined && !look.isLive) return undefined;
  if (look.isAnswering && before === "waiting") return undefined;
  if (row.state !== "done") return announced(look, row.error);
  const isReadOut = settings.announce === "answer" && row.text.trim() !== "";
  return {
    text: isReadOut ? t("Gemini: {0}", row.text.trim()) : finished(row.text, settings.locale),
    assertive: false,
  };
}

/** `Answer finished, 240 words, 2 code blocks`. */
function finished(markdown: string, locale: string): string {
  const { words, codeBlocks } = measure(markdown);
  const parts = [
    t(answerLook("done").announcement),
    words === 1 ? t("1 word") : t("{0} words", formatCount(words, locale)),
  ];
  if (codeBlocks > 0)
    parts.push(codeBlocks === 1 ? t("1 code block") : t("{0} code blocks", formatCount(codeBlocks, locale)));
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

function toolId({ id }: Tool): string {
  return `tool ${id}`;
}

/** A question at once; how a call ended when there is time, but not of those that only looked. */
function toolAnnouncement({ kind, state, title, summary, question, asks }: Tool): Announcement | undefined {
  if (question?.isOurs === true) return { text: t("Gemini asks: {0}", title), assertive: true };
  if (asks !== undefined) return { text: t("Gemini asks: {0}", asks.question), assertive: true };
  const { announcement } = TOOL_STATES[state];
  if (announcement === "" || (state === "ok" && TOOL_KINDS[kind].isQuiet)) return undefined;
  return { text: t(announcement, [title, summary].filter(Boolean).join(", ")), assertive: false };
}

function dividerAnnouncement(row: DividerRow, locale: string): Announcement | undefined {
  const look = dividerLook(row.state);
  if (look.isRunning && row.trigger === "background") return undefined;
  if (look.announcementWithSize !== undefined && row.result !== undefined)
    return { text: t(look.announcementWithSize, formatCount(row.result.newTokenCount, locale)), assertive: false };
  return announced(look, row.error, look.announcesMessage ? [row.result?.message ?? ""] : []);
}

/** What the table says, or the error that says more. */
function announced(
  look: AnnouncedStatus,
  error: ErrorView | undefined,
  args: readonly string[] = [],
): Announcement | undefined {
  const assertive = look.urgency === "urgent";
  const text = assertive && error !== undefined ? sentence(error.message, error.hint) : t(look.announcement, ...args);
  return text.trim() === "" ? undefined : { text: text.trim(), assertive };
}

/** A message and its hint as they are read out. */
export function sentence(message: string, hint: string): string {
  return [message, hint].filter((part) => part !== "").join(" ");
}

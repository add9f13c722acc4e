/** A chat as Markdown: to read in an editor (with a screen reader too), to copy, to keep. */
import type { Row } from "../../panel/contract.js";
import { dividerLook } from "../../panel/statuses.js";
import type { Translate } from "./words.js";

/** The whole chat; compressed parts included, for nothing is lost. */
export function chatAsMarkdown(
  title: string,
  rows: readonly Row[],
  t: Translate,
  number: (value: number) => string,
): string {
  const blocks = rows.map((row) => rowAsMarkdown(row, t, number)).filter((block) => block !== "");
  return `${[`# ${oneLine(title || t("Chat"))}`, ...blocks].join("\n\n")}\n`;
}

function rowAsMarkdown(row: Row, t: Translate, number: (value: number) => string): string {
  switch (row.kind) {
    case "prompt":
      return `## ${t("You")}\n\n${row.text.trim()}${row.outcome ? `\n\n*${t("Not answered ({0})", row.outcome)}*` : ""}`;
    case "answer": {
      const state = row.error
        ? `\n\n> ${oneLine(row.error.message)}`
        : row.state === "stopped"
          ? `\n\n*${t("Stopped")}*`
          : "";
      return `## Gemini${row.model ? ` (${row.model})` : ""}\n\n${row.text.trim()}${state}`.trim();
    }
    case "divider": {
      const { isInMarkdown, title } = dividerLook(row.state);
      if (isInMarkdown !== true || !row.result) return "";
      const { originalTokenCount: before, newTokenCount: after } = row.result;
      return `---\n\n*${t(title)}: ${number(before)} → ${number(after)} ${t("tokens")}*`;
    }
    case "notice":
      return `> ${oneLine(row.text)}`;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

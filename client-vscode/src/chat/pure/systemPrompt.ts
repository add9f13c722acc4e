/** The system prompt as a document: where it comes from, what its sections cost, its text. */
import type { SystemPromptReport } from "../../protocol.gen.js";
import { number } from "./numbers.js";
import type { Translate } from "./words.js";

export function promptAsMarkdown(report: SystemPromptReport, t: Translate): string {
  const origin = {
    builtIn: t("Built in; settings under `companion.prompt` leave sections out."),
    GEMINI_SYSTEM_MD: t("From the file that GEMINI_SYSTEM_MD names."),
    session: t("This chat's own."),
  }[report.source];
  const rows = report.sections.map(({ name, tokens }) => `| ${name} | ${number(tokens)} |`);
  const table = rows.length === 0 ? [] : [`| ${t("Section")} | ${t("Tokens")} |`, "| --- | ---: |", ...rows, ""];
  return [
    `<!-- ${t("What the model is told ahead of this chat: about {0} tokens.", number(report.tokens))} ${origin} -->`,
    "",
    ...table,
    report.text,
    "",
  ].join("\n");
}

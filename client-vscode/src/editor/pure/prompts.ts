/** The prompts of "Ask", "Explain" and "Fix". The code itself goes along as the editor's context: it is named here, not quoted. */
import type { Translate } from "../../chat/pure/words.js";

export type AskKind = "ask" | "explain" | "fix";

export interface PromptSubject {
  /** The path inside the workspace. */
  readonly path: string;
  /** From 1, both included. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly isSelection: boolean;
}

export interface Problem {
  /** From 1. */
  readonly line: number;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly message: string;
  /** What found it; may be empty. */
  readonly source: string;
}

const MOST_PROBLEMS = 10;
const LONGEST_MESSAGE = 500;

export interface ComposedPrompt {
  readonly text: string;
  /** A question still has to be written. */
  readonly send: boolean;
}

export function composePrompt(
  kind: AskKind,
  place: PromptSubject,
  problems: readonly Problem[],
  t: Translate,
): ComposedPrompt {
  const code = described(kind === "fix" ? { ...place, isSelection: false } : place, t);
  if (kind === "ask") return { text: `${t("About {0}:", code)} `, send: false };
  if (kind === "explain") return { text: t("Explain {0} step by step.", code), send: true };
  if (problems.length === 0) return { text: t("Find what is wrong with {0}, and fix it.", code), send: true };
  const lines = problems.slice(0, MOST_PROBLEMS).map((problem) => `- ${describedProblem(problem, t)}`);
  const more = problems.length > MOST_PROBLEMS ? [`- ${t("and {0} more", problems.length - MOST_PROBLEMS)}`] : [];
  return { text: [t("Fix this in {0}:", code), ...lines, ...more].join("\n"), send: true };
}

function described({ path, firstLine, lastLine, isSelection }: PromptSubject, t: Translate): string {
  const name = `\`${path.replaceAll("`", "'")}\``;
  if (firstLine === lastLine)
    return isSelection ? t("the selected code ({0}, line {1})", name, firstLine) : t("{0}, line {1}", name, firstLine);
  const lines = [name, firstLine, lastLine] as const;
  return isSelection ? t("the selected code ({0}, lines {1} to {2})", ...lines) : t("{0}, lines {1} to {2}", ...lines);
}

function describedProblem({ line, severity, message, source }: Problem, t: Translate): string {
  // In quotation marks, for it is a tool's: what a person says in a prompt may be a rule.
  const text = `“${message.replace(/\s+/g, " ").replace(/[“”]/g, '"').trim().slice(0, LONGEST_MESSAGE)}”`;
  return t("line {0}, {1}: {2}", line, severity, source === "" ? text : `${text} (${source.slice(0, 100)})`);
}

/** The names of what compressions deal in, as people read them. English; translated where they are shown. */
import type { CompressParams } from "../protocol.gen.js";

/** What a fact is, in the plural: the head of a list. A kind of another release is shown by its name. */
export const FACT_KINDS = {
  directive: "Rules",
  decision: "Decisions",
  task: "Open tasks",
  error: "Errors",
  path: "Files",
  command: "Commands",
  symbol: "Names in code",
  url: "Addresses",
  number: "Numbers",
  version: "Versions",
} as const;

/** How a compression decides what is folded and what stays. */
export const STRATEGIES = {
  split: { name: "Split", description: "The newest 30 % stay word for word, as Gemini CLI does it" },
  semantic: { name: "By topic", description: "Cuts where the topic changes" },
  selective: { name: "Selective", description: "Rules, decisions, requests and the last state of files stay" },
  hierarchical: { name: "In layers", description: "Earlier snapshots are never summarised again" },
  reserve: { name: "Reserve", description: "The newest 20,000 tokens stay word for word" },
  assemble: { name: "Assemble", description: "Puts together what matters without asking a model" },
  userMessages: { name: "Your prompts", description: "Only what you wrote stays word for word" },
  record: { name: "Record", description: "Your words are quoted whole, the model's and calls by worth" },
} as const satisfies Readonly<Record<StrategyName, { readonly name: string; readonly description: string }>>;

export type StrategyName = NonNullable<CompressParams["strategy"]>;

/** The names of what compressions deal in, as people read them. English; translated where they are shown. */
import type { StrategyName } from "../protocol.gen.js";

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
  split: { name: "Split", description: "The oldest 70 % become a snapshot, the newest 30 % stay word for word" },
  semantic: { name: "By topic", description: "Splits where a task or a topic ended, not in the middle of one" },
  selective: { name: "Selective", description: "Keeps what is marked or important wherever it stands, folds the rest" },
  hierarchical: { name: "In layers", description: "Newer parts are kept in more detail than older ones" },
  reserve: { name: "Reserve", description: "Folds no more than is needed to have room for the next answers" },
  assemble: { name: "Assemble", description: "Cleans and shortens first, and folds only what still does not fit" },
  userMessages: { name: "Your prompts", description: "Keeps your prompts word for word, and a snapshot of all the rest" },
} as const satisfies Readonly<Record<StrategyName, { readonly name: string; readonly description: string }>>;

/** What each state of a rule looks like, and what a person can do about it, in the chat and in the list of rules. */
import type { Constraint } from "../protocol.gen.js";

type RuleState = Constraint["state"];

export interface RuleAction {
  readonly label: string;
  /** What the rule becomes. */
  readonly state: RuleState;
}

export interface RuleLook {
  /** Stands before the rule's words. */
  readonly label: string;
  readonly actions: readonly RuleAction[];
  /** For a screen reader, when a rule comes to stand so. */
  readonly announcement: string;
}

const KEEP = { label: "Keep", state: "inForce" } as const;

/** Texts are English and translated where they are shown. */
export const RULE_STANDINGS = {
  proposed: {
    label: "Keep as a rule?",
    actions: [KEEP, { label: "Not Now", state: "released" }],
    announcement: "Keep as a rule? {0}",
  },
  /** Later words that may change a rule: that one holds until they are taken in. */
  asked: {
    label: "Does this replace an earlier rule?",
    actions: [
      { label: "Replace It", state: "inForce" },
      { label: "Not Now", state: "released" },
    ],
    announcement: "Does this replace an earlier rule? {0}",
  },
  inForce: {
    label: "Rule kept:",
    actions: [{ label: "Release", state: "released" }],
    announcement: "Rule kept: {0}",
  },
  released: { label: "Not a rule:", actions: [KEEP], announcement: "No longer a rule: {0}" },
  replaced: { label: "Replaced by a later rule:", actions: [], announcement: "Replaced by a later rule: {0}" },
} as const satisfies Readonly<Record<RuleState | "asked" | "replaced", RuleLook>>;

/** How a rule stands: its state, unless a later one took its place, or it may take an earlier one's. */
export function ruleStanding({ state, replaces, replacedBy }: Pick<Constraint, "replacedBy" | "replaces" | "state">) {
  if (state === "proposed" && replaces !== undefined) return "asked";
  return state === "released" && replacedBy !== undefined ? "replaced" : state;
}

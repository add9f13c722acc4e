/** What is kept of a turn beside its words: the pin of its prompt, and the rules that it brought. */
import type { Row } from "../../panel/contract.js";
import type { Constraint } from "../../protocol.gen.js";

/** What stands for a turn's prompt beside its words. */
export interface Kept {
  /** The id of its pin. */
  readonly pinId?: string;
  /** The rules that it brought. */
  readonly rules?: readonly Constraint[];
}

/** Pins and rules by the turn that they came of. */
export function keptByTurn(constraints: readonly Constraint[]): ReadonlyMap<string, Kept> {
  const kept = new Map<string, Kept>();
  for (const constraint of constraints) {
    const { turnId, source, state, constraintId } = constraint;
    if (turnId === undefined) continue;
    const known = kept.get(turnId) ?? {};
    if (source !== "pin") kept.set(turnId, { ...known, rules: [...(known.rules ?? []), constraint] });
    else if (state === "inForce") kept.set(turnId, { ...known, pinId: constraintId });
  }
  return kept;
}

/** The row with what is kept of its turn: its prompt has pin and rules, its answer the pin. The row itself if that is what it says. */
export function keptAs(row: Row, kept: ReadonlyMap<string, Kept>): Row {
  if (row.kind !== "prompt" && row.kind !== "answer") return row;
  const { pinId, rules } = kept.get(row.turnId) ?? {};
  const pin = pinId === undefined ? {} : { pinId };
  if (row.kind === "answer") {
    const { pinId: before, ...rest } = row;
    return before === pinId ? row : { ...rest, ...pin };
  }
  const { pinId: before, rules: rulesBefore, ...rest } = row;
  if (before === pinId && JSON.stringify(rulesBefore) === JSON.stringify(rules)) return row;
  return { ...rest, ...pin, ...(rules === undefined ? {} : { rules }) };
}

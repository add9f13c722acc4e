/** How a state of the panel is staged: the message of the host that shows it. */
import type { AnswerRow, DividerRow, ErrorView, PanelState, Row, ToPage } from "../../src/panel/contract.js";
import { errorView } from "../../src/chat/pure/faults.js";
import { english } from "./produced.js";
import { retryableTurn } from "../../src/chat/pure/retrying.js";
import { baseState, divider, done, nextAnswer, nextPrompt, turn } from "./chatRows.js";

export function failure(
  kind: string,
  message: string,
  hint: string,
  actions: ErrorView["actions"],
  retryAt?: number,
): ErrorView {
  return {
    kind,
    message,
    hint,
    retryable: retryAt !== undefined,
    actions,
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}

/** A fault as the daemon tells it, by the product's own way to the page. */
export function faultView(
  kind: string,
  message: string,
  hint: string,
  more: { readonly turnId?: string; readonly now?: number; readonly waits?: number } = {},
): ErrorView {
  const { turnId, now = 0, waits } = more;
  const fault = { kind, message, hint, retryable: waits !== undefined, retryAfterMs: waits };
  return errorView(fault, english, now, turnId);
}

export function show(change: Partial<PanelState>, rows: readonly Row[] = done): ToPage[] {
  const state = { ...baseState, ...change };
  const retryTurn = state.session?.heldBy === undefined ? retryableTurn(rows, state.job) : undefined;
  return [
    {
      type: "sync",
      rev: 1,
      state: { ...state, ...(retryTurn === undefined ? {} : { retryTurn }) },
      total: rows.length,
      from: 0,
      rows,
      strings: {},
    },
  ];
}

export function answering(change: Partial<AnswerRow>, state: Partial<PanelState> = { job: turn }): ToPage[] {
  return show(state, [...done, nextPrompt, { ...nextAnswer, ...change }]);
}

export function compressing(change: Partial<DividerRow>, state: Partial<PanelState> = {}): ToPage[] {
  const { result: _result, canUndo: _canUndo, hiddenTurns: _hiddenTurns, ...bare } = divider;
  return show(state, [...done, { ...bare, ...change }]);
}

/** The panel before there is a chat. */
export function withoutSession(change: Partial<PanelState>): ToPage[] {
  const { session: _session, meter: _meter, ...rest } = baseState;
  return [
    {
      type: "sync",
      rev: 1,
      state: { ...rest, rules: { inForce: 0, proposed: 0 }, ...change },
      total: 0,
      from: 0,
      rows: [],
      strings: {},
    },
  ];
}

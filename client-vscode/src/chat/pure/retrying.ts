/** Which turn can be asked again. */
import type { PanelState, Row } from "../../panel/contract.js";
import { isLive } from "./conversationRows.js";

/**
 * The turn whose prompt can be sent again: the newest one, once it has ended. A whole answer is replaced, for which nothing of its turn may
 * be hidden; what failed or was stopped is asked anew. Without its prompt there is nothing to send. An older turn is asked again in a fork.
 */
export function retryableTurn(rows: readonly Row[], job: PanelState["job"]): string | undefined {
  if (job.kind !== "idle") return undefined;
  const newest = rows.findLast((row) => row.kind === "answer" || row.kind === "prompt");
  if (newest?.kind !== "answer" || isLive(newest)) return undefined;
  if (!rows.some((row) => row.kind === "prompt" && row.turnId === newest.turnId)) return undefined;
  const isHidden = newest.hiddenBy !== undefined || newest.isPartHidden === true;
  return newest.state === "done" && isHidden ? undefined : newest.turnId;
}

/** Why the daemon cannot be started. */
import type { Action, DaemonView, ErrorView } from "../panel/contract.js";
import { ErrorCode } from "../protocol.gen.js";
import { DaemonFault } from "./port.js";
import { NO_DAEMON } from "./pure/faults.js";

export type FailureReason = Extract<DaemonView, { kind: "failed" }>["reason"];

/** Ends every attempt until the person does something: what, say `hint` and `actions`. */
export class StartFailure extends Error {
  constructor(
    readonly reason: FailureReason,
    message: string,
    readonly hint: string,
    readonly actions: readonly Action[],
  ) {
    super(message);
    this.name = "StartFailure";
  }

  get view(): DaemonView {
    const error: ErrorView = {
      kind: NO_DAEMON,
      message: this.message,
      hint: this.hint,
      retryable: false,
      actions: this.actions,
    };
    return { kind: "failed", reason: this.reason, error };
  }

  /** What every request is refused with until then. */
  get fault(): DaemonFault {
    return new DaemonFault(ErrorCode.failed, {
      kind: NO_DAEMON,
      message: this.message,
      hint: this.hint,
      retryable: false,
    });
  }
}

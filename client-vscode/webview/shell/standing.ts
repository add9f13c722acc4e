/** How things stand, read from the panel's state: what hinders a prompt, and which notices stand above the composer. Pure. */
import type { Action, ErrorView, PanelState } from "../../src/panel/contract.js";
import { QUEUE_LIMIT } from "../../src/panel/limits.js";
import { untrustedHint } from "../../src/panel/sentences.js";
import { t } from "../strings.js";

export interface Notice {
  readonly key: string;
  readonly level: "info" | "warning" | "error";
  readonly message: string;
  readonly hint: string;
  readonly actions: readonly Action[];
  /** Unix milliseconds of what happens next by itself, if it is known. */
  readonly retryAt?: number;
}

/** Why a prompt cannot be sent now, in words; undefined if it can. A lost or starting daemon is no hindrance: the host keeps the prompt. */
export function hindrance(state: PanelState | undefined): string | undefined {
  if (state === undefined) return t("The panel is still starting.");
  if (state.daemon.kind === "failed") return t("Gemini Companion could not be started.");
  const full = isQueueFull(state) ? t("{0} prompts are waiting, and more cannot.", QUEUE_LIMIT) : undefined;
  return hindranceOfTaken(state) ?? full;
}

/** Why nothing can be sent into a chat that another window took, not even a prompt that waits already. */
export function hindranceOfTaken({ session }: PanelState): string | undefined {
  return session?.heldBy === undefined ? undefined : t("Another window is using this chat. Fork it, or take it over.");
}

/** Why the chat cannot be compressed now, nor a compression be undone. An answer that is being made is no hindrance: either waits for it. */
export function hindranceOfCompression(state: PanelState): string | undefined {
  const running =
    state.job.kind === "compression" ? t("Possible once the compression under way has ended.") : undefined;
  return hindranceOfTaken(state) ?? running;
}

/** Whether a prompt would have to wait, and cannot. */
function isQueueFull({ job, queue, daemon }: PanelState): boolean {
  return queue.length >= QUEUE_LIMIT && (job.kind !== "idle" || daemon.kind === "lost");
}

/** Whether the middle of the panel belongs to a message: nothing was said yet, or nothing is known yet. */
export function isBlank(state: PanelState | undefined, total: number): boolean {
  return state === undefined || total === 0;
}

/** The notices above the composer, most pressing first. What the host says in its banner is not said twice. */
export function notices(state: PanelState, total: number): readonly Notice[] {
  const found: Notice[] = [];
  const { daemon, banner, session } = state;
  const offered = new Set(banner?.actions.map(({ id }) => id));
  if (daemon.kind === "lost") {
    found.push({
      key: "lost",
      level: "warning",
      message: t("The connection to the daemon was lost."),
      hint: t("You can go on writing: your prompt is kept and sent when it is back."),
      actions: [action("restartDaemon", t("Restart Now")), action("showLog", t("Show Log"))],
      retryAt: daemon.retryAt,
    });
  }
  if (daemon.kind === "failed" && total > 0) found.push(fromError("failed", "error", daemon.error));
  if (daemon.kind === "starting" && total > 0) {
    found.push({
      key: "starting",
      level: "info",
      message: t("Starting Gemini Companion…"),
      hint: daemon.detail,
      actions: [],
    });
  }
  // A daemon that failed says why in the middle of the panel, or just above; a banner would be its echo.
  if (banner !== undefined && daemon.kind !== "failed")
    found.push(fromError(`banner ${banner.kind}`, banner.level, banner));
  if (isQueueFull(state)) {
    found.push({
      key: "queueFull",
      level: "info",
      message: t("{0} prompts are waiting, and more cannot.", QUEUE_LIMIT),
      hint: t("Wait for an answer, or remove one of them."),
      actions: [],
    });
  }
  if (session?.heldBy !== undefined && !offered.has("takeOver")) {
    found.push({
      key: "held",
      level: "info",
      message: t("Another window is using this chat, so it can only be read here."),
      hint: t("Go on in a copy, or take it over: the other window can then only read it."),
      actions: [action("forkSession", t("Fork")), action("takeOver", t("Take Over"))],
    });
  }
  for (const path of state.unread ?? []) {
    found.push({
      key: `unread ${path}`,
      level: "warning",
      message: t(
        "{0} cannot be read. What it said before stays in force; where that is not known, everything is asked about.",
        path,
      ),
      hint: "",
      actions: [{ id: "openSettingsFile", label: t("Open the File"), argument: path }],
    });
  }
  if (!state.trusted && !offered.has("manageTrust")) {
    found.push({
      key: "untrusted",
      level: "info",
      message: t("Restricted Mode: this workspace is not trusted."),
      hint: untrustedHint(t),
      actions: [action("manageTrust", t("Manage Trust"))],
    });
  }
  return found;
}

function fromError(key: string, level: Notice["level"], error: ErrorView): Notice {
  const { message, hint, actions, retryAt } = error;
  return { key, level, message, hint, actions, ...(retryAt === undefined ? {} : { retryAt }) };
}

function action(id: Action["id"], label: string): Action {
  return { id, label };
}

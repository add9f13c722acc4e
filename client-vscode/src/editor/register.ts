import type { ExtensionContext } from "vscode";
import type { EditorActions } from "../chat/actions.js";
import type { DaemonPort } from "../daemon/port.js";
import { registerAsking, type Ask } from "./asking.js";
import { Edits } from "./edits.js";
import { ProposalFiles } from "./proposalFiles.js";
import { answerRequests } from "./requests.js";
import { Reviews } from "./reviews.js";

/** @param ask called only after the activation is over */
export function registerEditor(context: ExtensionContext, daemon: DaemonPort, ask: Ask): EditorActions {
  const files = new ProposalFiles();
  const reviews = new Reviews(files);
  context.subscriptions.push(files, reviews, ...answerRequests(daemon, reviews, files), ...registerAsking(ask));
  return new Edits(reviews);
}

import type { ExtensionContext } from "vscode";
import type { EditorPort } from "../chat/editorPort.js";
import type { DaemonPort } from "../daemon/port.js";
import { registerAsking, type Ask } from "./asking.js";
import { Edits } from "./edits.js";
import { ProposalFiles } from "./proposalFiles.js";
import { answerRequests } from "./requests.js";
import { Reviews } from "./reviews.js";

/** @param ask called only after the activation is over */
export function registerEditor(context: ExtensionContext, daemon: DaemonPort, ask: Ask): EditorPort {
  const files = new ProposalFiles();
  const reviews = new Reviews(files);
  context.subscriptions.push(files, reviews, ...answerRequests(daemon, reviews), ...registerAsking(ask));
  return new Edits(reviews, files);
}

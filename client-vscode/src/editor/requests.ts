/** What the daemon asks the editor: a look at a change, the problems that it reports, a save. */
import { isAbsolute } from "node:path";
import { l10n, Uri, workspace, type CancellationToken, type Disposable } from "vscode";
import type { Translate } from "../chat/pure/words.js";
import { DaemonFault, type DaemonPort } from "../daemon/port.js";
import { ErrorCode, ServerRequestMethod, type OpenDiffParams, type OpenDiffResult } from "../protocol.gen.js";
import { Problems } from "./problems.js";
import type { Reviews } from "./reviews.js";

const t: Translate = (text, ...args) => l10n.t(text, ...args);

export function answerRequests(daemon: DaemonPort, reviews: Reviews): Disposable[] {
  const problems = new Problems();
  return [
    problems,
    daemon.handle(ServerRequestMethod.openDiff, (params, token) => openDiff(params, reviews, token)),
    daemon.handle(ServerRequestMethod.diagnostics, async (params, token) => ({
      files: await problems.of(params.paths, params.waitMs ?? 0, token),
    })),
    daemon.handle(ServerRequestMethod.saveDocument, async ({ path }) => ({ saved: await save(path) })),
  ];
}

/** Commands of the model read the disk: an edit that it made in a saved document is saved too. */
async function save(path: string): Promise<boolean> {
  const uri = Uri.file(path).toString();
  const document = workspace.textDocuments.find((one) => one.uri.toString() === uri);
  return document !== undefined && (!document.isDirty || (await document.save()));
}

/** We show and report; who asked writes. */
async function openDiff(
  { path, newContent }: OpenDiffParams,
  reviews: Reviews,
  token: CancellationToken,
): Promise<OpenDiffResult> {
  if (!isAbsolute(path) || path.includes("\0")) {
    const message = t("The field {0} is no absolute path.", "$.path");
    throw new DaemonFault(ErrorCode.invalidParams, {
      kind: "invalidParams",
      message,
      hint: "",
      retryable: false,
      path: "$.path",
    });
  }
  const file = Uri.file(path);
  const name = file.path.split("/").at(-1) ?? path;
  const reviewed = await reviews.review(
    { file, content: newContent, title: t("{0} (proposed by Gemini)", name) },
    token,
  );
  if (reviewed.outcome !== "accepted") return { outcome: "rejected" };
  return reviewed.content === newContent ? { outcome: "accepted" } : reviewed;
}

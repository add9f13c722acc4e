/** What the daemon asks the person through the editor: a look at a change, a yes to a tool. */
import { isAbsolute } from "node:path";
import { l10n, Uri, window, type CancellationToken, type Disposable, type QuickPickItem } from "vscode";
import type { Translate } from "../chat/pure/words.js";
import { DaemonFault, type DaemonPort } from "../daemon/port.js";
import {
  ErrorCode,
  ServerRequestMethod,
  type ConfirmToolParams,
  type ConfirmToolResult,
  type OpenDiffParams,
  type OpenDiffResult,
} from "../protocol.gen.js";
import { SHOWN_SCHEME, type ProposalFiles } from "./proposalFiles.js";
import { readArguments } from "./pure/toolArguments.js";
import type { Reviews } from "./reviews.js";

const t: Translate = (text, ...args) => l10n.t(text, ...args);
/** Most characters of a tool's arguments in the prompt; the document has all of them. */
const MAX_SUMMARY = 400;

interface Answer extends QuickPickItem {
  readonly outcome: ConfirmToolResult["outcome"] | "edit";
}

export function answerRequests(daemon: DaemonPort, reviews: Reviews, files: ProposalFiles): Disposable[] {
  // One question at a time: a second one would close the first.
  let last: Promise<unknown> = Promise.resolve();
  return [
    daemon.handle(ServerRequestMethod.openDiff, (params, token) => openDiff(params, reviews, token)),
    daemon.handle(ServerRequestMethod.confirmTool, (params, token) => {
      const answer = last.then(() => confirmTool(params, reviews, files, token));
      last = answer.catch(() => undefined);
      return answer;
    }),
  ];
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
  if (reviewed.outcome === "rejected") return reviewed;
  return reviewed.content === newContent ? { outcome: "accepted" } : reviewed;
}

async function confirmTool(
  asked: ConfirmToolParams,
  reviews: Reviews,
  files: ProposalFiles,
  token: CancellationToken,
): Promise<ConfirmToolResult> {
  const shown = asked.diff === undefined ? undefined : files.add(SHOWN_SCHEME, `${asked.name}.diff`, asked.diff);
  try {
    if (shown !== undefined) await window.showTextDocument(shown, { preview: true, preserveFocus: true });
    return await decided(asked, reviews, token);
  } finally {
    if (shown !== undefined) await reviews.close(shown);
  }
}

async function decided(
  asked: ConfirmToolParams,
  reviews: Reviews,
  token: CancellationToken,
): Promise<ConfirmToolResult> {
  for (;;) {
    const outcome = await pick(asked, token);
    if (outcome !== "edit") return { outcome };
    const edited = await reviews.edit("arguments.json", `${JSON.stringify(asked.args, undefined, 2)}\n`, token);
    if (edited.outcome === "rejected") continue;
    const editedArgs = readArguments(edited.content);
    if (editedArgs !== undefined) return { outcome: "once", editedArgs };
    void window.showErrorMessage(t("These arguments are no JSON object. Edit them again, or reject the tool."));
  }
}

/** Nothing chosen is a no. */
function pick(asked: ConfirmToolParams, token: CancellationToken): Promise<Answer["outcome"]> {
  if (token.isCancellationRequested) return Promise.resolve("reject");
  const hasArguments = Object.keys(asked.args).length > 0;
  const items: Answer[] = [
    { label: `$(check) ${t("Allow Once")}`, outcome: "once", ...(hasArguments ? { detail: summary(asked.args) } : {}) },
    { label: `$(check-all) ${t("Allow in This Chat")}`, outcome: "session" },
    { label: `$(unlock) ${t("Always Allow")}`, outcome: "always" },
    ...(hasArguments ? [{ label: `$(edit) ${t("Edit Arguments…")}`, outcome: "edit" } as const] : []),
    { label: `$(close) ${t("Reject")}`, outcome: "reject" },
  ];
  const prompt = window.createQuickPick<Answer>();
  prompt.title = asked.title.slice(0, 200);
  prompt.placeholder = t("{0} asks to run. Risk: {1}", asked.name.slice(0, 100), asked.risk.slice(0, 100));
  prompt.items = items;
  prompt.ignoreFocusOut = true;
  return new Promise((resolve) => {
    const subscription = token.onCancellationRequested(() => prompt.hide());
    prompt.onDidAccept(() => {
      resolve(prompt.selectedItems[0]?.outcome ?? "reject");
      prompt.hide();
    });
    prompt.onDidHide(() => {
      resolve("reject");
      subscription.dispose();
      prompt.dispose();
    });
    prompt.show();
  });
}

function summary(args: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(args);
  return text.length > MAX_SUMMARY ? `${text.slice(0, MAX_SUMMARY)}…` : text;
}

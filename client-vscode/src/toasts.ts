/**
 * Messages of the window, as plain text. VS Code makes links of `[words](command:…)` in them, which run a command when they are clicked;
 * and much of what we show was written by a model, a repository or a server.
 */
import { ProgressLocation, commands, l10n, window, type Disposable } from "vscode";

type Shown = Thenable<string | undefined>;

export function inform(text: string, ...buttons: string[]): Shown {
  return window.showInformationMessage(plain(text), ...buttons);
}

export function warn(text: string, ...buttons: string[]): Shown {
  return window.showWarningMessage(plain(text), ...buttons);
}

export function fail(text: string, ...buttons: string[]): Shown {
  return window.showErrorMessage(plain(text), ...buttons);
}

/** What a standing message offers. */
export interface StandingAction {
  readonly label: string;
  readonly run: () => void;
}

const ACTION = "geminiCompanion.standingAction";
/** By the number that a link names: of standing messages alone. */
const actions = new Map<number, () => void>();
let lastAction = 0;

export function registerStandingActions(): Disposable {
  return commands.registerCommand(ACTION, (number: unknown) =>
    typeof number === "number" ? actions.get(number)?.() : undefined,
  );
}

/**
 * Shows a message that goes when its cause does. VS Code takes back no other message than that of a progress; such a one has no buttons of
 * ours but the one that puts it away, so what it offers are links, behind the text and in no part of it.
 */
export function stand(text: string, offered: readonly StandingAction[], until: Promise<unknown>): void {
  const numbers = offered.map(({ run }) => {
    actions.set(++lastAction, run);
    return lastAction;
  });
  const links = offered.map(({ label }, at) => `[${label}](command:${ACTION}?${numbers[at]})`);
  const title = [plain(text), links.join(" · ")].join(" ").trim();
  // With a button VS Code shows all of the text, not its first line alone. Of this one it takes the name too, though not by its types.
  const cancellable = l10n.t("Dismiss") as unknown as boolean;
  const options = { location: ProgressLocation.Notification, title, cancellable };
  void window.withProgress(options, async (progress, token) => {
    progress.report({ increment: 0 }); // nothing is being done: no bar that runs
    const dismissed = new Promise((resolve) => token.onCancellationRequested(resolve));
    await Promise.race([until.catch(() => undefined), dismissed]);
    for (const number of numbers) actions.delete(number);
  });
}

/** Asks in a dialog. The first button has the focus: it is the one that does no harm. */
export async function confirmed(text: string, detail: string, yes: string, no: string): Promise<boolean> {
  const [keep, go] = [{ title: no, isCloseAffordance: true }, { title: yes }];
  return (await window.showWarningMessage(plain(text), { modal: true, detail }, keep, go)) === go;
}

/** No link, with nothing taken away. */
function plain(text: string): string {
  return text.replaceAll("](", "] (");
}

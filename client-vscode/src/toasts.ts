/**
 * Messages of the window, as plain text. VS Code makes links of `[words](command:…)` in them, which run a command when they are clicked;
 * and much of what we show was written by a model, a repository or a server.
 */
import { window } from "vscode";

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

/** Asks in a dialog. The first button has the focus: it is the one that does no harm. */
export async function confirmed(text: string, detail: string, yes: string, no: string): Promise<boolean> {
  const [keep, go] = [{ title: no, isCloseAffordance: true }, { title: yes }];
  return (await window.showWarningMessage(plain(text), { modal: true, detail }, keep, go)) === go;
}

/** No link, with nothing taken away. */
function plain(text: string): string {
  return text.replaceAll("](", "] (");
}

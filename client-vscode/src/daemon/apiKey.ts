/** The key for the Gemini API. It lives in the editor's secret storage and in the daemon's environment, nowhere else. */
import { l10n, window, type Event, type SecretStorage } from "vscode";
import { inform } from "../toasts.js";
import { keyFault } from "./pure/keys.js";

const SECRET = "geminiCompanion.apiKey";
/** The daemon's variable for it. */
export const KEY_VARIABLE = "GEMINI_API_KEY";

export class ApiKey {
  constructor(private readonly secrets: SecretStorage) {}

  read(): Thenable<string | undefined> {
    return this.secrets.get(SECRET);
  }

  /** Also when another window set or removed it. */
  readonly onDidChange: Event<void> = (listener, thisArgs, disposables) =>
    this.secrets.onDidChange(
      (change) => (change.key === SECRET ? (listener.call(thisArgs) as unknown) : undefined),
      undefined,
      disposables,
    );

  /** Asks for it. Resolves to whether one was given. */
  async ask(): Promise<boolean> {
    const key = await window.showInputBox({
      title: l10n.t("Gemini API Key"),
      // VS Code makes a link of it.
      prompt: l10n.t(
        "Get one in {0}. It is kept in this machine's secret storage and handed to the daemon alone.",
        "[Google AI Studio](https://aistudio.google.com/apikey)",
      ),
      placeHolder: l10n.t("Paste the key"),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => keyFault(text, (message, ...args) => l10n.t(message, ...args)),
    });
    if (key === undefined) return false;
    await this.secrets.store(SECRET, key.trim());
    return true;
  }

  /** Asks for it, and says what became of it. */
  async set(): Promise<void> {
    if (await this.ask())
      void inform(l10n.t("The key is kept in this machine's secret storage. Gemini answers with it from now on."));
  }

  async remove(): Promise<void> {
    await this.secrets.delete(SECRET);
  }
}

/** VS Code's workbench in a browser page, driven by names and roles as a person sees them. */
import type { Browser, BrowserContext, Frame, Locator, Page } from "playwright-core";
import { outsideRequests } from "./browser.js";
import { patiently } from "./patience.js";
import type { VsCodeServer } from "./vscodeServer.js";

/** The themes that everything is looked at in, by the names that VS Code shows. */
export const THEMES = {
  dark: "Dark Modern",
  light: "Light Modern",
  "hc-dark": "Dark High Contrast",
  "hc-light": "Light High Contrast",
} as const;
export type Theme = keyof typeof THEMES;

const VIEW = "geminiCompanion.chat";
/** What toasts of ours say, and those that a scene waits for. */
const OUR_TOASTS = /Gemini|token|undone|taken back|settings\.json/i;
/** A webview's first page waits for a service worker. */
const FIRST_WEBVIEW_MS = 90_000;

export class Workbench {
  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    /** Addresses outside this machine that were asked for; has to stay empty. */
    readonly outside: readonly string[],
  ) {}

  /** Opens the workbench in a browser profile of its own; `query` is appended to the address. */
  static async open(browser: Browser, server: VsCodeServer, query = ""): Promise<Workbench> {
    const context = await browser.newContext({
      viewport: { width: 1400, height: 900 },
      locale: "en-GB",
      timezoneId: "UTC",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    await hideForeignToasts(page);
    const outside = outsideRequests(page, server.url);
    await page.goto(server.url + query, { waitUntil: "domcontentloaded" });
    const workbench = new Workbench(page, context, outside);
    await workbench.isUp();
    return workbench;
  }

  async close(): Promise<void> {
    await this.context.close();
  }

  /** Resolves when the workbench is there and the extensions' commands are known. */
  async isUp(): Promise<void> {
    await this.page.locator(".monaco-workbench").waitFor({ timeout: 120_000 });
    await this.page.locator(".statusbar-item").first().waitFor({ timeout: 120_000 });
  }

  /** The chat that the extension would show after a reload, as far as VS Code has stored it: in the browser it does that some time later. */
  async storedChat(): Promise<string | undefined> {
    const stored = await this.page.evaluate(async () => {
      const done = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error ?? new Error("The browser's storage cannot be read."));
        });
      const found: unknown[] = [];
      for (const { name = "" } of await indexedDB.databases()) {
        if (!name.startsWith("vscode-web-state-db-")) continue;
        const database = await done(indexedDB.open(name));
        if (database.objectStoreNames.contains("ItemTable"))
          found.push(...(await done<unknown[]>(database.transaction("ItemTable").objectStore("ItemTable").getAll())));
        database.close();
      }
      return found.filter((value) => typeof value === "string");
    });
    return stored.map((value) => /"lastSession":"([^"]+)"/.exec(value)?.[1]).find((id) => id !== undefined);
  }

  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: "domcontentloaded" });
    await this.isUp();
  }

  /** The palette, quick picks and input boxes. */
  get quickInput(): Locator {
    return this.page.locator(".quick-input-widget");
  }

  /** The text field of the quick input that is open. */
  get quickField(): Locator {
    return this.quickInput.locator("input.input");
  }

  private get quickRows(): Locator {
    return this.quickInput.locator(".quick-input-list .monaco-list-row");
  }

  /** Runs a command of the palette by the title that it shows there: `Gemini: New Chat`. */
  async command(title: string): Promise<void> {
    // What was run last comes first, and may have a longer title that begins alike.
    const label = this.page.locator(".label-name", {
      hasText: new RegExp(`^${title.replaceAll(/[.()[\]]/g, "\\$&")}$`),
    });
    await this.quickly("F1", `>${title}`, title, label);
  }

  /** Opens the quick input with a key and picks a row. What is open does not show commands and files that come later: it is opened anew. */
  private async quickly(key: string, typed: string, row: string, label?: Locator): Promise<void> {
    const attempt = async () => {
      await this.page.keyboard.press(key);
      try {
        await this.quickField.fill(typed, { timeout: 2_000 });
        if (label === undefined) await this.pick(row, 2_000);
        else await this.quickRows.filter({ has: label }).first().click({ timeout: 2_000 });
        return true;
      } catch (error) {
        await this.page.keyboard.press("Escape");
        throw error;
      }
    };
    await patiently(`${row} can be picked`, attempt);
  }

  /** Clicks a row of the quick input that is open, the first one with this text. */
  async pick(text: string | RegExp, timeout = 60_000): Promise<void> {
    await this.quickRows.filter({ hasText: text }).first().click({ timeout });
  }

  /** Types into the input box that is open and confirms. `prompt` is text that it shows. */
  async answer(prompt: string | RegExp, text: string): Promise<void> {
    await this.quickInput.getByText(prompt).first().waitFor();
    await this.quickField.fill(text);
    await this.page.keyboard.press("Enter");
  }

  async openFile(name: string): Promise<void> {
    await this.quickly("Control+P", name, name);
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  /** Selects whole lines of the active editor, counted from 1, both included. */
  async selectLines(first: number, last: number): Promise<void> {
    await this.page.keyboard.press("Control+G");
    await this.quickField.fill(`:${first}`);
    await this.page.keyboard.press("Enter");
    await this.page.keyboard.press("Home");
    await this.page.keyboard.press("Home");
    for (let line = first; line < last; line++) await this.page.keyboard.press("Shift+ArrowDown");
    await this.page.keyboard.press("Shift+End");
  }

  /** What of the active text editor is in sight. */
  async editorText(): Promise<string> {
    const lines = await this.activeEditor.locator(".view-line").allInnerTexts();
    return lines.map((line) => line.replaceAll("\u00a0", " ")).join("\n");
  }

  toast(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast", { hasText: text });
  }

  statusItem(text: string | RegExp): Locator {
    return this.page.locator(".statusbar-item", { hasText: text });
  }

  /** No tab of this name is open any more. */
  async noTab(name: RegExp): Promise<void> {
    const tabs = this.page.locator(".tab", { hasText: name });
    await patiently(`no tab ${name.source}`, async () => (await tabs.count()) === 0 || undefined);
  }

  get activeEditor(): Locator {
    return this.page.locator(".editor-group-container.active .editor-instance");
  }

  async theme(theme: Theme): Promise<void> {
    const name = THEMES[theme];
    await this.command("Preferences: Color Theme");
    await this.quickInput.getByPlaceholder(/Color Theme/).waitFor();
    await this.quickField.fill(name);
    await this.pick(new RegExp(`^${name}`));
    const dark = theme === "dark" || theme === "hc-dark";
    const base = theme.startsWith("hc") ? (dark ? "hc-black" : "hc-light") : dark ? "vs-dark" : "vs";
    await this.page.locator(`.monaco-workbench.${base}`).waitFor();
  }

  /** A view's page, wherever VS Code shows it; waits until it is there. Ask anew after a reload or a move. */
  async panel(wanted = VIEW): Promise<Frame> {
    return patiently(`the page of ${wanted}`, () => this.panelIfShown(wanted), FIRST_WEBVIEW_MS);
  }

  /** The same without waiting. */
  async panelIfShown(wanted = VIEW): Promise<Frame | undefined> {
    for (const frame of this.page.frames()) {
      if (!frame.url().includes("/webview/browser/pre/")) continue;
      const view = await frame.evaluate(() => document.body.dataset["view"]).catch(() => undefined);
      if (view === wanted) return frame;
    }
    return undefined;
  }

  /** Moves a view to the place that the list of places names so. */
  async moveView(view: string, place: string | RegExp): Promise<void> {
    await this.command("View: Move View");
    await this.quickInput.getByPlaceholder(/Select a View/i).waitFor();
    await this.quickField.fill(view);
    await this.pick(view);
    await this.quickInput.getByPlaceholder(/destination/i).waitFor();
    await this.pick(place);
  }

  /** Shows the panel by its command and waits for its page. */
  async showPanel(): Promise<Frame> {
    await this.command("Gemini: Focus Chat");
    return this.panel();
  }

  /** Drags the edge of the secondary side bar until the panel's page is `width` pixels wide. */
  async panelWidth(width: number): Promise<void> {
    await patiently(`the panel is ${width} px wide`, async () => {
      const now = await (await this.panel()).evaluate(() => window.innerWidth);
      if (now === width) return true;
      const bar = await this.page.locator(".part.auxiliarybar").boundingBox();
      if (!bar) throw new Error("The secondary side bar is not shown.");
      const sashes = await this.page
        .locator(".monaco-sash.vertical:visible")
        .evaluateAll((all) =>
          all.map((sash) => sash.getBoundingClientRect()).map(({ left, width: thick }) => left + thick / 2),
        );
      const edge = sashes.sort((a, b) => Math.abs(a - bar.x) - Math.abs(b - bar.x))[0] ?? bar.x;
      const y = bar.y + bar.height / 2;
      await this.page.mouse.move(edge, y);
      await this.page.mouse.down();
      await this.page.mouse.move(edge + now - width, y, { steps: 4 });
      await this.page.mouse.up();
      return undefined;
    });
  }
}

/** A toast of VS Code's own, that the connection is slow for example, comes when it likes and lies over what is to be clicked. */
async function hideForeignToasts(page: Page): Promise<void> {
  const foreign = page.locator(".notification-toast:visible").filter({ hasNotText: OUR_TOASTS });
  await page.addLocatorHandler(
    foreign.first(),
    async (toast) => {
      process.stderr.write(`A toast was hidden: ${await toast.innerText()}\n`);
      await toast.evaluate((element) => element.style.setProperty("display", "none"));
    },
    { noWaitAfter: true },
  );
}

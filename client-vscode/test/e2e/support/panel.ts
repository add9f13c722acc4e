/** The panel's page, by the roles and names that a screen reader would read out. */
import type { Frame, Locator } from "playwright-core";
import { patiently } from "./patience.js";

/** How long an answer of the emulator or of the offline model may take. */
const ANSWER_MS = 60_000;

export class Panel {
  constructor(readonly frame: Frame) {}

  get composer(): Locator {
    return this.frame.getByRole("textbox", { name: "Prompt", exact: true });
  }

  get transcript(): Locator {
    return this.frame.getByRole("feed");
  }

  /** The answers that are mounted, oldest first. */
  get answers(): Locator {
    return this.frame.getByRole("article", { name: /^Gemini/ });
  }

  get prompts(): Locator {
    return this.frame.getByRole("article", { name: /^You/ });
  }

  /** Rows of compressions. */
  divider(name: string | RegExp): Locator {
    return this.frame.getByRole("article", { name });
  }

  get chips(): Locator {
    return this.frame.getByRole("list", { name: "Goes along with your prompt" });
  }

  get queue(): Locator {
    return this.frame.getByRole("region", { name: "Queued prompts" });
  }

  get stop(): Locator {
    return this.button(/^(Stop|Stopping…|Still stopping…)$/);
  }

  /** The button whose pop-up says what the context is made of. */
  get meter(): Locator {
    return this.button(/of the context used/);
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole("button", { name, ...(typeof name === "string" && { exact: true }) });
  }

  /** Choose from the menu of the toolbar. */
  async choose(item: string): Promise<void> {
    await this.button("More").click();
    await this.frame.getByRole("menuitem", { name: item, exact: true }).click();
  }

  /** Waits until the composer shows this. */
  async stands(text: string): Promise<void> {
    const read = async () => (await this.composer.inputValue()) === text || undefined;
    await patiently(`the composer shows ${text.slice(0, 200)}`, read);
  }

  /** Types a prompt and sends it with Enter. What else takes the focus meanwhile must not get it. */
  async send(text: string): Promise<void> {
    await patiently("the prompt stands in the composer", async () => {
      await this.composer.fill(text);
      return (await this.composer.inputValue()) === text || undefined;
    });
    await this.composer.press("Enter");
  }

  /** Sends a prompt and waits until its answer is there and done. */
  async ask(text: string, answer: string | RegExp): Promise<void> {
    await this.send(text);
    await this.answers.filter({ hasText: answer }).last().waitFor({ timeout: ANSWER_MS });
    await this.isIdle();
  }

  /** Nothing runs any more. */
  async isIdle(): Promise<void> {
    await this.stop.waitFor({ state: "hidden", timeout: ANSWER_MS });
  }
}

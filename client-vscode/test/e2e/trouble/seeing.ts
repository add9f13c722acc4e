/** What the scenes about trouble look at besides the panel. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import type { Panel } from "../support/panel.js";
import { keepPicture, type Stage } from "../support/stage.js";

/** Keeps a picture of the window as `artifacts/trouble/<name>.png`. */
export async function picture({ window }: Pick<Stage, "window">, name: string): Promise<void> {
  await keepPicture({ window }, "trouble", name);
}

/** The notices between the transcript and the composer, with their buttons. */
export function below(panel: Panel): Locator {
  return panel.frame.getByRole("contentinfo");
}

/** The middle of a panel without rows. */
export function middle(panel: Panel): Locator {
  return panel.frame.getByRole("main");
}

/** The files below a folder in which a text stands. */
export function filesWith(folder: string, text: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .map((name) => join(folder, name))
    .filter(
      (file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true && readFileSync(file).includes(text),
    );
}

/** States of the panel out of `test/panel/fixtures.ts`, shown in the real page: the host is cut off, and its messages are ours. */
import type { Frame } from "playwright-core";
import type { Row, ToPage } from "../../../src/panel/contract.js";
import { answers, baseState, type FixtureName, makeFixtures } from "../../panel/fixtures.js";

/** From now on the page hears only what is staged; its questions are answered with the fixtures' answers. Lasts until the page is loaded anew. */
export async function cutOff(frame: Frame): Promise<void> {
  await frame.evaluate((prepared) => {
    if (document.documentElement.dataset["staged"] === "yes") return;
    document.documentElement.dataset["staged"] = "yes";
    const say = (data: unknown) => window.dispatchEvent(new MessageEvent("message", { data, origin: "stage" }));
    const hasKeys = (value: object, ...keys: string[]) => keys.every((key) => key in value);
    const standIn = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null) return value;
      if (hasKeys(value, "byPart")) return prepared.context;
      if (hasKeys(value, "promptTokens")) return prepared.stats;
      if (hasKeys(value, "sessions")) return prepared.sessions;
      if (hasKeys(value, "pins")) return prepared.pins;
      return value;
    };
    window.addEventListener(
      "message",
      (event: MessageEvent<unknown>) => {
        if (event.origin === "stage") return;
        event.stopImmediatePropagation();
        const { data } = event;
        if (typeof data !== "object" || data === null || !("type" in data) || data.type !== "result") return;
        say({ ...data, rev: 0, ...("value" in data && { value: standIn(data.value) }) });
      },
      { capture: true },
    );
  }, answers);
}

/** Shows a state and waits until it is painted. */
export async function show(frame: Frame, name: FixtureName): Promise<void> {
  await post(frame, makeFixtures(Date.now())[name]);
}

/** Shows rows and nothing else of note. */
export async function showRows(frame: Frame, rows: readonly Row[]): Promise<void> {
  await post(frame, [{ type: "snapshot", rev: 1, state: baseState, total: rows.length, from: 0, rows, strings: {} }]);
}

async function post(frame: Frame, messages: readonly ToPage[]): Promise<void> {
  await frame.evaluate(async (all) => {
    // Pop-ups and the find bar of the state before close as they do for a person.
    for (let count = 0; count < 3; count += 1) document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
    for (const data of all) window.dispatchEvent(new MessageEvent("message", { data, origin: "stage" }));
    for (let frames = 0; frames < 4; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
  }, messages);
}

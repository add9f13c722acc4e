/** The service cannot be reached, or has no time. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { patiently } from "../support/patience.js";
import { settingInForce } from "../support/settingInForce.js";
import type { Stage } from "../support/stage.js";
import type { Gate } from "./gate.js";
import { picture } from "./seeing.js";

export function outages(set: Stage, gate: Gate): void {
  let isShut = false;
  afterEach(async () => {
    if (isShut) await gate.open();
    isShut = false;
  });

  test("a service that cannot be reached: the answer says so, the prompt is kept, and a retry gets through when the service is back", async () => {
    const panel = await set.newChat();
    isShut = true;
    await gate.shut();
    await panel.send("Is anybody there?");
    const retry = panel.answers.last().getByRole("button", { name: "Retry" }).first();
    await retry.waitFor();
    await panel.prompts.getByText("Is anybody there?").waitFor();
    await picture(set, "unreachable");
    await retry.click();
    await patiently(
      "it fails again",
      async () => (await panel.answers.count()) === 1 && ((await panel.stop.isVisible()) ? undefined : true),
    );
    await retry.waitFor();
    isShut = false;
    await gate.open();
    await set.emulator.script([{ pieces: ["Here I am again."] }]);
    await retry.click();
    await panel.answers.getByText("Here I am again.").waitFor();
    await panel.isIdle();
    expect(
      await panel.answers
        .last()
        .getByRole("button", { name: /Set API Key/ })
        .count(),
    ).toBe(0);
  });

  test("an overloaded service: the retry counts down to the time that the service asks for, and then gets through", async () => {
    await setFallback(set, false); // another model would answer in its place
    const panel = await set.newChat();
    // The daemon tries four times itself; what the service asks for last, the person is told.
    await set.emulator.script(
      ["0.01", "0.01", "0.01", "8"].map((wait) => ({ fault: "unavailable", with: { retry_after: wait } })),
    );
    await panel.send("Have you got a moment?");
    const answer = panel.answers.last();
    await answer
      .getByRole("button", { name: /^Retry in \d+ s$/ })
      .first()
      .waitFor();
    await picture(set, "overloaded");
    await answer.getByRole("button", { name: "Retry", exact: true }).first().waitFor({ timeout: 60_000 });
    await set.emulator.script([{ pieces: ["Now I have."] }]);
    await answer.getByRole("button", { name: "Retry", exact: true }).first().click();
    await panel.answers.getByText("Now I have.").waitFor();
    await panel.isIdle();
    rmSync(ownSettings(set));
  });
}

function ownSettings(set: Stage): string {
  return join(set.server.folder, "home", ".gemini/settings.json");
}

/** Writes the person's settings, and waits until they are in force. */
async function setFallback(set: Stage, on: boolean): Promise<void> {
  mkdirSync(dirname(ownSettings(set)), { recursive: true });
  writeFileSync(ownSettings(set), JSON.stringify({ companion: { routing: { fallback: on } } }));
  await settingInForce(set, "companion.routing.fallback", String(on));
}

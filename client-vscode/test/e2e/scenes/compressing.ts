/** Compressions, from the palette and from their rows in the chat. */
import { beforeEach, describe, expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { snapshot, summarised } from "../support/snapshots.js";
import type { Stage } from "../support/stage.js";
import { askStore } from "../support/store.js";
import { sentences } from "../support/texts.js";

const RULE = "Never change the public names of the tokenizer.";
const SNAPSHOT = snapshot({ active_constraints: `- ${RULE}` });
/** Each finds something missing. */
const REPAIRED = summarised(SNAPSHOT);

export function compressing(set: Stage): void {
  describe("compressing", () => {
    let panel: Panel;
    /** A chat that is long enough for a compression to be worth it. */
    beforeEach(async () => {
      panel = await set.newChat();
      await set.emulator.script(
        [1, 2, 3].map((turn) => ({
          pieces: [`Answer ${turn}. ${sentences("The tokenizer keeps its buffer until a space comes")}`],
        })),
      );
      for (const turn of [1, 2, 3])
        await panel.ask(
          `${RULE} Question ${turn}: ${"what happens to the last word of a text? ".repeat(40)}`,
          `Answer ${turn}.`,
        );
    });

    test("from the palette: a row tells the progress, then what it brought; the request goes on from the snapshot", async () => {
      await set.emulator.script([{ pieces: [{ gate: "thinking" }, SNAPSHOT] }, ...REPAIRED], "snapshot");
      await set.window.command("Gemini: Compress Chat");
      const running = panel.divider(/Compressing/);
      await running.getByText(/summarising · \d+ s/).waitFor();
      await running.getByRole("button", { name: "Cancel" }).waitFor();
      await set.emulator.release("thinking");
      const done = panel.divider(/Chat compressed/);
      await done.getByText(/[\d,]+ → [\d,]+ tokens, \d+% less/).waitFor();
      await done.getByRole("button", { name: "Undo" }).waitFor();
      await panel.isIdle();
      const { text } = await set.ask(panel, "And now?", "It goes on.");
      expect(text).toContain("The user mends the tokenizer");
      expect(text).toContain("user: Question 1:"); // quoted beside the snapshot
    });

    test("cancelled half way, nothing has changed", async () => {
      await set.emulator.script([{ pieces: [{ gate: "for ever" }, SNAPSHOT] }], "snapshot");
      await set.window.command("Gemini: Compress Chat");
      await panel
        .divider(/Compressing/)
        .getByRole("button", { name: "Cancel" })
        .click();
      await panel
        .divider(/Compression cancelled/)
        .getByText("Nothing was changed.")
        .waitFor();
      await panel.isIdle();
      expect((await set.ask(panel, "And now?", "It goes on.")).text).toContain("Question 1:");
    });

    test("a preview is looked at, edited, applied and taken back", async () => {
      await set.emulator.script(REPAIRED, "snapshot");
      await set.window.command("Gemini: Preview Compression");
      const preview = panel.divider(/Preview of a compression/);
      await preview.getByRole("button", { name: "Edit" }).click();
      await set.window.page.locator(".tab.active", { hasText: /^snapshot\.md/ }).waitFor(); // the one to read is open too
      await patiently(
        "the snapshot is in an editor",
        async () => (await set.window.editorText()).includes("The user mends the tokenizer") || undefined,
      );
      await set.window.activeEditor.locator(".view-line", { hasText: "The user mends" }).click();
      await set.window.page.keyboard.press("End");
      await set.window.page.keyboard.type(" before Friday");
      await set.window.command("Gemini: Apply Edited Snapshot");
      const done = panel.divider(/Chat compressed/);
      await done.waitFor();
      await set.window.noTab(/^snapshot/); // when it closes, the editor behind it takes the focus
      expect((await set.ask(panel, "And now?", "It goes on.")).text).toContain(
        "The user mends the tokenizer before Friday",
      );

      await undo(panel);
      await panel.divider(/Compression undone/).waitFor();
      const { text } = await set.ask(panel, "And after the undo?", "All is back.");
      expect(text).toContain("Question 1:");
      expect(text).toContain("And now?");
    });

    test("an edited preview outlasts a reload, and is applied to its own chat though another one is shown", async () => {
      await set.emulator.script(REPAIRED, "snapshot");
      await set.window.command("Gemini: Preview Compression");
      const edit = () =>
        panel
          .divider(/Preview of a compression/)
          .getByRole("button", { name: "Edit" })
          .click();
      await edit();
      const tab = set.window.page.locator(".tab", { hasText: /^snapshot\.md/ });
      const edited = (words: string) =>
        patiently("the editor has it", async () => (await set.window.editorText()).includes(words) || undefined);
      await tab.waitFor();
      await edited("The user mends the tokenizer");
      await set.window.activeEditor.locator(".view-line", { hasText: "The user mends" }).click();
      await set.window.page.keyboard.press("End");
      await set.window.page.keyboard.type(" before Friday");
      await edited("before Friday");
      await set.window.page.keyboard.press("Control+s");
      await patiently("it is on the disk", () => set.server.keepsDraft("before Friday") || undefined);
      const chat = await patiently("it is stored which chat this is", () => set.window.storedChat());
      await set.window.reload();
      panel = new Panel(await set.window.showPanel());
      await edit(); // VS Code may not have stored yet which tabs are open
      await edited("before Friday");

      await set.window.command("Gemini: New Chat");
      await panel.answers.first().waitFor({ state: "detached" });
      // The reload may have brought back one more, of a preview that was open when VS Code last stored its tabs.
      const active = set.window.page.locator(".tab.active", { hasText: /^snapshot\.md/ });
      await active.click();
      const name = (await active.textContent()) ?? "";
      await set.window.command("Gemini: Apply Edited Snapshot");
      await set.window.toast(/tokens/).waitFor();
      await set.window.page.locator(".tab", { hasText: name }).waitFor({ state: "detached" });
      await set.window.command("Notifications: Clear All Notifications"); // its Undo is not that of another chat's
      await set.window.toast(/tokens/).waitFor({ state: "detached" });
      expect(await panel.divider(/ompress/).count()).toBe(0);
      const [listed] = await askStore(set.server, [["gemini/compression/list", { sessionId: chat }]]);
      expect(JSON.stringify(listed)).toContain("before Friday");
    });

    test("undo and compression wait for the answer and say so; an undo in a fork leaves the original's row as it is", async () => {
      await set.emulator.script([...REPAIRED, ...REPAIRED], "snapshot");
      await set.window.command("Gemini: Compress Chat");
      await panel.divider(/Chat compressed/).waitFor();
      await set.emulator.script([{ pieces: ["Begins. ", { gate: "undo" }, "Ends."] }]);
      await panel.send("Meanwhile?");
      await set.emulator.reached("undo");
      await set.window.command("Gemini: Undo Last Compression");
      const waits = panel.divider(/Chat compressed/).getByText("Undone when the answer is complete.");
      await waits.waitFor();
      await panel.button("Cancel undo").click();
      await waits.waitFor({ state: "hidden" });
      await panel.button("Undo").waitFor();
      await panel.choose("Undo Last Compression…");
      await panel.button("Undo Compression").click();
      await waits.waitFor();
      await set.window.command("Gemini: Undo Last Compression");
      await set.emulator.release("undo");
      await panel.divider(/Compression undone/).waitFor();

      await set.emulator.script([{ pieces: ["Begins again. ", { gate: "compress" }, "Ends again."] }]);
      await panel.send("And meanwhile?");
      await set.emulator.reached("compress");
      await panel.choose("Compress…");
      await panel.divider(/Compression asked for/).waitFor();
      await set.emulator.release("compress");
      await panel.divider(/Chat compressed/).waitFor();
      await panel.isIdle();
      await set.ask(panel, "And now?", "It goes on.");
      await panel.answers.last().getByRole("button", { name: "Fork here" }).click();
      const title = panel.frame.getByRole("toolbar", { name: "Chat" }).getByRole("button").first();
      await title.filter({ hasText: "(fork)" }).waitFor();
      await undo(panel);
      await panel.divider(/Chat compressed/).waitFor({ state: "detached" });
      await set.window.command("Gemini: Chats…");
      const chats = panel.frame.getByRole("list", { name: "Chats" }).getByRole("listitem");
      await chats.filter({ hasNotText: "(fork)" }).first().getByRole("button").first().click();
      await title.filter({ hasNotText: "(fork)" }).waitFor();
      await panel.divider(/Chat compressed/).waitFor();
    });

    test("the meter's pop-up shows the parts and compresses nothing by itself", async () => {
      await panel.meter.click();
      const dialog = panel.frame.getByRole("dialog", { name: "Context" });
      await dialog.getByRole("table").waitFor();
      expect(await dialog.getByRole("row").count()).toBeGreaterThan(4);
      await dialog
        .getByText(/Compression starts/)
        .first()
        .waitFor();
      await set.window.page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      expect(await panel.divider(/ompress/).count()).toBe(0);
    });

    test("while the panel is hidden, a notification tells the outcome", async () => {
      await set.emulator.script(REPAIRED, "snapshot");
      await set.window.command("View: Toggle Secondary Side Bar Visibility");
      await set.window.command("Gemini: Compress Chat");
      await set.window
        .toast(/tokens/)
        .getByRole("button", { name: "Undo" })
        .click();
      await set.window.toast(/undone|taken back/i).waitFor();
      await set.window.showPanel();
      await panel.divider(/Compression undone/).waitFor();
    });
  });
}

async function undo(panel: Panel): Promise<void> {
  await panel
    .divider(/Chat compressed/)
    .getByRole("button", { name: "Undo" })
    .click();
  await panel.frame
    .getByRole("dialog")
    .or(panel.frame.getByRole("alertdialog"))
    .getByRole("button", { name: /^(Yes|OK|Undo|Confirm)/ })
    .click();
}

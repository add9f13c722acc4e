/** Prompts and answers, with the emulator behind the real SDK. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { askStore } from "../support/store.js";
import { sentences } from "../support/texts.js";

export function chatting(set: Stage): void {
  describe("chatting", () => {
    let panel: Panel;
    beforeEach(async () => {
      panel = await set.newChat();
    });

    test("an answer streams in as Markdown, and the request has the prompt and the open file", async () => {
      await set.emulator.script([{ pieces: ["The loop ends ", { gate: "half" }, "before **flush** is called."] }]);
      await panel.send("Why does the tokenizer drop the last word?");
      const answer = panel.answers.last();
      await answer.getByText("The loop ends").waitFor();
      await panel.stop.waitFor();
      await set.emulator.release("half");
      await answer.getByText("before flush is called.").waitFor();
      await panel.isIdle();
      const { prompt, key } = await set.emulator.asked(1);
      expect(prompt).toContain("Why does the tokenizer drop the last word?");
      expect((await set.emulator.asked(1)).text).toContain("tokenizer.py");
      expect(key).toBe(set.key);
      expect(await panel.composer.inputValue()).toBe("");
    });

    test("thoughts are folded above the answer", async () => {
      await set.emulator.script([
        { pieces: [{ thought: "The last word has no space behind it." }, "There is no flush."] },
      ]);
      await panel.ask("Why?", "There is no flush.");
      const thoughts = panel.answers.last().getByText(/^Though/);
      expect(await panel.answers.last().getByText("The last word has no space").isVisible()).toBe(false);
      await thoughts.click();
      await panel.answers.last().getByText("The last word has no space").waitFor();
    });

    test("stop keeps what came and hangs up; retry asks anew", async () => {
      await set.emulator.script([{ pieces: ["Half an ", { gate: "never" }, "answer."] }]);
      await panel.send("Tell me everything.");
      await panel.answers.last().getByText("Half an").waitFor();
      await panel.stop.click();
      await panel.answers.last().getByText("Stopped. What came is kept above.").waitFor();
      expect(await panel.answers.last().innerText()).toContain("Half an");
      await patiently("the emulator sees the hang-up", async () => (await set.emulator.asked(1)).hungUp || undefined);
      await set.emulator.script([{ pieces: ["The whole answer."] }]);
      await panel.answers.last().getByRole("button", { name: "Retry" }).click();
      await panel.answers.getByText("The whole answer.").waitFor();
      await panel.isIdle();
      expect((await set.emulator.asked(2)).prompt).toContain("Tell me everything.");
    });

    test("Escape in the composer stops too", async () => {
      await set.emulator.script([{ pieces: ["On and on ", { gate: "never" }] }]);
      await panel.send("Go on.");
      await panel.answers.last().getByText("On and on").waitFor();
      await panel.composer.press("Escape");
      await panel.answers.last().getByText("Stopped. What came is kept above.").waitFor();
    });

    test("prompts wait their turn: one is edited, one removed, one goes ahead", async () => {
      await set.emulator.script([
        { pieces: ["First ", { gate: "first" }, "done."] },
        { pieces: ["Ahead done."] },
        { pieces: ["Second done."] },
      ]);
      await panel.send("first");
      await panel.answers.last().getByText("First").waitFor();
      for (const text of ["second", "third", "ahead"]) await panel.send(text);
      const items = panel.queue.getByRole("listitem");
      await items.filter({ hasText: "ahead" }).waitFor();
      expect(await items.count()).toBe(3);
      await items.filter({ hasText: "third" }).getByRole("button", { name: "Remove queued prompt" }).click();
      await items.filter({ hasText: "third" }).waitFor({ state: "hidden" });
      await items.filter({ hasText: "second" }).getByRole("button", { name: "Edit queued prompt" }).click();
      await panel.frame.getByRole("textbox", { name: "Queued prompt" }).fill("second, changed");
      await panel.queue.getByRole("button", { name: "Save" }).click();
      await items.filter({ hasText: "second, changed" }).waitFor();
      await items.filter({ hasText: "ahead" }).getByRole("button", { name: "Send now" }).click();
      await panel.answers.getByText("Ahead done.").waitFor();
      await panel.answers.getByText("Second done.").waitFor();
      await panel.isIdle();
      const prompts = (await set.emulator.requests("streamGenerateContent")).map(({ prompt }) => prompt);
      expect(prompts.map((prompt) => /^(first|ahead|second, changed|third)/m.exec(prompt)?.[0])).toEqual([
        "first",
        "ahead",
        "second, changed",
      ]);
      expect(await panel.queue.isVisible()).toBe(false);
    });

    test("a file that was taken out is not in the request, and comes back with one click", async () => {
      const inAccount = /tokenizer\.py"/; // as the account of the editor names it; the list of the workspace's files does not quote
      await panel.chips.getByRole("button", { name: "Take tokenizer.py out" }).click();
      await panel.chips.getByRole("button", { name: "Put tokenizer.py back" }).waitFor();
      expect((await set.ask(panel, "What do you see?", "Nothing.")).text).not.toMatch(inAccount);
      await panel.chips.getByRole("button", { name: "Put tokenizer.py back" }).click();
      await panel.chips.getByRole("button", { name: "Take tokenizer.py out" }).waitFor();
      expect((await set.ask(panel, "And now?", "The tokenizer.")).text).toMatch(inAccount);
    });

    test("the receipt says what went along", async () => {
      await set.ask(panel, "What do you see?", "Words.");
      const receipt = panel.prompts.last().getByText(/^Sent: 1 file/);
      await receipt.click();
      await panel.prompts
        .last()
        .getByRole("button", { name: /tokenizer\.py$/ })
        .waitFor();
    });

    test("a long paste is an attachment: read, kept over a reload, undone, put into the text, sent word for word", async () => {
      const log = Array.from({ length: 1_200 }, (_, line) => `${line} ${sentences("A worker took a job", 5)}`).join(
        "\n",
      );
      const shown = "Look at [Pasted text 1: 1,200 lines]";
      await panel.composer.fill("Look at ");
      await set.window.page.evaluate((text) => navigator.clipboard.writeText(text), log);
      await panel.composer.press("End");
      await panel.composer.press("Control+v");
      await panel.stands(shown);
      const chip = panel.button(/^Pasted text 1\b/);
      await chip.waitFor();
      await keepPicture(set, "pasting", "attached");

      await chip.click();
      await keepPicture(set, "pasting", "menu");
      await panel.frame.getByRole("menuitem", { name: /^Open/ }).click();
      await set.window.page.locator(".tab.active", { hasText: "Pasted text 1.txt" }).waitFor();
      await patiently(
        "it can be read",
        async () => (await set.window.editorText()).includes("0 A worker") || undefined,
      );
      await keepPicture(set, "pasting", "opened");
      await set.window.command("View: Close Editor");

      await patiently("the draft is on the disk", () => set.server.keepsDraft("A worker took a job") || undefined);
      await set.window.reload();
      panel = new Panel(await set.window.showPanel());
      await panel.stands(shown);
      await keepPicture(set, "pasting", "reloaded");

      await panel.composer.press("Control+End");
      await panel.composer.press("Space");
      await panel.composer.press("Control+Backspace");
      await panel.stands("Look at ");
      await panel.composer.press("Control+z");
      await panel.stands(`${shown} `);
      await panel.composer.press("Control+End");
      await panel.composer.press("Backspace");
      await panel.composer.press("Enter");
      await panel.answers.first().waitFor();
      await panel.isIdle();
      // The paste is a part of its own; the emulator tells parts in lines.
      expect((await set.emulator.asked(1)).prompt).toContain(`Look at \n${log}`);
      const [transcript] = await askStore(set.server, [
        ["gemini/session/history", { sessionId: "newest", view: "transcript" }],
      ]);
      expect(JSON.stringify(transcript)).toContain(JSON.stringify([{ text: "Look at " }, { text: log }]).slice(1, -1));

      // What was sent comes back as it was written.
      await panel.composer.press("ArrowUp");
      await panel.composer.press("Control+End");
      await panel.button(/^Pasted text \d/).click();
      await panel.frame.getByRole("menuitem", { name: "Insert as Text" }).click();
      await panel.stands(`Look at ${log}`);
      await keepPicture(set, "pasting", "as-text");
    });

    test("@ names a file, which goes along though it is not open", async () => {
      await panel.composer.pressSequentially("Look at @spaces");
      await panel.frame.getByRole("option", { name: /a file with spaces\.md/ }).click();
      expect(await panel.composer.inputValue()).toContain('@"notes/a file with spaces.md"');
      await panel.composer.press("Enter");
      await panel.answers.last().waitFor();
      await panel.isIdle();
      expect((await set.emulator.asked(1)).text).toContain("nine milliseconds");
    });

    test("an answer that fails says why and what to do; a retry mends it", async () => {
      await set.emulator.script([{ fault: "forbidden" }]);
      await panel.send("Anything?");
      const answer = panel.answers.last();
      await answer
        .getByRole("button", { name: /Retry|Set API Key/ })
        .first()
        .waitFor();
      await set.emulator.script([{ pieces: ["All is well."] }]);
      await answer.getByRole("button", { name: "Retry" }).first().click();
      await panel.answers.getByText("All is well.").waitFor();
    });

    test("a service that is too busy is tried again after the time that it asks for", async () => {
      await set.emulator.script([{ fault: "rate_limited", with: { retry_after: "3600" } }]);
      await panel.send("Are you there?");
      const answer = panel.answers.last();
      await answer
        .getByRole("button", { name: /^Retry/ })
        .first()
        .waitFor();
      await set.emulator.script([{ pieces: ["Here I am."] }]);
      await answer
        .getByRole("button", { name: /^Retry/ })
        .first()
        .click();
      await panel.answers.getByText("Here I am.").waitFor();
    });

    test("an API key that is refused: the answer offers to set another", async () => {
      await set.emulator.accept(["another-key"]);
      await panel.send("Hello?");
      await panel.answers.last().getByRole("button", { name: "Set API Key" }).waitFor();
      await set.emulator.accept(null);
    });

    test("a block of code is inserted at the cursor, and applied by way of a diff", async () => {
      writeFileSync(join(set.server.workspace, "src/scratch.py"), "def one():\n    return 1\n");
      await set.window.openFile("scratch.py");
      await set.emulator.script([{ pieces: ["Here:\n\n```python\ndef one():\n    return 11\n```\n"] }]);
      await panel.ask("Return eleven.", "return 11");
      const code = panel.frame.getByRole("figure", { name: "Code, python" }).last();
      await code.getByRole("button", { name: "Apply…" }).click();
      await set.window.page.locator(".tab.active", { hasText: "scratch.py" }).filter({ hasText: "proposed" }).waitFor();
      await set.window.command("Gemini: Accept Proposed Change");
      await set.window.page.locator(".tab.active", { hasText: /^scratch\.py/ }).waitFor();
      await patiently(
        "the editor has the change",
        async () => (await set.window.editorText()).includes("return 11") || undefined,
      );
      await set.window.command("File: Revert File");
      await patiently(
        "the editor has the file again", // else what is inserted is reverted, too
        async () => !(await set.window.editorText()).includes("return 11") || undefined,
      );
      await code.getByRole("button", { name: "Insert" }).click();
      await patiently(
        "the code was inserted",
        async () => (await set.window.editorText()).split("def one():").length === 3 || undefined,
      );
      await set.window.command("File: Revert File");
      await set.window.command("View: Close Editor");
    });

    test("the commands on a selection", async () => {
      await set.window.openFile("tokenizer.py");
      await set.window.selectLines(8, 10);
      await set.window.command("Gemini: Ask Gemini About Selection");
      await patiently(
        "the composer has the place",
        async () => /tokenizer\.py/.test(await panel.composer.inputValue()) || undefined,
      );
      expect((await set.emulator.requests("streamGenerateContent")).length).toBe(0);
      await panel.composer.fill("");
      await set.window.openFile("tokenizer.py");
      await set.window.selectLines(8, 10);
      await set.window.command("Gemini: Explain");
      const { prompt } = await patiently(
        "it is sent",
        async () => (await set.emulator.requests("streamGenerateContent"))[0],
      );
      expect(prompt).toMatch(/tokenizer\.py/);
      await panel.isIdle();
    });

    test("the commands in a text that was never saved, which goes along with what is selected", async () => {
      await set.window.command("File: New Untitled Text File");
      await set.window.activeEditor.waitFor();
      await set.window.page.keyboard.type("the marmot of the draft");
      await set.window.page.keyboard.press("Control+a");
      await set.window.command("Gemini: Explain");
      const { text } = await patiently(
        "it is sent",
        async () => (await set.emulator.requests("streamGenerateContent"))[0],
      );
      expect(text).toContain("untitled:Untitled-1");
      expect(text.split("the marmot of the draft").length).toBeGreaterThan(2); // the text, and what is selected in it
      await panel.isIdle();
      // An empty one is closed without a question.
      await set.window.activeEditor.click();
      await set.window.page.keyboard.press("Control+a");
      await set.window.page.keyboard.press("Delete");
      await set.window.command("View: Close Editor");
      await set.window.page.locator(".tab", { hasText: "Untitled-1" }).waitFor({ state: "detached" });
    });

    test("find in the chat, and the sessions with their search", async () => {
      await set.ask(panel, "first", "The marmot sleeps.");
      await set.ask(panel, "second", "The marmot wakes.");
      await panel.composer.press("Control+f");
      const field = panel.frame
        .getByRole("searchbox", { name: "Find in chat" })
        .or(panel.frame.getByRole("textbox", { name: "Find in chat" }));
      await patiently(
        "the find bar has the focus",
        async () => (await field.evaluate((element) => element === document.activeElement)) || undefined,
      );
      await set.window.page.keyboard.type("marmot");
      await panel.frame.getByText("1 of 2").or(panel.frame.getByText("2 of 2")).first().waitFor();
      await set.window.page.keyboard.press("Escape");
      await set.newChat();
      await set.window.command("Gemini: Chats…");
      await panel.frame
        .getByRole("searchbox", { name: "Search in all chats" })
        .or(panel.frame.getByRole("textbox", { name: "Search in all chats" }))
        .fill("marmot");
      await panel.frame.getByRole("list", { name: "Chats" }).getByRole("button").first().click();
      await panel.answers.getByText("The marmot wakes.").waitFor();
    });

    test("the whole chat as Markdown", async () => {
      await set.emulator.script([{ pieces: ["A **bold** answer."] }]);
      await panel.ask("A question", "A bold answer.");
      await set.window.command("Gemini: Open Chat as Markdown");
      await patiently(
        "the document has it",
        async () => (await set.window.editorText()).includes("A **bold** answer.") || undefined,
      );
      await set.window.command("View: Close Editor");
    });
  });
}

/** What happens to the chat when something around it happens: hidden, moved, reloaded, crashed, opened twice. */
import { beforeEach, describe, expect, test } from "vitest";
import { Panel } from "../support/panel.js";
import { patiently } from "../support/patience.js";
import { keepPicture, type Stage } from "../support/stage.js";
import { Workbench } from "../support/workbench.js";

async function readsAsStopped(panel: Panel, text: string, outcome: string): Promise<void> {
  const answer = panel.answers.last();
  await answer.getByText(text).waitFor();
  await answer.getByText("Stopped. What came is kept above.").waitFor();
  await panel.prompts.last().getByText(outcome).waitFor();
}

export function living(set: Stage): void {
  describe("living", () => {
    let panel: Panel;
    beforeEach(async () => {
      panel = await set.newChat();
    });

    test("hidden while an answer streams in, the panel has all of it when it shows again", async () => {
      await set.emulator.script([
        { pieces: ["Before. ", { gate: "hidden" }, "Meanwhile. ", { gate: "shown" }, "After."] },
      ]);
      await panel.send("Tell me.");
      await panel.answers.last().getByText("Before.").waitFor();
      await set.window.command("View: Toggle Secondary Side Bar Visibility");
      await set.emulator.release("hidden");
      await set.emulator.reached("shown");
      panel = new Panel(await set.window.showPanel());
      await panel.answers.last().getByText("Before. Meanwhile.").waitFor();
      await set.emulator.release("shown");
      await panel.answers.last().getByText("Before. Meanwhile. After.").waitFor();
    });

    test("an answer that came while the panel was hidden leaves a mark, which goes when it is seen", async () => {
      await set.emulator.script([{ pieces: ["Before. ", { gate: "hidden" }, "After."] }]);
      await panel.send("Tell me.");
      await panel.answers.last().getByText("Before.").waitFor();
      // Another view in the same place, so that the container's icon is in sight.
      await set.window.command("View: Toggle Secondary Side Bar Visibility");
      await set.emulator.release("hidden");
      await set.window
        .statusItem(/<1%|\d%/)
        .first()
        .waitFor();
      await set.window.showPanel();
      await new Panel(await set.window.panel()).answers.last().getByText("Before. After.").waitFor();
      await set.window.page.locator(".part.auxiliarybar .badge-content:visible").waitFor({ state: "hidden" });
    });

    test("moved to the other side bar and back, it shows the same chat and the draft", async () => {
      await set.ask(panel, "Where are you?", "On the right.");
      await panel.composer.fill("half a thou");
      await set.window.moveView("Chat", /^(Side Bar|New Side Bar Entry|Explorer)/);
      panel = new Panel(await set.window.panel());
      await panel.answers.getByText("On the right.").waitFor();
      await patiently(
        "the draft is there",
        async () => (await panel.composer.inputValue()) === "half a thou" || undefined,
      );
      await set.window.command("View: Reset View Locations");
      panel = new Panel(await set.window.showPanel());
      await panel.answers.getByText("On the right.").waitFor();
    });

    test("a draft that is on the disk is still there after a reload, and so is the chat", async () => {
      await set.ask(panel, "Remember this.", "It is remembered.");
      await panel.composer.fill("typed in the last moment");
      await patiently("the draft is on the disk", () => set.server.keepsDraft("typed in the last moment") || undefined);
      await set.window.reload();
      panel = new Panel(await set.window.showPanel());
      await panel.answers.getByText("It is remembered.").waitFor();
      await patiently(
        "the draft is there",
        async () => (await panel.composer.inputValue()) === "typed in the last moment" || undefined,
      );
    });

    test("an answer that was stopped in the middle reads the same after another chat and after a reload", async () => {
      await set.emulator.script([{ pieces: ["Half of the heron's ", { gate: "never" }, "answer."] }]);
      await panel.send("Tell me of herons.");
      await panel.answers.last().getByText("Half of the heron's").waitFor();
      await panel.stop.click();
      await panel.answers.last().getByText("Stopped. What came is kept above.").waitFor();
      const chat = await patiently("it is stored which chat this is", () => set.window.storedChat());
      await set.newChat();
      await set.window.command("Gemini: Chats…");
      await panel.frame
        .getByRole("searchbox", { name: "Search in all chats" })
        .or(panel.frame.getByRole("textbox", { name: "Search in all chats" }))
        .fill("heron's");
      await panel.frame.getByRole("list", { name: "Chats" }).getByRole("button").first().click();
      await readsAsStopped(panel, "Half of the heron's", "Stopped by you");
      await keepPicture(set, "living", "stopped-and-back");
      await patiently("it is stored again", async () => (await set.window.storedChat()) === chat || undefined);
      await set.window.reload();
      panel = new Panel(await set.window.showPanel());
      await readsAsStopped(panel, "Half of the heron's", "Stopped by you");
    });

    test("a reload in the middle of an answer keeps what came, and says that nobody stopped it", async () => {
      await set.ask(panel, "Remember this.", "It is remembered."); // which chat it is has been kept by then
      await set.emulator.script([{ pieces: ["Half of the stork's ", { gate: "never" }, "answer."] }]);
      await panel.send("Tell me of storks.");
      await panel.answers.last().getByText("Half of the stork's").waitFor();
      await panel.composer.fill("typed meanwhile");
      await patiently("the draft is on the disk", () => set.server.keepsDraft("typed meanwhile") || undefined);
      await set.window.reload();
      panel = new Panel(await set.window.showPanel());
      await readsAsStopped(panel, "Half of the stork's", "Stopped when its window closed");
      await keepPicture(set, "living", "reloaded-in-mid-answer");
      await panel.composer.fill("");
    });

    test("what is asked for right after New Chat, while the daemon is only starting, comes after it and stays", async () => {
      await set.window.command("View: Toggle Secondary Side Bar Visibility");
      await set.window.reload();
      await set.window.command("Gemini: New Chat");
      await set.window.command("Gemini: Chats…");
      panel = new Panel(await set.window.panel());
      const chats = panel.frame.getByRole("list", { name: "Chats" });
      await chats.getByRole("listitem").first().waitFor();
      await panel.frame
        .locator("footer")
        .getByText(/^gemini/)
        .waitFor({ state: "attached" }); // the daemon has answered
      expect(await chats.count()).toBe(1);
      await set.window.page.keyboard.press("Escape");
    });

    test("the daemon is killed in the middle of an answer: what came is kept, it comes back, the chat goes on", async () => {
      await set.ask(panel, "First.", "The first answer.");
      await set.emulator.script([{ pieces: ["Half ", { gate: "never" }, "of it."] }]);
      await panel.send("Second.");
      await panel.answers.last().getByText("Half").waitFor();
      const [daemon] = set.server.daemons();
      if (daemon === undefined) throw new Error("No daemon runs.");
      process.kill(daemon.pid, "SIGKILL");
      await panel.answers
        .last()
        .getByText(/daemon ended/)
        .waitFor();
      await patiently(
        "another daemon runs",
        () => set.server.daemons().some(({ pid }) => pid !== daemon.pid) || undefined,
      );
      await set.ask(panel, "Third.", "The third answer.");
      await panel.answers.getByText("The first answer.").waitFor();
    });

    test("a second window reads along; it can go on in a fork, or take the chat over", async () => {
      await set.ask(panel, "Shared.", "The shared answer.");
      const second = await Workbench.open(set.browser, set.server);
      try {
        await second.openFile("report.py");
        let other = new Panel(await second.showPanel());
        await second.command("Gemini: Chats…");
        await other.frame
          .getByRole("list", { name: "Chats" })
          .getByRole("listitem")
          .filter({ hasText: "in another window" })
          .getByRole("button")
          .first()
          .click();
        await other.frame.getByText(/Another window is using this chat/).waitFor();
        await other.answers.getByText("The shared answer.").waitFor();
        await other.button("Fork").click();
        await other.frame.getByText(/Another window is using this chat/).waitFor({ state: "hidden" });
        await set.emulator.script([{ pieces: ["In the fork."] }]);
        await other.ask("Here?", "In the fork.");

        await second.command("Gemini: Chats…");
        await other.frame
          .getByRole("list", { name: "Chats" })
          .getByRole("listitem")
          .filter({ hasText: "in another window" })
          .getByRole("button")
          .first()
          .click();
        await other.button("Take Over").click();
        await other.frame.getByText(/Another window is using this chat/).waitFor({ state: "hidden" });
        other = new Panel(await second.panel());
        await set.emulator.script([{ pieces: ["Taken over."] }]);
        await panel.composer.fill("half a thought");
        await other.ask("Mine now?", "Taken over.");

        // The first window did nothing, and is told all the same; it keeps what was written, and can take the chat back.
        const notice = panel.frame.getByText(/Another window is using this chat, so it can only be read here/).first();
        await notice.waitFor();
        await panel.answers.last().getByText("Taken over.").waitFor();
        await panel.stands("half a thought");
        await keepPicture(set, "living", "taken-by-another-window");
        await panel.button("Take Over").click();
        await notice.waitFor({ state: "hidden" });
        await other.frame
          .getByText(/Another window is using this chat/)
          .first()
          .waitFor();
        await set.ask(panel, "Mine again?", "Taken back.");
        expect(second.outside).toEqual([]);
      } finally {
        await second.close();
      }
    });

    test("a chat that another window takes in the middle of an answer says so, ends that, and can be taken back", async () => {
      await set.ask(panel, "Shared.", "The shared answer.");
      await set.emulator.script([{ pieces: ["It begins. ", { gate: "taken" }, "It ends."] }]);
      await panel.send("Go on?");
      await panel.answers.last().getByText("It begins.").waitFor();
      const second = await Workbench.open(set.browser, set.server);
      try {
        const other = new Panel(await second.showPanel());
        await second.command("Gemini: Chats…");
        const chats = other.frame.getByRole("list", { name: "Chats" }).getByRole("listitem");
        await chats.filter({ hasText: "in another window" }).first().getByRole("button").first().click();
        await other.button("Take Over").click();
        const notice = panel.frame.getByText(/Another window is using this chat, so it can only be read here/).first();
        await notice.waitFor();
        await set.emulator.release("taken");
        await panel.isIdle();
        // Whichever comes first: the end of the turn here, or the log as the other window left it.
        await panel.answers
          .last()
          .getByText(/Another window took the chat over before this was answered|The answer was interrupted/)
          .waitFor();
        await keepPicture(set, "living", "taken-in-the-middle");
        await panel.button("Take Over").click();
        await notice.waitFor({ state: "hidden" });
        await set.ask(panel, "Mine again?", "Taken back.");
        await panel.answers.getByText("The shared answer.").waitFor();
      } finally {
        await second.close();
      }
    });
  });
}

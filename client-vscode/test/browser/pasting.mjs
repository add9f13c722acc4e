// Long texts in the composer, with a real clipboard and a real undo. `node test/browser/pasting.mjs [words of a name]`.
/* global ClipboardItem, DataTransfer, DragEvent, File, document, navigator */
import assert from "node:assert/strict";
import { play } from "./scenes.mjs";

const scenes = {
  "keeps a long paste as an attachment, and undo and redo know it": async ({ page, frames }) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(() => window.tests.show(window.tests.conversation(3, 200)));
    await frames(4);
    const area = page.getByRole("textbox", { name: "Prompt", exact: true });
    const shown = () => area.inputValue();
    const chip = page.getByRole("button", { name: /^Pasted text 1/ });
    await area.pressSequentially("look at: it");
    for (const _ of "it") await page.keyboard.press("Shift+ArrowLeft");
    const log = await page.evaluate(() => window.tests.copyLongPrompt());
    await page.keyboard.press("Control+v");
    await frames(3);
    const marker = /\[Pasted text 1: [\d,]+ lines\]/;
    assert.match(await shown(), new RegExp(`^look at: ${marker.source}$`));
    await page.keyboard.press("Control+z");
    await frames(2);
    assert.equal(await shown(), "look at: it");
    assert.equal(await chip.count(), 0);
    await page.keyboard.press("Control+Shift+z");
    await frames(2);
    assert.match(await shown(), marker);
    assert.equal(await chip.count(), 1);
    // The marker is passed and deleted as one, and nothing gets into it.
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("> ");
    assert.match(await shown(), /^look at: > \[Pasted/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Backspace");
    await frames(2);
    assert.equal(await shown(), "look at: > ");
    await page.keyboard.press("Control+z");
    await frames(2);
    assert.match(await shown(), /^look at: > \[Pasted/);
    // By keys alone: read, then sent.
    await page.keyboard.press("Tab");
    assert.ok(await chip.evaluate((one) => one === document.activeElement), "Tab leads to it");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    const sent = () =>
      page.evaluate(() => window.tests.sent.findLast(({ type }) => type === "read" || type === "send"));
    assert.deepEqual(await sent(), { type: "read", chat: 1, name: "Pasted text 1.txt", text: log });
    await area.focus();
    await page.keyboard.press("Enter");
    const pasted = [{ start: 11, length: log.length }];
    assert.deepEqual(await sent(), { type: "send", chat: 1, text: `look at: > ${log}`, pasted });
    assert.equal(await shown(), "");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 300);
  },

  "takes a marker away as a whole with a word, and undo brings it back": async ({ page, frames }) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(() => window.tests.show(window.tests.conversation(3, 200)));
    const area = page.getByRole("textbox", { name: "Prompt", exact: true });
    await area.pressSequentially("see ");
    await page.evaluate(() => window.tests.copyLongPrompt());
    await page.keyboard.press("Control+v");
    await page.keyboard.type(" ");
    await frames(3);
    const before = await area.inputValue();
    assert.match(before, /^see \[Pasted text 1: [\d,]+ lines\] $/);
    await page.keyboard.press("Control+Backspace");
    await frames(2);
    assert.equal(await area.inputValue(), "see ");
    await page.keyboard.press("Control+z");
    await frames(2);
    assert.equal(await area.inputValue(), before);
    await page.keyboard.press("Home");
    await page.keyboard.press("Control+Delete");
    await frames(2);
    assert.equal((await area.inputValue()).trimStart(), before.slice("see ".length), "a word beside it goes alone");
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+Home");
    for (const _ of "see") await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Control+Delete");
    await frames(2);
    assert.match(await area.inputValue(), /^see ?$/);
  },

  "attaches a picture from the real clipboard and one that is dropped, small, and asks for its bytes once": async ({
    page,
    frames,
  }) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate(() => window.tests.show(window.tests.conversation(3, 200)));
    const area = page.getByRole("textbox", { name: "Prompt", exact: true });
    await area.fill("What is this?");
    await page.evaluate(async () => {
      const canvas = document.createElement("canvas");
      canvas.getContext("2d").fillRect(0, 0, 40, 30);
      const blob = await new Promise((resolve) => canvas.toBlob(resolve));
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
    });
    await page.keyboard.press("Control+v");
    const chip = page.locator("form.composer").getByRole("button", { name: /^screenshot\.png/ });
    await chip.locator("img").waitFor();
    const sentOf = (type) => page.evaluate((wanted) => window.tests.sent.filter((one) => one.type === wanted), type);
    const asked = async (what) => (await sentOf("call")).filter(({ request }) => request.do === what);
    const [added] = await asked("addPicture");
    assert.equal(added.request.name, "image.png");
    assert.match(added.request.data, /^iVBORw0KGgo/);
    assert.equal(await chip.locator("img").evaluate((image) => image.naturalWidth), 96);
    await area.focus();
    await page.keyboard.press("Enter");
    const [sent] = await sentOf("send");
    assert.deepEqual(
      [sent.text, sent.pictures.map(({ name }) => name), await chip.count()],
      ["What is this?", ["screenshot.png"], 0],
    );
    await page.evaluate((pictures) => window.tests.show(window.tests.withPictures(pictures)), sent.pictures);
    const shown = page.getByRole("article", { name: "You" }).getByRole("button", { name: /screenshot\.png/ });
    await shown.first().locator("img").waitFor();
    assert.equal(await shown.count(), 2, "the same picture in two prompts");
    // Shown in the composer and in two rows, it was asked for once.
    assert.equal((await asked("picture")).length, 1);
    await shown.first().click();
    assert.deepEqual((await sentOf("openPicture")).at(-1).digest, sent.pictures[0].digest);
    const drop = () =>
      area.evaluate((element) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(
          new File([new Uint8Array([0x89, 80, 78, 71, 13, 10, 26, 10])], "a.png", { type: "image/png" }),
        );
        dataTransfer.items.add(new File(["GIF89a"], "b.gif", { type: "image/gif" }));
        return element.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
      });
    assert.equal(await drop(), false);
    await page.getByText("b.gif is no picture that Gemini takes.").first().waitFor();
    assert.equal(await chip.count(), 1, "and the other one is there");
    await frames(2);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 300);
  },

  "takes a long text that is dropped where it was dropped, and leaves a short one to the browser": async ({
    page,
    frames,
  }) => {
    await page.evaluate(() => window.tests.show(window.tests.conversation(3, 200)));
    const area = page.getByRole("textbox", { name: "Prompt", exact: true });
    await area.fill("first second");
    const drop = (text) =>
      area.evaluate((element, dropped) => {
        const { left, top, height } = element.getBoundingClientRect();
        const dataTransfer = new DataTransfer();
        dataTransfer.setData("text/plain", dropped);
        const at = { clientX: left + 12, clientY: top + height / 2, bubbles: true, cancelable: true, dataTransfer };
        return element.dispatchEvent(new DragEvent("drop", at));
      }, text);
    assert.equal(await drop("short"), true);
    assert.equal(await drop("x".repeat(3_000)), false);
    await frames(2);
    assert.equal(await area.inputValue(), "[Pasted text 1: 1 line]first second");
    // What the browser drops does not get into a marker.
    const { x, y, height } = await area.boundingBox();
    const browser = await page.context().newCDPSession(page);
    const data = { items: [{ mimeType: "text/plain", data: "short" }], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"])
      await browser.send("Input.dispatchDragEvent", { type, x: x + 40, y: y + height / 2, data });
    await frames(2);
    assert.equal(await area.inputValue(), "short[Pasted text 1: 1 line]first second");
  },
};

await play(scenes, "panelPage.ts", { width: 300, height: 700, styles: "styles/panel.css" });

/** What is asked of a chat that is not the open one, and that another window uses. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { SessionActions } from "../../../src/chat/sessionActions.js";
import type { TextViews } from "../../../src/compression/documents.js";
import { fault, info, stage } from "./fakeDaemon.js";

const editor = vi.hoisted(() => ({
  window: {
    showInputBox: () => Promise.resolve("New title"),
    showWarningMessage: vi.fn((...[, , ...buttons]: unknown[]) => Promise.resolve(buttons.at(-1))),
  },
}));
vi.mock("vscode", async (original) => ({ ...(await original()), ...editor }));

it.each(["delete", "rename"] as const)(
  "it is said that it is in use, with no button that would be about the open chat: %s",
  async (wanted) => {
    const path = await mkdtemp(join(tmpdir(), "companion-"));
    const { chat, daemon } = stage(path);
    daemon.answers["gemini/session/open"] = ({ sessionId }) => Promise.resolve(info(sessionId));
    await chat.open("s1");
    const refuse = () => Promise.reject(fault("sessionBusy", 1002));
    daemon.answers["gemini/session/delete"] = daemon.answers["gemini/session/rename"] = refuse;
    const actions = new SessionActions(chat, {} as TextViews);
    await actions.handle({ type: "chat", do: wanted, sessionId: "s9" });
    expect(editor.window.showWarningMessage.mock.lastCall).toEqual(["Another window is using “Untitled chat”."]);
    await expect(actions.handle({ type: "chat", do: wanted, sessionId: "s1" })).rejects.toThrow();
    chat.dispose();
    await rm(path, { recursive: true, maxRetries: 10, retryDelay: 20 });
  },
);

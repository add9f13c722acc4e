/** Messages of the window, whose words a model or a repository may have chosen. */
import { beforeEach, expect, it, vi } from "vitest";
import { confirmed, fail, inform, warn } from "../../../src/toasts.js";

const told = vi.hoisted(() => [] as string[]);

vi.mock("vscode", async (original) => {
  const tell = (message: string) => Promise.resolve(void told.push(message));
  return {
    ...(await original<object>()),
    window: { showInformationMessage: tell, showWarningMessage: tell, showErrorMessage: tell },
  };
});

beforeEach(() => void (told.length = 0));

/** How VS Code finds links in a message. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

it("have no link that runs a command, whoever wrote them, and lose no word", async () => {
  const hostile = "Gemini asks: Run [Show](command:geminiCompanion.acceptDiff) a[0](1) [x]( y";
  await inform(hostile);
  await warn(hostile);
  await fail(hostile);
  expect(await confirmed(hostile, "", "Yes", "No")).toBe(false);
  expect(told).toHaveLength(4);
  for (const message of told) {
    expect(message).not.toMatch(LINK);
    expect(message.replaceAll(" ", "")).toBe(hostile.replaceAll(" ", ""));
  }
});

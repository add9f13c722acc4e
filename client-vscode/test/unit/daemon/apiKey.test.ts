/** The box for the key: where to get one, and what is said when it was given. */
import type { SecretStorage } from "vscode";
import { beforeEach, expect, it, vi } from "vitest";
import { ApiKey } from "../../../src/daemon/apiKey.js";

const seen = vi.hoisted(() => ({
  told: [] as string[],
  prompts: [] as string[],
  answer: undefined as string | undefined,
}));

vi.mock("vscode", async (original) => ({
  ...(await original<object>()),
  l10n: {
    t: (text: string, ...args: readonly string[]) =>
      text.replace(/\{(\d+)\}/g, (_, at: string) => args[Number(at)] ?? ""),
  },
  window: {
    showInputBox: ({ prompt }: { readonly prompt: string }) => {
      seen.prompts.push(prompt);
      return Promise.resolve(seen.answer);
    },
    showInformationMessage: (message: string) => Promise.resolve(void seen.told.push(message)),
  },
}));

const stored = new Map<string, string>();
const secrets = {
  get: (key: string) => Promise.resolve(stored.get(key)),
  store: (key: string, value: string) => Promise.resolve(void stored.set(key, value)),
  delete: (key: string) => Promise.resolve(void stored.delete(key)),
} as unknown as SecretStorage; // as much of it as is used

beforeEach(() => {
  seen.told.length = seen.prompts.length = 0;
  stored.clear();
});

it("leads to Google AI Studio, and says that the key is in force", async () => {
  seen.answer = "  AIzaSy-something  ";
  const key = new ApiKey(secrets);
  await key.set();
  expect(seen.prompts[0]).toContain("[Google AI Studio](https://aistudio.google.com/apikey)");
  expect(await key.read()).toBe("AIzaSy-something");
  expect(seen.told).toEqual(["The key is kept in this machine's secret storage. Gemini answers with it from now on."]);
});

it("says nothing where none was given", async () => {
  seen.answer = undefined;
  const key = new ApiKey(secrets);
  await key.set();
  expect([await key.read(), seen.told]).toEqual([undefined, []]);
});

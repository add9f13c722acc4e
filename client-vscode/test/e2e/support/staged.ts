/** States of the panel out of `test/panel/fixtures.ts`, shown in the real page: the host is cut off, and its messages are ours. */
import type { Frame, Page } from "playwright-core";
import type { PageResults, Row, ToPage } from "../../../src/panel/contract.js";
import { answers } from "../../panel/answers.js";
import { baseState } from "../../panel/chatRows.js";
import { type FixtureName, makeFixtures } from "../../panel/fixtures.js";

/** The origin of our messages, by which the page knows them. */
const STAGE = "stage";

/** Call it before the panel shows for the first time: every page loaded from then on can be cut off from its host. */
export async function prepare(page: Page): Promise<void> {
  await page.addInitScript(listenThrough, { stage: STAGE, answers });
}

/**
 * Runs before any script of a page. What listens to messages gets a filter before it; it does nothing until the page is cut off. Listeners
 * of our own would come too late: the page's are called in the order in which they were added.
 */
function listenThrough({ stage, answers: prepared }: { readonly stage: string; readonly answers: PageResults }): void {
  const standIn = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Object.keys(value).length === 0) return prepared.kept; // nothing is kept in a chat that was not compressed
    if ("data" in value && value.data === null) return prepared.picture; // of one that the host has never seen
    if ("byPart" in value) return prepared.context;
    if ("promptTokens" in value) return prepared.stats;
    if ("sessions" in value) return prepared.sessions;
    if ("hits" in value) return prepared.recall;
    if ("savedPerTurn" in value || "netTokens" in value) return prepared.verdict;
    if ("rules" in value) return prepared.toolRules;
    return "constraints" in value ? prepared.rules : value;
  };
  let chat: number | undefined;
  const add = window.addEventListener.bind(window);
  window.addEventListener = (
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ) => {
    if (type !== "message" || typeof listener !== "function") {
      if (listener !== null) add(type, listener, options);
      return;
    }
    const filtered = (event: Event) => {
      const data: unknown = event instanceof MessageEvent ? event.data : undefined;
      if (!(event instanceof MessageEvent) || typeof data !== "object" || data === null) {
        listener(event);
        return;
      }
      const state: unknown = "state" in data ? data.state : undefined;
      const isState = typeof state === "object" && state !== null && "chat" in state;
      if (event.origin === stage) {
        // The host answers no question about another chat than the one that it shows.
        const staged = isState ? { ...data, state: { ...state, chat: chat ?? state.chat } } : data;
        listener(new MessageEvent("message", { data: staged, origin: stage }));
        return;
      }
      if (isState && typeof state.chat === "number") chat = state.chat;
      if (document.documentElement.dataset["stage"] !== "yes") {
        listener(event);
        return;
      }
      if (!("type" in data) || data.type !== "result") return;
      listener(
        new MessageEvent("message", {
          data: { ...data, rev: 0, ...("value" in data && { value: standIn(data.value) }) },
        }),
      );
    };
    add(type, filtered, options);
  };
}

/** From now on the page receives only what is staged; its questions are answered with the fixtures' answers. Lasts until the page is loaded anew. */
export async function cutOff(frame: Frame): Promise<void> {
  await frame.evaluate(() => {
    document.documentElement.dataset["stage"] = "yes";
  });
}

/** Shows a state and waits until it is painted. What was read out of the one before is gone: an empty chat lies between. */
export async function show(frame: Frame, name: FixtureName): Promise<void> {
  const all = makeFixtures(Date.now());
  await post(frame, [...all.empty, ...all[name]]);
}

/** Shows rows and nothing else of note. */
export async function showRows(frame: Frame, rows: readonly Row[]): Promise<void> {
  await post(frame, [{ type: "sync", rev: 1, state: baseState, total: rows.length, from: 0, rows, strings: {} }]);
}

let lastVersion = 0;

/** Rows of one state have the ids and versions of another's: numbered anew, they are painted. */
function renumbered(message: ToPage): ToPage {
  return "rows" in message
    ? { ...message, rows: message.rows.map((row) => ({ ...row, version: (lastVersion += 1) })) }
    : message;
}

async function post(frame: Frame, messages: readonly ToPage[]): Promise<void> {
  const said = { messages: messages.map(renumbered), stage: STAGE };
  await frame.evaluate(async ({ messages: all, stage }) => {
    const painted = async () => {
      for (let frames = 0; frames < 4; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    };
    // Pop-ups and the find bar of the state before close as they do for a person.
    const open = document.querySelectorAll('[role="dialog"], [role="menu"], [role="search"], [role="alertdialog"]');
    for (const target of open)
      target.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
    await painted();
    for (const data of all) window.dispatchEvent(new MessageEvent("message", { data, origin: stage }));
    await painted();
    document.querySelector('[role="feed"]')?.scrollTo(0, 1e6);
    await painted();
  }, said);
  // Answers of the host to what a pop-up asks take a way of their own.
  await frame.getByText(/^(Counting|Searching)…$/).waitFor({ state: "detached" });
}

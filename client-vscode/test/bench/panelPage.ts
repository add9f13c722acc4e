/**
 * What `vscode.bench.ts` measures, inside the panel's page. It runs before any script of a page, so that the page can be cut off from its
 * host: from then on its messages come from here, and its questions for rows are answered here.
 */
import type { FromPage, Row, ToPage, Unnumbered } from "../../src/panel/contract.js";
import type { VsCodeApi } from "../../webview/bridge.js";
import { awayFromEnd, narrow, painted, percentile, streamInto, walk } from "../browser/measuring.js";
import { answerRow, conversation, panelState, promptRow } from "../browser/rows.js";

/** As many rows as the host puts into a sync. */
const SNAPSHOT_ROWS = 200;
/** How long a host takes to answer a question for rows, ms. */
const ANSWER_MS = 5;
/** Numbers of questions that the page itself will not come to. */
const FIRST_CALL = 1_000_000;

/** VS Code's frame for the page, taken before VS Code hides it. */
const holder = window.frameElement as HTMLElement | null; // a frame's element is one of HTML's
const listen = window.addEventListener.bind(window);
const ours = new WeakSet<Event>();
let host: VsCodeApi | undefined;
let isCutOff = false;
let isInStep = true;
let lastCall = FIRST_CALL;
let rev = 0;
let shown: readonly Row[] = [];

/** Puts a filter before the page's ear and one before its mouth; they do nothing until the page is cut off. */
function standBetween(): void {
  window.addEventListener = (
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ) => {
    if (listener === null) return;
    if (type !== "message" || typeof listener !== "function") listen(type, listener, options);
    else listen(type, (event) => (!isCutOff || ours.has(event)) && listener(event), options);
  };
  let acquire: () => VsCodeApi;
  Object.defineProperty(window, "acquireVsCodeApi", {
    get: () => () => {
      const api = (host = acquire());
      return { ...api, postMessage: (message: FromPage) => (isCutOff ? answer(message) : api.postMessage(message)) };
    },
    set: (theirs: typeof acquire) => void (acquire = theirs),
  });
}

function answer(message: FromPage): void {
  if (message.type === "ready") isInStep = false; // something did not fit, and the page wants all of it again
  if (message.type !== "call" || message.request.do !== "rows") return;
  const { call, request } = message;
  setTimeout(
    () =>
      post({
        type: "result",
        call,
        ok: true,
        value: { from: request.from, rows: shown.slice(request.from, request.to + 1) },
      }),
    ANSWER_MS,
  );
}

function post(message: Unnumbered): void {
  const event = new MessageEvent("message", { data: { ...message, rev: ++rev } });
  ours.add(event);
  window.dispatchEvent(event);
  if (!isInStep) throw new Error(`The page lost its step at a ${message.type}.`);
}

function show(rows: readonly Row[]): void {
  isCutOff = true;
  shown = rows;
  const from = Math.max(0, rows.length - SNAPSHOT_ROWS);
  post({ type: "sync", state: panelState(), total: rows.length, from, rows: rows.slice(from), strings: {} });
}

/** The same rows under names that the page has not received: what it has painted of them does not count. */
function renamed<R extends Row>(row: R, attempt: number): R {
  return { ...row, id: `${row.id}-${attempt}` };
}

function feed(): HTMLElement {
  const found = document.querySelector<HTMLElement>('[role="feed"]');
  if (found === null) throw new Error("There is no transcript.");
  return found;
}

function nodes(): number {
  return document.querySelectorAll("*").length;
}

/** Streams `count` deltas of an answer of `size` characters behind 40 older messages. */
async function stream(attempt: number, count: number, size: number): Promise<Record<string, number>> {
  const answer = renamed(answerRow(20, "", "streaming"), attempt);
  const rows = [...conversation(20, 1_200), promptRow(20, "And now a long one")].map((row) => renamed(row, attempt));
  show([...rows, answer]);
  await painted();
  const total = rows.length + 1;
  const article = document.querySelector(`article.answer[aria-posinset="${total}"]`);
  if (article === null) throw new Error("The streaming answer is not mounted.");
  const measured = await streamInto(
    {
      article,
      append: (sent, at, text) => post({ type: "delta", rowId: answer.id, version: sent + 2, field: "text", at, text }),
      finish: (text) =>
        post({ type: "rows", total, from: total - 1, rows: [{ ...answer, state: "done", text, version: count + 9 }] }),
    },
    count,
    size,
  );
  return { ...measured, endLost: awayFromEnd(feed()) };
}

/** Opens a conversation of `messages`, scrolls and resizes it. */
async function list(attempt: number, messages: number): Promise<Record<string, number>> {
  show([]);
  const rows = conversation(messages / 2, 1_200).map((row) => renamed(row, attempt));
  await painted();
  const start = performance.now();
  show(rows);
  await painted();
  const openMs = performance.now() - start;
  const first = nodes();
  const walked = await walk(feed());
  if (holder === null) throw new Error("The page is in no frame.");
  const { width } = holder.style;
  const resized = await narrow((px) => (holder.style.width = `${px}px`), feed());
  holder.style.width = width;
  return { openMs, nodes: first, ...walked, ...resized };
}

/** From a question of the page to the host's answer, `count` times, one after the other. */
async function roundTrips(count: number): Promise<Record<string, number>> {
  const times: number[] = [];
  for (let trip = 0; trip < count; trip++) {
    const start = performance.now();
    await answered({ do: "rows", from: 0, to: 0 });
    times.push(performance.now() - start);
  }
  return { roundTripP50Ms: percentile(times, 0.5), roundTripP95Ms: percentile(times, 0.95) };
}

function answered(request: (FromPage & { readonly type: "call" })["request"]): Promise<void> {
  const call = ++lastCall;
  return new Promise((resolve) => {
    const receives = (event: Event): void => {
      const { data } = event as MessageEvent<ToPage>; // of type `message`
      if (data.type !== "result" || data.call !== call) return;
      window.removeEventListener("message", receives);
      resolve();
    };
    listen("message", receives);
    host?.postMessage({ type: "call", call, request } satisfies FromPage);
  });
}

/** From the next click until a message with `text` in it is on the screen, ms. */
async function fromClickTo(text: string): Promise<number> {
  let start = NaN;
  document.addEventListener("click", () => (start = performance.now()), { capture: true, once: true });
  for (;;) {
    await painted();
    if (Number.isNaN(start)) continue;
    const inSight = [...document.querySelectorAll("article")].some((article) => {
      const { top, bottom } = article.getBoundingClientRect();
      return bottom > 0 && top < window.innerHeight && article.textContent.includes(text);
    });
    if (inSight) return performance.now() - start;
  }
}

/**
 * From VS Code's asking for the page until its frame has the content to show, until there is a document of that frame's, until the page's own is
 * written into it, and until something of it is painted, ms.
 */
async function firstPicture(): Promise<Record<string, number>> {
  const askedAt = Number(document.body.dataset["askedAt"]);
  const outer = holder?.ownerDocument.defaultView?.performance;
  const marked = (name: string): number => {
    const mark = outer?.getEntriesByName(`webview/index.html/content/${name}`).at(-1);
    return outer === undefined || mark === undefined ? NaN : outer.timeOrigin + mark.startTime - askedAt;
  };
  for (;;) {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const frameMs = performance.timeOrigin - askedAt;
    if (paint !== undefined)
      return {
        contentMs: marked("started"),
        frameMs,
        documentMs: marked("wroteInnerContent"),
        firstPaintMs: frameMs + paint.startTime,
      };
    await painted();
  }
}

const bench = { stream, list, roundTrips, fromClickTo, firstPicture, nodes };
export type PanelBench = typeof bench;

if (holder !== null && !("bench" in window)) {
  standBetween();
  Object.assign(window, { bench });
}

/** What `hostile.mjs` asks of the page: to show an answer, streamed or at once, and to tell what became of it. */
import { Transcript } from "../../webview/transcript/transcript.js";
import { HOSTILE_ANSWERS } from "./hostileAnswers.js";
import { answerRow, numbers, panelState, promptRow } from "./rows.js";

const ELEMENTS = new Set(
  "a article bdi blockquote br button code del details div em figure h2 h3 h4 h5 h6 hr li ol p pre span strong summary table tbody td th thead time tr ul".split(
    " ",
  ),
);
const ATTRIBUTES =
  /^(?:align|aria-(?:busy|expanded|label|labelledby|posinset|setsize)|class|data-(?:action|code|copied|href|index|name|state)|datetime|dir|hidden|id|role|start|style|tabindex|title|type)$/;
const PIECES = 400;
/** The most elements that an answer may put on the page: beyond that a browser does not react for seconds. */
const MOST_ELEMENTS = 10_000;

const root = document.querySelector<HTMLElement>("#root") ?? document.body;
const violations: string[] = [];
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.violatedDirective} ${event.blockedURI}`),
);

interface Report {
  /** Whatever is wrong, in words. */
  readonly faults: readonly string[];
  /** The answer's markup without what the page needs for itself. */
  readonly markup: string;
  readonly ms: number;
  /** The longest time that the page did not react, ms. */
  readonly worstMs: number;
}

let worstMs = 0;

async function painted(): Promise<void> {
  const start = performance.now();
  await new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  worstMs = Math.max(worstMs, performance.now() - start);
}

/** Shows one of the answers. `seed` cuts it into random pieces; without one it comes at once. */
async function show(name: string, seed?: number): Promise<Report> {
  const text = HOSTILE_ANSWERS[name] ?? "";
  violations.length = 0;
  const width = root.clientWidth;
  const prompt = promptRow(0, text.slice(0, 2_000));
  const transcript = new Transcript(root, {
    send: () => undefined,
    announce: () => undefined,
    thumbnail: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(false),
    loadRows: () => undefined,
    t: (english, ...args) => english.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)])),
  });
  transcript.setState(panelState());
  const start = performance.now();
  worstMs = 0;
  if (seed === undefined) {
    transcript.reset(2, 0, [prompt, answerRow(0, text)]);
  } else {
    transcript.reset(2, 0, [prompt, answerRow(0, "", "streaming")]);
    const next = numbers(seed);
    for (let at = 0, version = 2; at < text.length; version++) {
      const piece = text.slice(at, at + 1 + Math.floor((next() * 2 * text.length) / PIECES));
      if (!transcript.appendDelta({ rowId: "a:t0", version, field: "text", at, text: piece }))
        throw new Error("a delta did not fit");
      at += piece.length;
      if (next() < 0.15) await painted();
    }
    await painted();
    transcript.setRows(2, 1, [{ ...answerRow(0, text), version: 1_000_000 }]);
  }
  await painted();
  const ms = performance.now() - start;
  // Colours come with a chunk of their own; whoever waits for it goes on before the next task.
  await import("../../webview/transcript/markdown/languages.js");
  await new Promise((resolve) => setTimeout(resolve));
  await painted();
  const faults = [...inspect(transcript), ...violations.map((one) => `policy: ${one}`)];
  if (root.clientWidth !== width) faults.push(`the panel became ${root.clientWidth} px wide`);
  const markup = root.querySelector("article.answer .markdown:not(.thoughts *)")?.outerHTML ?? "";
  transcript.dispose();
  return { faults, markup, ms, worstMs };
}

function inspect(transcript: Transcript): string[] {
  const faults: string[] = [];
  if ("stolen" in window) faults.push("script ran");
  const { feed } = transcript;
  if (feed.scrollWidth > feed.clientWidth) faults.push(`the list became ${feed.scrollWidth} px wide`);
  for (const article of feed.querySelectorAll<HTMLElement>("article")) {
    if (article.getBoundingClientRect().width > feed.clientWidth + 1) faults.push("a message became too wide");
  }
  for (const node of feed.querySelectorAll("article, article *")) {
    if (node.namespaceURI !== "http://www.w3.org/1999/xhtml" || !ELEMENTS.has(node.localName))
      faults.push(`element ${node.localName}`);
    for (const { name, value } of node.attributes) {
      if (!ATTRIBUTES.test(name)) faults.push(`attribute ${name} of ${node.localName}`);
      if (name === "data-action" && !(node.localName === "button" && /^(?:retry|resumeTurn)$/.test(value)))
        faults.push(`action ${value} of ${node.localName}`);
      if (name === "style" && !(node.localName === "article" && /^transform: translateY\([\d.]+px\);$/.test(value)))
        faults.push(`style ${value}`);
      if (name === "data-href" && !/^(?:https?:\/\/|mailto:|file:\/\/\/|[^:]*$|[\w.-]+\.\w+:\d)/i.test(value))
        faults.push(`link to ${value}`);
      if (name === "id" && !/^row-\d+$/.test(value)) faults.push(`id ${value}`);
    }
  }
  const { length } = feed.querySelectorAll("*");
  if (length > MOST_ELEMENTS) faults.push(`${length} elements`);
  for (const name of ["cookie", "querySelector", "acquireVsCodeApi"]) {
    if (document.getElementById(name) !== null) faults.push(`clobbered ${name}`);
  }
  if (document.querySelectorAll("main").length !== 1 || root.parentElement !== document.body)
    faults.push("the page around it changed");
  return [...new Set(faults)];
}

Object.assign(window, { tests: { names: Object.keys(HOSTILE_ANSWERS), show } });

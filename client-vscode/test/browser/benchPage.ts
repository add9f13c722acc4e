/** What `bench.mjs` measures, inside the page. */
import type { Row } from "../../src/panel/contract.js";
import { Transcript } from "../../webview/transcript/transcript.js";
import { answerRow, conversation, markdown, panelState, promptRow } from "./rows.js";

const root = document.querySelector<HTMLElement>("#root") ?? document.body;

function open(all: readonly Row[]): Transcript {
  const transcript = new Transcript(root, {
    send: () => undefined,
    announce: () => undefined,
    confirm: () => Promise.resolve(true),
    t: (text, ...args) => text.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)])),
    loadRows: (from, to) => void setTimeout(() => transcript.setRows(all.length, from, all.slice(from, to + 1)), 5),
  });
  transcript.setState(panelState());
  return transcript;
}

function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve();
      port2.postMessage(0);
    });
  });
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

/** Counts frames until `stop`. A frame that took the time of three is two dropped ones. */
function watchFrames(): () => { readonly dropped: number; readonly worstMs: number } {
  const FRAME = 1000 / 60;
  let last = performance.now();
  let dropped = 0;
  let worstMs = 0;
  let running = true;
  const look = (now: number): void => {
    const took = now - last;
    last = now;
    worstMs = Math.max(worstMs, took);
    if (took > FRAME * 1.5) dropped += Math.round(took / FRAME) - 1;
    if (running) requestAnimationFrame(look);
  };
  requestAnimationFrame((now) => {
    last = now;
    requestAnimationFrame(look);
  });
  return () => {
    running = false;
    return { dropped, worstMs };
  };
}

/** Streams `count` deltas of an answer of `size` characters at 200 a second, behind 40 older messages. */
async function stream(count: number, size: number): Promise<Record<string, number>> {
  const older = conversation(20, 1_200);
  const rows = [...older, promptRow(20, "And now a long one"), answerRow(20, "", "streaming")];
  const transcript = open(rows);
  transcript.reset(rows.length, 0, rows);
  await painted();
  const text = markdown(size, 7);
  const article = root.querySelector(`article.answer[aria-posinset="${rows.length}"]`);
  if (article === null) throw new Error("the streaming answer is not mounted");
  let gone = 0;
  let waiting: number[] = [];
  const late: number[] = [];
  new MutationObserver((records) => {
    const now = performance.now();
    late.push(...waiting.map((arrived) => now - arrived));
    waiting = [];
    for (const record of records) for (const node of record.removedNodes) gone += 1 + (node instanceof Element ? node.querySelectorAll("*").length : 0);
  }).observe(article, { subtree: true, childList: true, characterData: true });
  const frames = watchFrames();
  const start = performance.now();
  let sent = 0;
  await new Promise<void>((resolve) => {
    const step = (): void => {
      const due = Math.min(count, Math.floor((performance.now() - start) / 5));
      for (; sent < due; sent++) {
        const at = Math.floor((size * sent) / count);
        waiting.push(performance.now());
        const fits = transcript.appendDelta({ rowId: "a:t20", version: sent + 2, field: "text", at, text: text.slice(at, Math.floor((size * (sent + 1)) / count)) });
        if (!fits) throw new Error(`delta ${sent} did not fit`);
      }
      if (sent < count) setTimeout(step, 1);
      else resolve();
    };
    step();
  });
  const { dropped, worstMs } = frames();
  const finish = performance.now();
  transcript.setRows(rows.length, rows.length - 1, [{ ...answerRow(20, text), version: count + 9 }]);
  const finishMs = performance.now() - finish;
  await painted();
  const atEnd = Math.abs(transcript.feed.scrollHeight - transcript.feed.clientHeight - transcript.feed.scrollTop) < 2;
  transcript.dispose();
  return { dropped, worstFrameMs: worstMs, lateP50Ms: percentile(late, 0.5), lateP95Ms: percentile(late, 0.95), gone, finishMs, following: Number(atEnd) };
}

/** Opens a conversation of `messages`, scrolls and resizes it. */
async function list(messages: number): Promise<Record<string, number>> {
  const rows = conversation(messages / 2, 1_200);
  await painted();
  const start = performance.now();
  const transcript = open(rows);
  transcript.reset(rows.length, rows.length - 200, rows.slice(-200));
  await painted();
  const openMs = performance.now() - start;
  const nodes = root.querySelectorAll("*").length;
  const { feed } = transcript;

  let frames = watchFrames();
  for (let step = 0; step < 240; step++) {
    feed.scrollTop -= 120;
    await painted();
  }
  const scroll = frames();
  let blank = 0;
  frames = watchFrames();
  for (let jump = 0; jump < 60; jump++) {
    feed.scrollTop = (feed.scrollHeight * ((jump * 37) % 60)) / 60;
    await painted();
    if (document.elementFromPoint(root.clientWidth / 2, root.clientHeight / 2)?.closest("article") == null) blank++;
  }
  const jumps = frames();
  const mostNodes = root.querySelectorAll("*").length;

  const steps: number[] = [];
  for (let step = 0; step < 30; step++) {
    const before = performance.now();
    root.style.width = `${400 - step * 5}px`;
    feed.getBoundingClientRect();
    await painted();
    steps.push(performance.now() - before);
  }
  transcript.dispose();
  return {
    openMs, nodes, mostNodes, scrollDropped: scroll.dropped, jumpDropped: jumps.dropped, blankAfterJump: blank,
    resizeP50Ms: percentile(steps, 0.5), resizeP95Ms: percentile(steps, 0.95),
  };
}

Object.assign(window, { tests: { stream, list } });

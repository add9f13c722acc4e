/** What is measured of a transcript, inside its page: the same in the page of the tests and in VS Code's. */
import { markdown } from "./rows.js";

/** Deltas of a stream come this often, ms. */
const DELTA_EVERY_MS = 5;
const FRAME_MS = 1000 / 60;

/** Resolves when what was done before is on the screen. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve();
      port2.postMessage(0);
    });
  });
}

/** @param share - 0.5 for the median */
export function percentile(values: readonly number[], share: number): number {
  return (
    values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
  );
}

/** Counts frames until `stop`. A frame that took the time of three is two dropped ones. */
export function watchFrames(): () => { readonly dropped: number; readonly worstMs: number } {
  let last = performance.now();
  let dropped = 0;
  let worstMs = 0;
  let running = true;
  const look = (now: number): void => {
    const took = now - last;
    last = now;
    worstMs = Math.max(worstMs, took);
    if (took > FRAME_MS * 1.5) dropped += Math.round(took / FRAME_MS) - 1;
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

/** A streaming answer that is mounted, and the way in which its text comes. */
export interface StreamingAnswer {
  readonly article: Element;
  /** `sent` deltas were appended before this one, `at` characters in all. */
  append(sent: number, at: number, text: string): void;
  /** The answer is complete. */
  finish(text: string): void;
}

/** Streams `count` deltas of an answer of `size` characters, 200 a second. */
export async function streamInto(
  answer: StreamingAnswer,
  count: number,
  size: number,
): Promise<Record<string, number>> {
  const text = markdown(size, 7);
  let gone = 0;
  let waiting: number[] = [];
  const late: number[] = [];
  const observer = new MutationObserver((records) => {
    const now = performance.now();
    late.push(...waiting.map((arrived) => now - arrived));
    waiting = [];
    for (const record of records)
      for (const node of record.removedNodes)
        gone += 1 + (node instanceof Element ? node.querySelectorAll("*").length : 0);
  });
  observer.observe(answer.article, { subtree: true, childList: true, characterData: true });
  const stop = watchFrames();
  const start = performance.now();
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const step = (): void => {
      try {
        const due = Math.min(count, Math.floor((performance.now() - start) / DELTA_EVERY_MS));
        for (; sent < due; sent++) {
          const at = Math.floor((size * sent) / count);
          waiting.push(performance.now());
          answer.append(sent, at, text.slice(at, Math.floor((size * (sent + 1)) / count)));
        }
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      if (sent < count) setTimeout(step, 1);
      else resolve();
    };
    step();
  });
  const { dropped, worstMs } = stop();
  const finish = performance.now();
  answer.finish(text);
  const finishMs = performance.now() - finish;
  await painted();
  observer.disconnect();
  return {
    dropped,
    worstFrameMs: worstMs,
    lateP50Ms: percentile(late, 0.5),
    lateP95Ms: percentile(late, 0.95),
    gone,
    finishMs,
  };
}

/** How far the feed is from its end, px. */
export function awayFromEnd(feed: HTMLElement): number {
  return Math.abs(feed.scrollHeight - feed.clientHeight - feed.scrollTop);
}

/** Scrolls upwards by 240 steps, then jumps to 60 places. `mostNodes` is the most elements that the feed had on the way. */
export async function walk(feed: HTMLElement): Promise<Record<string, number>> {
  let mostNodes = 0;
  const count = (): void => void (mostNodes = Math.max(mostNodes, feed.querySelectorAll("*").length));
  let stop = watchFrames();
  for (let step = 0; step < 240; step++) {
    feed.scrollTop -= 120;
    await painted();
    count();
  }
  const scroll = stop();
  let blank = 0;
  stop = watchFrames();
  const { left, top, width, height } = feed.getBoundingClientRect();
  for (let jump = 0; jump < 60; jump++) {
    feed.scrollTop = (feed.scrollHeight * ((jump * 37) % 60)) / 60;
    await painted();
    if (document.elementFromPoint(left + width / 2, top + height / 2)?.closest("article") == null) blank++;
    count();
  }
  const jumps = stop();
  return { mostNodes, scrollDropped: scroll.dropped, jumpDropped: jumps.dropped, blankAfterJump: blank };
}

/** Makes it narrower in 30 steps: the time from each to its picture. */
export async function narrow(resize: (width: number) => void, feed: HTMLElement): Promise<Record<string, number>> {
  const steps: number[] = [];
  for (let step = 0; step < 30; step++) {
    const before = performance.now();
    resize(400 - step * 5);
    feed.getBoundingClientRect();
    await painted();
    steps.push(performance.now() - before);
  }
  return { resizeP50Ms: percentile(steps, 0.5), resizeP95Ms: percentile(steps, 0.95) };
}

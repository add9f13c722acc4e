/** What `bench.mjs` measures, inside the page. */
import type { Row } from "../../src/panel/contract.js";
import { Transcript } from "../../webview/transcript/transcript.js";
import { type HeavyScene, playHeavy } from "./heavyScenes.js";
import { awayFromEnd, narrow, painted, streamInto, walk } from "./measuring.js";
import { answerRow, conversation, panelState, promptRow } from "./rows.js";

const root = document.querySelector<HTMLElement>("#root") ?? document.body;

function open(all: readonly Row[]): Transcript {
  const transcript = new Transcript(root, {
    send: () => undefined,
    announce: () => undefined,
    thumbnail: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(true),
    t: (text, ...args) => text.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)])),
    loadRows: (from, to) => void setTimeout(() => transcript.setRows(all.length, from, all.slice(from, to + 1)), 5),
  });
  transcript.setState(panelState());
  return transcript;
}

/** Streams `count` deltas of an answer of `size` characters behind 40 older messages. */
async function stream(count: number, size: number): Promise<Record<string, number>> {
  const rows = [...conversation(20, 1_200), promptRow(20, "And now a long one"), answerRow(20, "", "streaming")];
  const transcript = open(rows);
  transcript.reset(rows.length, 0, rows);
  await painted();
  const article = root.querySelector(`article.answer[aria-posinset="${rows.length}"]`);
  if (article === null) throw new Error("the streaming answer is not mounted");
  const measured = await streamInto(
    {
      article,
      append: (sent, at, text) => {
        if (!transcript.appendDelta({ rowId: "a:t20", version: sent + 2, field: "text", at, text }))
          throw new Error(`delta ${sent} did not fit`);
      },
      finish: (text) =>
        transcript.setRows(rows.length, rows.length - 1, [{ ...answerRow(20, text), version: count + 9 }]),
    },
    count,
    size,
  );
  const endLost = awayFromEnd(transcript.feed);
  transcript.dispose();
  return { ...measured, endLost };
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
  const walked = await walk(transcript.feed);
  const resized = await narrow((width) => (root.style.width = `${width}px`), transcript.feed);
  transcript.dispose();
  return { openMs, nodes, ...walked, ...resized };
}

/** One of the heavy messages, with all that is done to it. The browser's own trace says what each frame took. */
async function heavy(scene: HeavyScene, attempt: number): Promise<void> {
  let rows: readonly Row[] = [];
  const transcript = open([]);
  await playHeavy(
    {
      feed: () => transcript.feed,
      show: (all) => {
        rows = all;
        transcript.reset(all.length, 0, all);
      },
      put: (row, total) => {
        rows = [...rows.slice(0, total - 1), row];
        transcript.setRows(total, total - 1, [row]);
      },
      append: ({ id }, version, at, text) => {
        if (!transcript.appendDelta({ rowId: id, version, field: "text", at, text }))
          throw new Error(`a delta at ${at} did not fit`);
      },
      find: async (_query, matches, steps) => {
        transcript.highlightMatches(matches);
        for (let step = 0; step < steps; step++) {
          const match = matches[Math.floor((matches.length * step) / steps)];
          if (match !== undefined) transcript.revealMatch(match);
          await painted();
        }
      },
      endFind: () => transcript.clearMatches(),
    },
    scene,
    attempt,
  );
  transcript.dispose();
}

Object.assign(window, { tests: { stream, list, heavy } });

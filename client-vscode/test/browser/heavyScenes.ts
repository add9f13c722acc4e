/** What is done with a heavy message, step by step: put, streamed, scrolled, unfolded, found in, folded. Each step is a measure of the page. */
import { findIn } from "../../src/chat/pure/finding.js";
import type { AnswerRow, PromptRow, Row } from "../../src/panel/contract.js";
import { painted } from "./measuring.js";
import { longCode, longPrompt, longTable } from "./heavyRows.js";
import { answerRow, conversation, promptRow } from "./rows.js";

/** Deltas of a heavy answer, one in each frame. */
const DELTAS = 200;
const OLDER_TURNS = 10;
/** Matches of the find bar that are stepped to. */
const STEPS_OF_FIND = 12;

/** The page that it happens in. */
export interface HeavyStage {
  readonly feed: () => HTMLElement;
  /** Another chat is opened. */
  show(rows: readonly Row[]): void;
  /** The last of `total` rows is new, or changed. */
  put(row: Row, total: number): void;
  append(row: AnswerRow, version: number, at: number, text: string): void;
  /** Finds a text, of which `matches` are told, and goes to some of them. */
  find(query: string, matches: ReturnType<typeof findIn>, steps: number): Promise<void>;
  endFind(): void;
}

export type HeavyScene = "prompt" | "table" | "code";

/** Plays a scene with fresh names, so that nothing of an earlier `attempt` is still there. */
export async function playHeavy(stage: HeavyStage, scene: HeavyScene, attempt: number): Promise<void> {
  const before = conversation(OLDER_TURNS, 1_200).map((row) => ({ ...row, id: `${row.id}-${scene}-${attempt}` }));
  stage.show(before);
  await idle();
  const turn = 1_000 + attempt;
  const last = scene === "prompt" ? heavyPrompt(turn) : heavyAnswer(scene, turn);
  const total = before.length + 1;
  if (last.kind === "answer") {
    await step("stream", () => streamed(stage, last, total));
    stage.show(before.map((row) => ({ ...row, id: `${row.id}-again` })));
    await idle();
  }
  const shown = last.kind === "answer" ? { ...last, id: `${last.id}-again` } : last;
  await step("put", async () => {
    stage.put(shown, total);
    await idle();
  });
  const unfold = stage.feed().querySelector<HTMLElement>(".show-all, article.prompt:last-of-type button.link");
  if (unfold === null) throw new Error(`${scene}: nothing is folded`);
  await step("unfold", async () => {
    unfold.click();
    await idle();
  });
  await step("scroll", () => scrolled(stage.feed()));
  const rows = [...before, shown];
  await step("find", async () => {
    await stage.find("waits", findIn(rows, scene === "code" ? "token" : "waits", false), STEPS_OF_FIND);
    await idle();
  });
  stage.endFind();
  if (unfold.isConnected)
    await step("fold", async () => {
      unfold.click();
      await idle();
    });
}

function heavyPrompt(turn: number): PromptRow {
  return promptRow(turn, longPrompt());
}

function heavyAnswer(scene: "table" | "code", turn: number): AnswerRow {
  return answerRow(turn, scene === "table" ? longTable(400) : longCode(5_000));
}

async function streamed(stage: HeavyStage, answer: AnswerRow, total: number): Promise<void> {
  const { text } = answer;
  stage.put({ ...answer, state: "streaming", text: "" }, total);
  await painted();
  for (let sent = 0; sent < DELTAS; sent++) {
    const at = Math.floor((text.length * sent) / DELTAS);
    stage.append(answer, sent + 2, at, text.slice(at, Math.floor((text.length * (sent + 1)) / DELTAS)));
    await painted();
  }
  stage.put({ ...answer, version: DELTAS + 9 }, total);
  await idle();
}

/** To the beginning of the last message and through all of it, in big steps. */
async function scrolled(feed: HTMLElement): Promise<void> {
  const last = feed.querySelector("article:last-of-type");
  const height = last?.getBoundingClientRect().height ?? 0;
  const top = feed.scrollHeight - height;
  for (let jump = 0; jump < 40; jump++) {
    feed.scrollTop = top + (height * ((jump * 17) % 40)) / 40;
    await painted();
  }
  feed.scrollTop = feed.scrollHeight;
  await painted();
}

async function step(name: string, play: () => Promise<void>): Promise<void> {
  performance.mark(`begin:${name}`);
  await play();
  performance.mark(`end:${name}`);
}

/** Resolves when what was done has been painted, and what it put off to later frames too. */
async function idle(): Promise<void> {
  for (let frame = 0; frame < 20; frame++) await painted();
}

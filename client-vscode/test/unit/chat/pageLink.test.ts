import { beforeEach, describe, expect, it, vi } from "vitest";
import { PageLink, ROWS_PER_PAGE, type PageSource } from "../../../src/chat/pageLink.js";
import type { AnswerRow, NoticeRow, PanelState, Row, ToPage } from "../../../src/panel/contract.js";

// The link passes the state on without looking into it.
const STATE = {} as PanelState;

function notice(index: number): NoticeRow {
  return { kind: "notice", id: `n:${index}`, version: index, level: "info", text: "", actions: [] };
}

function answer(text: string, version: number): AnswerRow {
  return {
    kind: "answer",
    id: "a:t",
    version,
    turnId: "t",
    model: "",
    state: "streaming",
    text,
    thoughts: "",
    tools: [],
    attempt: 1,
  };
}

describe("the wire to a page", () => {
  let posted: ToPage[];
  let rows: Row[];
  let link: PageLink;

  beforeEach(() => {
    vi.useFakeTimers();
    posted = [];
    rows = [answer("", 1)];
    const source: PageSource = {
      get rows() {
        return rows;
      },
      state: () => STATE,
      draft: () => ({ draft: 1, text: "draft", scroll: "end" }),
      strings: {},
    };
    link = new PageLink((message) => posted.push(message), source);
    return () => vi.useRealTimers();
  });

  const types = (): string[] => posted.map((message) => message.type);

  it("says nothing before the page is ready, then everything, with the draft for a page that boots", () => {
    link.state();
    link.rows(0, 1);
    vi.runAllTimers();
    expect(posted).toEqual([]);
    link.ready(true);
    expect(posted[0]).toMatchObject({ type: "sync", total: 1, from: 0, draft: { text: "draft" } });
  });

  it("does not touch the composer of a page that only lost its way", () => {
    link.ready(false);
    expect(posted[0]).not.toHaveProperty("draft");
  });

  it("numbers every message, without a gap", () => {
    link.ready(true);
    link.state();
    vi.runAllTimers();
    link.post({ type: "announce", text: "x", assertive: false });
    link.ready(false);
    expect(posted.map((message) => message.rev)).toEqual([1, 2, 3, 4]);
  });

  it("folds a burst of deltas into one, which begins where the first began", () => {
    link.ready(true);
    link.delta(answer("ab", 2), "text", 0, "ab");
    link.delta(answer("abcd", 3), "text", 2, "cd");
    vi.runAllTimers();
    expect(posted.slice(1)).toEqual([
      { rev: 2, type: "delta", rowId: "a:t", version: 3, field: "text", at: 0, text: "abcd" },
    ]);
  });

  it("does not send text twice when the whole row goes out in the same frame", () => {
    link.ready(true);
    rows = [answer("ab", 3)];
    link.delta(answer("ab", 2), "text", 0, "ab");
    link.rows(0, 1);
    vi.runAllTimers();
    expect(types()).toEqual(["sync", "rows"]);
  });

  it("is silent while hidden, and catches up at once when the view shows", () => {
    link.ready(true);
    link.visible(false);
    link.state();
    link.delta(answer("ab", 2), "text", 0, "ab");
    vi.runAllTimers();
    expect(posted).toHaveLength(1);
    link.visible(true);
    expect(types()).toEqual(["sync", "sync"]);
    vi.runAllTimers();
    expect(posted).toHaveLength(2);
  });

  it("sends the newest rows of a long chat, not all of them", () => {
    rows = Array.from({ length: 5_000 }, (_, index) => notice(index));
    link.ready(true);
    expect(posted[0]).toMatchObject({ type: "sync", total: 5_000, from: 5_000 - ROWS_PER_PAGE });
  });

  it("answers after what happened before the question", () => {
    link.ready(true);
    link.state();
    link.post({ type: "result", call: 1, ok: true, value: null });
    expect(types()).toEqual(["sync", "state", "result"]);
  });

  it("is silent once it is thrown away", () => {
    link.ready(true);
    link.state();
    link.dispose();
    vi.runAllTimers();
    expect(posted).toHaveLength(1);
  });
});

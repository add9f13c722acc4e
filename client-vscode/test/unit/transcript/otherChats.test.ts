// @vitest-environment jsdom
/** What the page keeps of one chat while another one is shown, whose rows may have the same ids: a fork, an import. */
import { describe, expect, it } from "vitest";
import { conversation, panelState, promptRow } from "../../browser/rows.js";
import { Chats } from "../../../webview/transcript/chats.js";
import type { PanelState, Row } from "../../../src/panel/contract.js";
import { article, divider, press, root, show, transcript } from "./mountedTranscript.js";

const HIDDEN = [{ from: 0, to: 3, compressionId: "1", turns: 2 }];
const compressed: readonly Row[] = [...conversation(2, 20), divider(), promptRow(9, "new")];

function open(sessionId: string | undefined, rows: readonly Row[], change: Partial<PanelState> = {}): void {
  const { session: _session, ...rest } = panelState(change);
  transcript.setState({ ...rest, ...(sessionId === undefined ? {} : { session: { sessionId, title: "" } }) });
  show(...rows);
}

describe("a chat whose rows have the ids of another one's", () => {
  it("shows its own, though their versions are alike too", () => {
    open("original", [promptRow(0, "asked here")]);
    open("fork", [promptRow(0, "asked there")]);
    expect(article("You").querySelector(".prompt-text")?.textContent).toBe("asked there");
    open("original", [promptRow(0, "asked here")]);
    expect(article("You").querySelector(".prompt-text")?.textContent).toBe("asked here");
  });

  it("has nothing unfolded that is unfolded there, and that is so still when it is shown again", () => {
    open("original", compressed, { hidden: HIDDEN });
    press("2 turns folded");
    expect(root.textContent).toContain("Question 1");
    open("fork", compressed, { hidden: HIDDEN });
    expect(root.textContent).not.toContain("Question 1");
    open("original", compressed, { hidden: HIDDEN });
    expect(root.textContent).toContain("Question 1");
  });
});

describe("a chat that gets its session", () => {
  it("keeps the nodes of its rows", () => {
    open(undefined, conversation(2, 20));
    const kept = [...root.querySelectorAll("article")];
    open("s1", conversation(2, 20));
    expect([...root.querySelectorAll("article")]).toEqual(kept);
    expect(root.querySelector("article")).toBe(kept[0]);
  });

  it("is another one than the chat that is opened in its place before its rows came again", () => {
    const chats = new Chats();
    const numberOf = (session: string | undefined): number => {
      chats.note(session);
      chats.turn();
      return chats.shown;
    };
    const empty = numberOf(undefined);
    chats.note("s1");
    const second = numberOf("s2");
    expect(second).not.toBe(empty);
    expect(numberOf("s1")).toBe(empty);
    expect([empty, second]).not.toContain(numberOf(undefined));
  });
});

describe("the row of a compression", () => {
  it("says what is folded though the state came while the rows of its chat were still to come", () => {
    open("s", compressed);
    open("s", []);
    transcript.setState(panelState({ hidden: HIDDEN }));
    show(...compressed);
    expect(article("Chat compressed").textContent).toContain("2 turns folded");
  });
});

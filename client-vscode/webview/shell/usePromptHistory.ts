import { useEffect, useRef } from "preact/hooks";
import type { Enclosed } from "../../src/panel/written.js";
import { PromptHistory } from "./promptHistory.js";
import { useShell } from "./shell.js";

/** Puts a prompt into the composer with what went along with it; nothing did with what is not known. */
type Show = (text: string, enclosed: Enclosed) => void;

export interface RecalledPrompts {
  isRecalled(text: string): boolean;
  /** Calls `show` with the next older prompt, if there is one: later, if the prompts have to be asked for first. */
  older(current: string, show: Show): void;
  newer(current: string, show: Show): void;
  /** After sending: the prompts are asked for anew with the next ↑. */
  rest(): void;
}

/**
 * The prompts of a chat under ↑ and ↓, asked of the host when they are wanted first. They belong to the draft in whose place they stand: that
 * one is still in the composer when another chat's state is here already.
 */
export function usePromptHistory(): RecalledPrompts {
  const shell = useShell();
  const state = useRef(recalledIn(shell.draftNumber));
  const ofDraft = () => {
    if (state.current.draft !== shell.draftNumber) state.current = recalledIn(shell.draftNumber);
    return state.current;
  };

  useEffect(() => {
    shell.written = (prompt) => ofDraft().history.written(prompt);
  }, [shell]);

  const show = (text: string | undefined, into: Show) => {
    if (text !== undefined) into(text, ofDraft().enclosed.get(text) ?? {});
  };
  return {
    isRecalled: (text) => ofDraft().history.isRecalled(text),
    older: (current, into) => {
      const mine = ofDraft();
      if (mine.loaded) {
        show(mine.history.older(current), into);
        return;
      }
      if (mine.loading) return;
      mine.loading = true;
      shell.line.call({ do: "prompts" }).then(
        ({ prompts }) => {
          mine.loading = false;
          // Meanwhile another chat was opened, or something was typed: then the key is out of date.
          if (ofDraft() !== mine) return;
          mine.history.load(prompts.map(({ text }) => text));
          mine.enclosed = new Map(prompts.map(({ text, ...enclosed }) => [text, enclosed]));
          mine.loaded = true;
          if (shell.prompt === current) show(mine.history.older(current), into);
        },
        (error: unknown) => {
          mine.loading = false;
          shell.show(error);
        },
      );
    },
    newer: (current, into) => show(ofDraft().history.newer(current), into),
    rest: () => {
      const mine = ofDraft();
      mine.history.rest();
      mine.loaded = false;
    },
  };
}

const recalledIn = (draft: number) => ({
  draft,
  history: new PromptHistory(),
  enclosed: new Map<string, Enclosed>(),
  loaded: false,
  loading: false,
});

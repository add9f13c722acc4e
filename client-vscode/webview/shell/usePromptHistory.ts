import { useEffect, useRef } from "preact/hooks";
import { PromptHistory } from "./promptHistory.js";
import { useShell } from "./shell.js";

export interface RecalledPrompts {
  isRecalled(text: string): boolean;
  /** Calls `show` with the next older prompt, if there is one: later, if the prompts have to be asked for first. */
  older(current: string, show: (text: string) => void): void;
  newer(current: string, show: (text: string) => void): void;
  /** After sending: the prompts are asked for anew with the next ↑. */
  rest(): void;
}

/** The prompts of a chat under ↑ and ↓, asked of the host when they are wanted first. */
export function usePromptHistory(sessionId: string | undefined): RecalledPrompts {
  const shell = useShell();
  const state = useRef({ history: new PromptHistory(), loaded: false, loading: false });

  useEffect(() => {
    shell.written = (prompt) => state.current.history.written(prompt);
  }, [shell]);
  useEffect(() => {
    state.current = { history: new PromptHistory(), loaded: false, loading: false };
  }, [sessionId]);

  const show = (text: string | undefined, into: (text: string) => void) => {
    if (text !== undefined) into(text);
  };
  return {
    isRecalled: (text) => state.current.history.isRecalled(text),
    older: (current, into) => {
      const mine = state.current;
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
          if (state.current !== mine) return;
          mine.history.load(prompts);
          mine.loaded = true;
          if (shell.prompt === current) show(mine.history.older(current), into);
        },
        (error: unknown) => {
          mine.loading = false;
          shell.show(error);
        },
      );
    },
    newer: (current, into) => show(state.current.history.newer(current), into),
    rest: () => {
      state.current.history.rest();
      state.current.loaded = false;
    },
  };
}

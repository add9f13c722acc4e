import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAsked, type Asked } from "./hooks.js";
import { Icon } from "./icon.js";
import { useShell } from "./shell.js";

/** The heading of a dialog, which has the focus when it opens. */
export function DialogTitle({ children }: { readonly children: ComponentChildren }) {
  return (
    <h2 class="popup-title" tabIndex={-1} data-first>
      {children}
    </h2>
  );
}

/** What is wrong with one thing of a list. */
export function Problem({ children }: { readonly children: ComponentChildren }) {
  return (
    <span class="memory-problem">
      <Icon name="warning" />
      {children}
    </span>
  );
}

export interface Listed<T> extends Asked<T> {
  readonly again: () => void;
  /** Do what changes the list, show why if it fails, and ask again either way: the daemon says what became of it. Whether it was done. */
  readonly act: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** What a dialog lists: asked for at once, whenever `key` changes while it is open, and after everything that is done in it. */
export function useListed<T>(key: string, ask: () => Promise<T>): Listed<T> {
  const shell = useShell();
  const [round, setRound] = useState(0);
  const asked = useAsked(`${round} ${key}`, 0, ask);
  const again = () => setRound((before) => before + 1);
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (fault) {
      shell.show(fault);
      return false;
    } finally {
      again();
    }
  };
  return { ...asked, again, act };
}

/** Enough of a text to tell it from others by ear. */
export function shorten(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}

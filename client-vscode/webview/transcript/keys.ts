/** Which key does what in the transcript. */
import type { RowCommand } from "./rows/rowView.js";

/** What a key asks for. */
export type KeyCommand =
  | { readonly do: "move"; readonly to: "next" | "previous" | "nextPrompt" | "previousPrompt" | "first" | "last" }
  | { readonly do: "enter" | "leave" | "copyCode" }
  | { readonly do: "row"; readonly command: RowCommand }
  | { readonly do: "toolbar"; readonly step: 1 | -1 };

/** Where the focus is: on a message itself, on something in it, on its code, or on a button of a block of code. */
export type KeyPlace = "message" | "inside" | "code" | "toolbar";

export interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const LETTERS: Readonly<Record<string, KeyCommand>> = {
  j: { do: "move", to: "next" },
  k: { do: "move", to: "previous" },
  "[": { do: "move", to: "previousPrompt" },
  "]": { do: "move", to: "nextPrompt" },
  c: { do: "row", command: "copy" },
  r: { do: "row", command: "retry" },
  f: { do: "row", command: "fork" },
  p: { do: "row", command: "pin" },
  u: { do: "row", command: "undo" },
};

const MOVES: Readonly<Record<string, KeyCommand>> = {
  PageDown: { do: "move", to: "next" },
  PageUp: { do: "move", to: "previous" },
  Home: { do: "move", to: "first" },
  End: { do: "move", to: "last" },
};

/**
 * The command of a key, if it has one there. Single characters act only while a message itself has the focus, and not at all if
 * `messageKeys` is off.
 */
export function keyCommand(key: Key, place: KeyPlace, messageKeys: boolean): KeyCommand | undefined {
  const control = key.ctrlKey || key.metaKey;
  if (key.altKey) return undefined;
  if (control) {
    if (place === "code" && !key.shiftKey && key.key.toLowerCase() === "c") return { do: "copyCode" };
    return key.key === "Home" || key.key === "End" ? MOVES[key.key] : undefined;
  }
  if (place !== "message") {
    if (key.key === "Escape") return { do: "leave" };
    if (place === "toolbar" && (key.key === "ArrowRight" || key.key === "ArrowLeft"))
      return { do: "toolbar", step: key.key === "ArrowRight" ? 1 : -1 };
    // In code, the keys that scroll scroll it.
    return place === "inside" && key.key.startsWith("Page") ? MOVES[key.key] : undefined;
  }
  if (key.key === "Enter" && !key.shiftKey) return { do: "enter" };
  if (MOVES[key.key] !== undefined) return MOVES[key.key];
  return messageKeys && key.key.length === 1 ? LETTERS[key.key.toLowerCase()] : undefined;
}

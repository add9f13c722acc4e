/** A compression beside the chat in words, alike in the panel, the status bar and the status command. */
import type { MeterView } from "./state.js";

type Translate = (text: string, ...args: (string | number)[]) => string;

/** What is made or ready beside the chat, as a sentence; empty for nothing. */
export function backgroundText(
  { background, saves }: Pick<MeterView, "background" | "saves">,
  t: Translate,
  number: (value: number) => string,
): string {
  if (background === undefined) return "";
  if (background === "preparing") return t("A compression is being prepared while you work.");
  return saves === undefined
    ? t("A compression is prepared: you will not wait for it.")
    : t("A compression is prepared: you will not wait for it. It frees about {0} tokens.", number(saves));
}

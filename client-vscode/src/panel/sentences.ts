/** Sentences that the panel and the window both say: one text, wherever it is said. */
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

/** What a workspace that is not trusted means for who chats in it. */
export function untrustedHint(t: Translate): string {
  return t(
    "Until you trust it, its settings are ignored, and nothing in it is changed or run. Only paths and what you select go along with your prompts; Gemini may read files when it needs them, and its answer says what was read.",
  );
}

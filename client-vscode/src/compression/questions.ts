/** What a person is asked before a compression, and about one. Each answer is `undefined` if the person turned away. */
import { window } from "vscode";
import type { Translate } from "../chat/pure/words.js";
import { STRATEGIES, type StrategyName } from "../panel/compressionWords.js";

/** How one compression is to be made. */
export interface Guidance {
  readonly strategy?: StrategyName;
  readonly instructions?: string;
}

export async function askGuidance(t: Translate): Promise<Guidance | undefined> {
  const title = t("Compress Chat");
  const named = Object.entries(STRATEGIES).map(([strategy, { name: label, description }]) => ({
    label: t(label),
    detail: t(description),
    strategy: strategy as StrategyName, // Object.entries forgets the keys' type
  }));
  const bySettings = { label: t("As the settings say"), detail: "", strategy: undefined };
  const chosen = await window.showQuickPick([bySettings, ...named], {
    title,
    placeHolder: t("What is folded, and what stays word for word?"),
    matchOnDetail: true,
  });
  if (chosen === undefined) return undefined;
  const instructions = await window.showInputBox({
    title,
    prompt: t("What should the snapshot keep above all? Leave it empty for none."),
    placeHolder: t("For example: keep every decision about the database"),
  });
  if (instructions === undefined) return undefined;
  return { instructions, ...(chosen.strategy === undefined ? {} : { strategy: chosen.strategy }) };
}

export async function askRating(t: Translate): Promise<number | undefined> {
  const stars = [5, 4, 3, 2, 1].map((rating) => ({
    label: "★".repeat(rating),
    description: rating === 5 ? t("kept everything") : rating === 1 ? t("lost too much") : "",
    rating,
  }));
  return (await window.showQuickPick(stars, { title: t("How good is this compression?") }))?.rating;
}

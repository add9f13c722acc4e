import { element } from "../element.js";
import type { Language } from "../texts.js";
import { uniqueId } from "./rowView.js";

const BEST = 5;

/** A small disclosure with a choice from 1 to 5. */
export function rating(given: number | undefined, onRate: (stars: number) => void, { t }: Language): HTMLElement {
  const name = uniqueId("rating");
  const choices = Array.from({ length: BEST }, (_, index) => {
    const stars = index + 1;
    const input = element("input", { type: "radio", name, value: stars, checked: stars === given, tabindex: -1 });
    input.addEventListener("change", () => onRate(stars));
    return element("label", {}, input, String(stars));
  });
  return element(
    "details",
    { class: "rating" },
    element("summary", { tabindex: -1 }, given === undefined ? t("Rate…") : t("Rated {0} of 5", given)),
    element(
      "fieldset",
      { role: "radiogroup" },
      element("legend", {}, t("How good is the summary? 5 is best")),
      ...choices,
    ),
  );
}

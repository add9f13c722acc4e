import { element, setText } from "./element.js";
import type { Language } from "./texts.js";
import { countText } from "./texts.js";

/** "↓ Latest (3 new)": shown while the end is out of sight. */
export class LatestButton {
  readonly element: HTMLButtonElement;

  constructor(onClick: () => void) {
    this.element = element("button", { type: "button", class: "latest", hidden: true });
    this.element.addEventListener("click", onClick);
  }

  /** `unseen` rows came below since the end was in sight. */
  show(visible: boolean, unseen: number, { t, locale }: Language): void {
    this.element.hidden = !visible;
    if (visible) setText(this.element, unseen > 0 ? t("↓ Latest ({0} new)", countText(unseen, locale)) : t("↓ Latest"));
  }
}

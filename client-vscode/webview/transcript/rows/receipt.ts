import type { Receipt } from "../../../src/panel/contract.js";
import { button, element } from "../element.js";
import { countText, plural, type Language } from "../texts.js";
import type { RowContext } from "./rowView.js";

/** "Sent: 2 files, 14 characters selected, 1 left out". */
function receiptSummary(receipt: Receipt, language: Language): string {
  const { t, locale } = language;
  const files = new Set([...receipt.files, ...receipt.mentioned]).size;
  const parts = [
    files > 0 && plural(files, "{0} file", "{0} files", language),
    receipt.selectionChars > 0 &&
      plural(receipt.selectionChars, "{0} character selected", "{0} characters selected", language),
    receipt.withheld.length > 0 && t("{0} left out", countText(receipt.withheld.length, locale)),
  ].filter((part) => part !== false);
  if (parts.length === 0) return t("Sent: nothing of the editor");
  return receipt.kind === "delta" ? t("Sent, as changes: {0}", parts.join(", ")) : t("Sent: {0}", parts.join(", "));
}

/** What went along with a prompt, and what did not and why. */
export function receiptDetails(receipt: Receipt, { host, language }: RowContext): HTMLElement {
  const { t } = language;
  const mentioned = receipt.mentioned.filter((file) => !receipt.files.includes(file));
  const sent = [...receipt.files, ...mentioned].map((file) =>
    element(
      "li",
      {},
      button(file, () => host.send({ type: "open", href: file }), { class: "file", dir: "auto" }),
      mentioned.includes(file) && ` ${t("(named in the prompt)")}`,
    ),
  );
  const withheld = receipt.withheld.map(({ name, reason }) =>
    element("li", { class: "withheld" }, element("bdi", {}, name), " ", t("left out: {0}", reason)),
  );
  return element(
    "details",
    { class: "receipt" },
    element("summary", { tabindex: -1 }, receiptSummary(receipt, language)),
    sent.length + withheld.length > 0 && element("ul", {}, ...sent, ...withheld),
  );
}

import type { Receipt } from "../../../src/panel/contract.js";
import { cutText, extentText } from "../../../src/panel/extents.js";
import { button, element } from "../element.js";
import { countText, plural, type Language } from "../texts.js";
import type { RowContext } from "./rowView.js";

/** What an MCP server said, by its name and a colon: `tickets:issue://7`, `/tickets:summary`. A drive's letter is none. */
const OF_SERVER = /^\/?[^\s/\\:]{2,}:/;

/** "Sent: 2 files, 3 paths, 14 characters selected, 1 left out". A file is one of which text went along. */
function receiptSummary(receipt: Receipt, language: Language): string {
  const { t, locale } = language;
  const closed = new Set(receipt.closed);
  const mentioned = new Set(receipt.mentioned);
  const ofServers = [...mentioned].filter((name) => OF_SERVER.test(name)).length;
  const texts = receipt.texts?.filter(({ extent }) => extent !== "path") ?? [];
  const read = new Set([...texts.map(({ path }) => path).filter((file) => !closed.has(file)), ...mentioned]);
  const paths = receipt.files.filter((file) => !read.has(file) && !closed.has(file)).length;
  const leftOut = receipt.withheld.length + (receipt.moreOpenFiles ?? 0);
  const parts = [
    read.size > ofServers && plural(read.size - ofServers, "{0} file", "{0} files", language),
    ofServers > 0 && plural(ofServers, "{0} text of an MCP server", "{0} texts of MCP servers", language),
    paths > 0 && plural(paths, "{0} path", "{0} paths", language),
    receipt.selectionChars > 0 &&
      plural(receipt.selectionChars, "{0} character selected", "{0} characters selected", language),
    receipt.selectionCut && cutText(receipt.selectionCut, t),
    closed.size > 0 && t("{0} no longer open", countText(closed.size, locale)),
  ].filter((part) => typeof part === "string");
  const isChanges = receipt.kind === "delta" && parts.length > 0;
  if (parts.length === 0) parts.push(t("nothing of the editor"));
  if (leftOut > 0) parts.push(t("{0} left out", countText(leftOut, locale)));
  return isChanges ? t("Sent, as changes: {0}", parts.join(", ")) : t("Sent: {0}", parts.join(", "));
}

/** How much of a file was sent: `whole`, `lines 1–358 of 500`, `path only: not a text file`. */
function sentOf(file: string, receipt: Receipt, { t }: Language): string {
  const text = receipt.texts?.find(({ path }) => path === file);
  if (receipt.closed?.includes(file) === true) return t("no longer open");
  if (text === undefined)
    return receipt.files.includes(file) && !receipt.mentioned.includes(file) ? t("path only") : "";
  const reason = text.reason === undefined || text.reason === "" ? "" : `: ${text.reason}`;
  return [
    extentText(text, t) + reason,
    text.unsaved === true && t("unsaved text"),
    text.asChanges === true && t("as changes"),
  ]
    .filter(Boolean)
    .join(", ");
}

/** What went along with a prompt, and what did not and why. */
export function receiptDetails(receipt: Receipt, { host, language }: RowContext): HTMLElement {
  const { t, locale } = language;
  const mentioned = receipt.mentioned.filter((file) => !receipt.files.includes(file));
  const sent = [...receipt.files, ...mentioned].map((file) => {
    const extent = sentOf(file, receipt, language);
    return element(
      "li",
      {},
      mentioned.includes(file) && OF_SERVER.test(file)
        ? element("bdi", {}, file)
        : button(file, () => host.send({ type: "open", href: file }), { class: "file", dir: "auto" }),
      extent !== "" && ` ${extent}`,
      mentioned.includes(file) && ` ${t("(named in the prompt)")}`,
    );
  });
  const withheld = receipt.withheld.map(({ name, reason }) =>
    element("li", { class: "withheld" }, element("bdi", {}, name), " ", t("left out: {0}", reason)),
  );
  const more = receipt.moreOpenFiles ?? 0;
  if (more > 0)
    withheld.push(
      element("li", { class: "withheld" }, t("{0} more open files left out: too many", countText(more, locale))),
    );
  return element(
    "details",
    { class: "receipt" },
    element("summary", { tabindex: -1 }, receiptSummary(receipt, language)),
    sent.length + withheld.length > 0 && element("ul", {}, ...sent, ...withheld),
  );
}

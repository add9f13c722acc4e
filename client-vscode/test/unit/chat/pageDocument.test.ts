// @vitest-environment jsdom
/** The document that the panel's page begins as. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BEGIN, pageDocument, type PageParts } from "../../../src/chat/pure/pageDocument.js";
import { Mounted } from "../shell/mounted.js";

const PARTS: PageParts = {
  nonce: "bm9uY2U",
  source: "https://files.example",
  script: "https://files.example/panel.js",
  style: "https://files.example/styles.css",
  firstStyles: ".app{block-size:100%}",
  modules: ["https://files.example/chunk-A.js"],
  language: "en",
  view: "geminiCompanion.chat",
  starting: "Starting Gemini Companion…",
  failed: "It could not be loaded.",
  reload: "Reload Window",
  askedAt: 17,
};

function parsed(parts: PageParts): Document {
  return new DOMParser().parseFromString(pageDocument(parts), "text/html");
}

/** What is seen of an element: names, classes and texts, without what only screen readers get. */
function picture(root: Element | null): string {
  const copy = root?.cloneNode(true) as Element; // a copy of an element is one
  for (const unseen of copy.querySelectorAll(".unseen")) unseen.remove();
  for (const one of copy.querySelectorAll("*")) {
    one.removeAttribute("role");
    one.setAttribute("class", one.className.trim());
  }
  return copy.innerHTML;
}

it("shows what the script shows first, so that nothing moves when it runs", async () => {
  const mounted = new Mounted();
  await mounted.render();
  expect(picture(parsed(PARTS).querySelector("#root"))).toBe(picture(document.body.lastElementChild));
});

it("lets nothing run or load but the extension's own files, and makes no markup but through the sanitiser", () => {
  const document = parsed(PARTS);
  expect(document.querySelector("meta[http-equiv]")?.getAttribute("content")).toBe(
    "default-src 'none'; script-src 'nonce-bm9uY2U' https://files.example; " +
      `style-src https://files.example 'sha256-${createHash("sha256").update(PARTS.firstStyles).digest("base64")}'; ` +
      "font-src https://files.example; img-src https://files.example data:; require-trusted-types-for 'script'; trusted-types dompurify",
  );
  expect(document.querySelector("[style], script[src]")).toBeNull();
  expect([...document.scripts].map(({ nonce, text }) => [nonce, text])).toEqual([[PARTS.nonce, BEGIN]]);
  expect([...document.querySelectorAll("style")].map(({ textContent }) => textContent)).toEqual([PARTS.firstStyles]);
});

it("is seen before anything is loaded: what is asked for at once is for later", () => {
  const document = parsed(PARTS);
  expect(document.querySelector("link[rel=stylesheet], script[src], img, iframe")).toBeNull();
  const asked = [...document.querySelectorAll("link")].map(({ rel, href }) => [rel, href]);
  expect(asked).toEqual([
    ["preload", PARTS.style],
    ["modulepreload", PARTS.script],
    ["modulepreload", PARTS.modules[0]],
  ]);
  const [root, begin] = document.body.children;
  expect(root?.id).toBe("root");
  expect(begin).toMatchObject({ dataset: { style: PARTS.style, script: PARTS.script } });
});

it("has styles for everything that it shows", async () => {
  const styles = ["base.css", "blank.css"].map((name) => join(import.meta.dirname, "../../../webview/styles", name));
  const rules = (await Promise.all(styles.map((path) => readFile(path, "utf8")))).join("");
  const shown = [...parsed(PARTS).querySelectorAll("#root [class]")].flatMap((one) => [...one.classList]);
  expect(shown.filter((name) => !new RegExp(`\\.${name}\\b`).test(rules))).toEqual([]);
});

it("takes a translation and addresses as they are, whatever stands in them", () => {
  const hostile = '"><script src="https://evil.example"></script>&amp;';
  const addresses = { script: hostile, style: hostile, modules: [hostile] };
  const document = parsed({
    ...PARTS,
    ...addresses,
    starting: hostile,
    failed: hostile,
    reload: hostile,
    language: hostile,
    view: hostile,
  });
  expect(document.querySelectorAll("script")).toHaveLength(1);
  expect(document.querySelector(".blank-title")?.textContent).toBe(hostile);
  expect(document.body.dataset["view"]).toBe(hostile);
});

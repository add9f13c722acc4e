// @vitest-environment jsdom
/** The document that the panel's page begins as. */
import { expect, it } from "vitest";
import { pageDocument, type PageParts } from "../../../src/chat/pure/pageDocument.js";
import { Mounted } from "../shell/mounted.js";

const PARTS: PageParts = {
  nonce: "bm9uY2U",
  source: "https://files.example",
  script: "https://files.example/panel.js",
  style: "https://files.example/styles.css",
  modules: ["https://files.example/chunk-A.js"],
  language: "en",
  view: "geminiCompanion.chat",
  starting: "Starting Gemini Companion…",
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
    "default-src 'none'; script-src 'nonce-bm9uY2U' https://files.example; style-src https://files.example; " +
      "font-src https://files.example; img-src https://files.example data:; require-trusted-types-for 'script'; trusted-types dompurify",
  );
  expect(document.querySelector("style, [style], script:not([src])")).toBeNull();
});

it("asks for the script's modules before the script does", () => {
  const [module] = parsed(PARTS).querySelectorAll("link[rel=modulepreload]");
  expect(module?.getAttribute("href")).toBe("https://files.example/chunk-A.js");
});

it("takes a translation and addresses as they are, whatever stands in them", () => {
  const hostile = '"><script src="https://evil.example"></script>&amp;';
  const document = parsed({ ...PARTS, starting: hostile, modules: [hostile], language: hostile, view: hostile });
  expect(document.querySelectorAll("script")).toHaveLength(1);
  expect(document.querySelector(".blank-title")?.textContent).toBe(hostile);
  expect(document.body.dataset["view"]).toBe(hostile);
});

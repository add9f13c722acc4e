// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { codeNodes } from "../../../webview/transcript/markdown/bidi.js";
import { codeOf, unfold } from "../../../webview/transcript/markdown/codeFigure.js";
import { MarkdownView } from "../../../webview/transcript/markdown/markdownView.js";
import { sanitiseHighlighted, sanitiseMarkdown } from "../../../webview/transcript/markdown/sanitise.js";
import { HOSTILE_ANSWERS } from "../../browser/hostileAnswers.js";
import { t } from "./support.js";

function clean(html: string): string {
  const holder = document.createElement("div");
  holder.append(sanitiseMarkdown(html));
  return holder.innerHTML;
}

function show(text: string): HTMLElement {
  const view = new MarkdownView(t);
  view.append(text);
  view.finish();
  return view.element;
}

describe("the sanitiser", () => {
  it.each([
    ["<img src=x onerror=alert(1)>", ""],
    ["<p onclick=alert(1) style='color:red' id=x name=y data-code=apply>t</p>", "<p>t</p>"],
    ["<svg><script>alert(1)</script></svg>", ""],
    ["<form><input><button>b</button></form>", "b"],
    ["<a href='javascript:alert(1)'>l</a>", "<a>l</a>"],
    ["<a href='command:x'>l</a>", "<a>l</a>"],
    ["<a href='data:text/html,x'>l</a>", "<a>l</a>"],
    ["<a href='//host/x'>l</a>", "<a>l</a>"],
    ["<a href='\\\\host\\x'>l</a>", "<a>l</a>"],
    ["<code class='language-js'>c</code>", '<code class="language-js">c</code>'],
    ["<code class='latest row'>c</code>", "<code>c</code>"],
  ])("makes of %s only what is allowed", (html, expected) => {
    expect(clean(html)).toBe(expected);
  });

  it.each([
    "https://example.org/a?b=c#d",
    "http://example.org",
    "mailto:a@example.org",
    "src/a.ts",
    "./a.ts",
    "../a b.ts",
    "/abs/a.ts",
    "#part",
    "tokenizer.py:80",
    "tokenizer.py:80-94",
    "src/a.py:12",
    "file:///a/b",
  ])("keeps the link to %s", (href) => {
    expect(sanitiseMarkdown(`<a href="${href}">l</a>`).querySelector("a")?.getAttribute("href")).toBe(href);
  });

  it("keeps nothing but classed spans of highlighted code", () => {
    const nodes = sanitiseHighlighted(
      '<span class="hljs-title function_">f</span><b onclick=x>b</b><span class="row">r</span>',
    );
    const holder = document.createElement("div");
    holder.append(nodes);
    expect(holder.innerHTML).toBe('<span class="hljs-title function_">f</span>b<span>r</span>');
  });
});

describe("an answer", () => {
  it.each(Object.entries(HOSTILE_ANSWERS).filter(([, text]) => text.length < 5_000))(
    "that is hostile (%s) leaves no element or attribute that acts",
    (_name, text) => {
      const shown = show(text);
      expect(
        shown.querySelector(
          "script, style, img, svg, math, iframe, object, embed, form, input, link, meta, base, template, video, audio, [href], [src], [style], [id], [name]",
        ),
      ).toBeNull();
      for (const node of shown.querySelectorAll("*"))
        for (const { name } of node.attributes) expect(name).not.toMatch(/^on|^form|^srcdoc/);
      expect(shown.textContent).not.toBe("");
    },
  );

  it("shows HTML as text, but a line break as one", () => {
    const shown = show("a <b>c</b><br>d");
    expect(shown.textContent).toBe("a <b>c</b>d");
    expect(shown.querySelectorAll("br")).toHaveLength(1);
  });

  it("has links that lead nowhere by themselves", () => {
    const link = show("[words](https://example.org/?a=1&amp;b=2)").querySelector("a");
    expect(link?.hasAttribute("href")).toBe(false);
    expect(link?.dataset["href"]).toBe("https://example.org/?a=1&b=2");
    expect(link?.getAttribute("role")).toBe("link");
    expect(link?.title).toBe("https://example.org/?a=1&b=2");
  });

  it("keeps the words of a link whose address is refused", () => {
    expect(show("[words](command:quit)").innerHTML).toBe('<p dir="auto">words</p>');
  });

  it("says that a picture was not loaded, and where it is", () => {
    const shown = show("![a cat](https://example.org/cat.png)");
    expect(shown.textContent).toBe("a cat (picture not loaded)");
    expect(shown.querySelector("a")?.dataset["href"]).toBe("https://example.org/cat.png");
  });

  it("marks characters that turn code around, and copies them as they are", () => {
    const figure = show("```js\nif (a\u202e) {\n```").querySelector("figure");
    expect(figure?.querySelector("bdi")?.dataset["name"]).toBe("U+202E");
    expect(figure && codeOf(figure)).toEqual({ text: "if (a\u202e) {", language: "js" });
    expect(show("`a\u2066b`").querySelector<HTMLElement>("code bdi")?.dataset["name"]).toBe("U+2066");
    expect(codeNodes("plain")).toHaveLength(1);
  });

  it("folds code beyond 2,000 lines and copies all of it", () => {
    const lines = Array.from({ length: 2_500 }, (_, line) => `line ${line}`).join("\n");
    const figure = show(`\`\`\`\n${lines}\n\`\`\``).querySelector("figure");
    if (figure === null) throw new Error("no figure");
    expect(figure.querySelector("code:not([hidden])")?.textContent).toBe(lines.slice(0, lines.indexOf("line 2000")));
    expect(figure.querySelector("[data-code=showAll]")?.textContent).toBe("Show all (500 more lines)");
    expect(codeOf(figure).text).toBe(lines);
    unfold(figure);
    expect(figure.querySelector("[hidden], [data-code=showAll]")).toBeNull();
    expect(codeOf(figure).text).toBe(lines);
  });

  it("names the language of its code, and knows how to write one that could be harmful", () => {
    expect(show("```Python title=x\na\n```").querySelector("figure")?.getAttribute("aria-label")).toBe("Code, python");
    expect(show('```"><script>\na\n```').querySelector("figure")?.getAttribute("aria-label")).toBe("Code");
  });

  it("takes over late definitions of links at the end", () => {
    const view = new MarkdownView(t);
    for (const piece of ["see [there]\n\nmore\n\n", "text\n\n[there]: https://example.org\n"]) {
      view.append(piece);
      view.render();
    }
    expect(view.element.querySelector("a")).toBeNull();
    const more = view.element.children[1];
    view.finish();
    expect(view.element.querySelector("a")?.dataset["href"]).toBe("https://example.org");
    expect(view.element.children[1]).toBe(more);
  });

  it("is shown as it was written where quotes are nested beyond all measure", () => {
    const shown = show(`${">".repeat(10_000)} deep`);
    expect(shown.textContent).toContain("deep");
    expect(shown.querySelectorAll("blockquote").length).toBeLessThan(50);
  });
});

describe("a streaming answer", () => {
  it("appends to open code without touching what stands there", () => {
    const view = new MarkdownView(t);
    view.append("```js\nlet a;\n");
    view.render();
    const text = view.element.querySelector("code")?.firstChild;
    view.append("let b;");
    view.render();
    expect(view.element.querySelector("code")?.firstChild).toBe(text);
    expect(view.element.querySelector("code")?.textContent).toBe("let a;\nlet b;");
  });

  it("seals what is complete: its nodes are the same from then on", () => {
    const view = new MarkdownView(t);
    view.append("# Title\n\nfirst\n\nsecond\n");
    view.render();
    const [title, first] = view.element.children;
    for (const piece of ["\nthird ", "goes on\n\n```\ncode\n", "```\n\nlast"]) {
      view.append(piece);
      view.render();
    }
    view.finish();
    expect([...view.element.children].slice(0, 2)).toEqual([title, first]);
    expect(view.element.children[0]).toBe(title);
    expect(view.element.children[1]).toBe(first);
  });

  it("knows where the source of a block is", () => {
    const view = new MarkdownView(t);
    view.append("one\n\n```\ncode\n```\n\nthree");
    view.finish();
    expect(view.blockAt(view.text.indexOf("code"))?.element.localName).toBe("figure");
    expect(view.blockAt(view.text.indexOf("three"))?.element.textContent).toBe("three");
  });
});

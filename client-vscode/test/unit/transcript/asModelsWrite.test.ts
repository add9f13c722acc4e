// @vitest-environment jsdom
/** Markdown as models write it in many languages, where CommonMark to the letter shows something else than they mean. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lex, noDefinitions } from "../../../webview/transcript/markdown/lexer.js";
import { MarkdownView } from "../../../webview/transcript/markdown/markdownView.js";
import { t } from "./support.js";

function shown(text: string, pieces: readonly string[] = [text]): HTMLElement {
  const view = new MarkdownView(t);
  for (const piece of pieces) {
    view.append(piece);
    view.render();
  }
  view.finish();
  return view.element;
}

const words = (element: Element, selector: string): string[] =>
  [...element.querySelectorAll(selector)].map(({ textContent }) => textContent);

describe("tildes", () => {
  it.each([
    "~10 ipsum dolor, 1~3 of them",
    "PATH is ~/a:~/b here",
    "from ~100ms→~20ms, 5~10 in all",
    "~4 or ~8",
    "温度は20~25度、湿度は~50%です",
    "about ~a~ letter",
  ])("stay where they stand alone: %s", (text) => {
    const made = shown(text);
    expect(words(made, "del")).toEqual([]);
    expect(made.textContent).toBe(text);
  });

  it("strike out in pairs", () => {
    expect(words(shown("this is ~~gone~~ now, 这是~~旧的~~文字"), "del")).toEqual(["gone", "旧的"]);
  });
});

describe("emphasis beside signs of Chinese, Japanese and Korean", () => {
  it.each([
    ["**注意：**这是重要的，请使用**“推荐”**的方式。", ["注意：", "“推荐”"]],
    ["これは**「文字列」**の例です。", ["「文字列」"]],
    ["**強調**です", ["強調"]],
    ["**このテキスト（説明）**は太字。", ["このテキスト（説明）"]],
    ["이것은 **강조(굵게)**를 뜻합니다.", ["강조(굵게)"]],
    ["請看**`config.py`**檔案", ["config.py"]],
    ["**第一步：**安装；**第二步：**运行。", ["第一步：", "第二步："]],
    ["这是**重点。**请看", ["重点。"]],
  ])("is bold: %s", (text, bold) => {
    const made = shown(text);
    expect(words(made, "strong")).toEqual(bold);
    expect(made.textContent).not.toContain("*");
  });

  it("is what it was elsewhere", () => {
    expect(shown("2 * 3 * 4 and snake_case_name, **a**b, *c*").innerHTML).toBe(
      '<p dir="auto">2 * 3 * 4 and snake_case_name, <strong>a</strong>b, <em>c</em></p>',
    );
    expect(words(shown("变量 snake_case_name 和 2 * 3 * 4"), "em")).toEqual([]);
  });
});

describe("addresses without a blank behind them", () => {
  it.each([
    ["请看 https://example.com/docs，然后继续。", ["https://example.com/docs"]],
    ["https://a.example/x、https://b.example/y。", ["https://a.example/x", "https://b.example/y"]],
    ["（https://example.com/a?b=c#d）を参照", ["https://example.com/a?b=c#d"]],
    ["「https://example.com」", ["https://example.com"]],
    ["انظر https://example.com/دليل، ثم تابع", ["https://example.com/دليل"]],
    ["देखें https://example.com/docs।", ["https://example.com/docs"]],
    ["“https://example.com/q”", ["https://example.com/q"]],
    [
      "https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ。",
      ["https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ"],
    ],
    ["see https://example.com/a_(b), and www.example.org.", ["https://example.com/a_(b)", "http://www.example.org"]],
  ])("end where the prose goes on: %s", (text, addresses) => {
    const made = shown(text);
    expect([...made.querySelectorAll("a")].map((link) => link.dataset["href"])).toEqual(addresses);
    expect(made.textContent).toBe(text);
  });
});

describe("a file of Markdown in a fence", () => {
  const readme =
    "# Tool\n\n```bash\nnpm install\n```\n\nThen:\n\n1. Run it:\n   ```sh\n   tool --help\n   ```\n\nDone.";
  const text = `Here is the README:\n\n\`\`\`markdown\n${readme}\n\`\`\`\n\nSave it **now**.`;
  const code = (made: Element): string[] => words(made, "figure.code code");

  it("is one block, with the fences in it, and what follows is prose", () => {
    const made = shown(text);
    expect(code(made)).toEqual([readme]);
    expect(words(made, "p")).toEqual(["Here is the README:", "Save it now."]);
  });

  it("is one however it arrives, and nothing of it ever stands as prose", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 }), (sizes) => {
        const view = new MarkdownView(t);
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          view.append(text.slice(at, at + size));
          view.render();
          at += size;
          expect(view.element.querySelectorAll("figure.code").length).toBeLessThan(2);
          expect(view.element.querySelectorAll("h1, h2, h3, ol").length).toBe(0);
        }
        view.finish();
        expect(code(view.element)).toEqual([readme]);
      }),
      { numRuns: 50 },
    );
  });

  it("is one in a list", () => {
    const made = shown("- a file:\n\n  ```md\n  # T\n  ```js\n  let x;\n  ```\n  end\n  ```\n- next");
    expect(code(made)).toEqual(["# T\n```js\nlet x;\n```\nend"]);
    expect(words(made, "li")).toHaveLength(2);
  });

  it("holds one of Markdown with a fence of its own", () => {
    const inner = "```md\n```js\n1\n```\n```\nafter";
    expect(code(shown(`\`\`\`markdown\n${inner}\n\`\`\``))).toEqual([inner]);
  });

  it("ends by the rules where the fence around it has more backticks, or no end of its own comes", () => {
    expect(code(shown("````markdown\n```js\n1\n```\n````\nprose"))).toEqual(["```js\n1\n```"]);
    const open = shown("```markdown\n```python\n```\n\nThat opens a block.");
    expect(code(open)).toEqual(["```python"]);
    expect(words(open, "p")).toEqual(["That opens a block."]);
  });

  it("is the rule for Markdown alone", () => {
    expect(code(shown("```text\n```js\n```\nprose"))).toEqual(["```js"]);
  });

  it("is looked for a few times only, so that many without an end cost no more than few", () => {
    const many = "```md\n```a\n```\n".repeat(5_000);
    expect(lex(many, noDefinitions()).length).toBe(5_000);
  });
});

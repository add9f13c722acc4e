/**
 * What is asked before a tool acts: verb and object, the whole line with what needs the yes marked, where, what holds it back, what cannot
 * be taken back. Nothing of it is cut, and nothing in it is unseen. It never takes the focus by itself; who goes to it by keys comes to
 * "No", and a single letter answers after a pause.
 */
import type { QuestionView as Question, RuleView, ToolRow } from "../../../src/panel/contract.js";
import { exactText } from "../../../src/panel/exact.js";
import { MODES } from "../../../src/panel/tools.js";
import { element, exactNodes, setText } from "../element.js";
import { countText } from "../texts.js";
import { fillWithDiff, linesOfDiff, markedCommand } from "./evidence.js";
import { Guard, letterOf } from "./guard.js";
import type { RowContext } from "./rowView.js";

type Outcome = "once" | "session" | "always" | "reject";
type Fold = "rule" | "reason" | "edit";

/** Of a text with more lines it is said how many: a box that scrolls shows its beginning alone. */
const FEW_LINES = 12;

export class QuestionView {
  readonly element = element("div", { class: "question", role: "group", tabindex: -1, hidden: true });
  readonly #context: RowContext;
  readonly #guard: Guard;
  #shown = "";
  #tool: ToolRow | undefined;
  #keys = new Map<string, HTMLButtonElement>();
  #folds = new Map<Fold, HTMLElement>();
  #no: HTMLButtonElement | undefined;
  readonly #hint = element("p", { class: "question-facts", role: "status" });

  constructor(context: RowContext) {
    this.#context = context;
    this.#guard = new Guard(context.quiet, this.element, () => this.#no);
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  update(tool: ToolRow): void {
    const { question } = tool;
    const { language, readOnly } = this.#context;
    this.#tool = tool;
    const key = question === undefined ? "" : JSON.stringify([question, readOnly]);
    if (key === this.#shown) return;
    this.#shown = key;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = question === undefined;
    this.#context.quiet.stirred();
    this.#keys.clear();
    this.#folds.clear();
    this.#no = undefined;
    setText(this.#hint, "");
    // What was pressed or read is gone, or is another question now, to which nobody has gone yet: the message has the focus.
    if (hadFocus) this.element.closest<HTMLElement>("article")?.focus({ preventScroll: true });
    if (question === undefined) {
      delete this.element.dataset["question"];
      this.element.replaceChildren();
      return;
    }
    this.element.dataset["question"] = tool.id;
    this.element.setAttribute("aria-label", language.t("Gemini asks: {0}", exactText(tool.title)));
    this.element.replaceChildren(...this.#content(question, tool.title));
  }

  #goHome(): void {
    (this.#no ?? this.element).focus({ preventScroll: true });
  }

  #content(question: Question, title: string): (Node | string)[] {
    const { t } = this.#context.language;
    const { command, parts, path, diff, args, warnings, irreversible, reason } = question;
    const content: (Node | string)[] = [
      element("p", { class: "question-title" }, t("Gemini asks: {0}", exactText(title))),
    ];
    if (command !== undefined) {
      const line = this.#box("question-command", t("Command"), command.split("\n").length);
      line[0].append(...markedCommand(command, parts));
      content.push(...line);
    }
    const asking = parts.length > 1 ? parts.filter(({ decision }) => decision !== "allow") : [];
    if (asking.length > 0)
      content.push(
        element(
          "ul",
          { class: "question-parts", "aria-label": t("Needs your yes") },
          ...asking.map((part) =>
            element("li", {}, element("code", {}, ...exactNodes(part.text)), " ", ...reasonNodes(part.reason ?? "")),
          ),
        ),
      );
    if (path !== undefined) content.push(element("p", { class: "question-path", dir: "ltr" }, ...exactNodes(path)));
    if (diff !== undefined) {
      const lines = linesOfDiff(diff);
      const box = this.#box("question-diff", t("Changes"), lines.length);
      fillWithDiff(box[0], lines);
      content.push(...box);
    }
    if (args !== undefined) {
      const box = this.#box("question-command", t("Arguments"), args.split("\n").length);
      box[0].append(...exactNodes(args, "lines"));
      content.push(...box);
    }
    // What a part needs a yes for is said there.
    if (reason !== "" && !asking.some((part) => part.reason === reason))
      content.push(element("p", { class: "question-reason" }, ...reasonNodes(reason)));
    content.push(this.#facts(question));
    for (const warning of warnings) content.push(warningLine(warning));
    if (irreversible !== "") content.push(warningLine(irreversible));
    if (question.isOurs && !this.#context.readOnly) content.push(...this.#answers(question));
    else content.push(element("p", { class: "question-reason" }, t("The answer is given in another window.")));
    return content;
  }

  /** A box that scrolls, by keys too, and below it how long it is, if that is long. */
  #box(name: string, label: string, lines: number): [HTMLElement, ...HTMLElement[]] {
    const { t, locale } = this.#context.language;
    const box = element("pre", { class: name, tabindex: 0, dir: "ltr", role: "group", "aria-label": label });
    return lines <= FEW_LINES
      ? [box]
      : [
          box,
          element("p", { class: "question-facts" }, t("{0} lines; scroll to read them all", countText(lines, locale))),
        ];
  }

  /** Where, in what, in which mode. */
  #facts({ cwd, sandbox, mode }: Question): HTMLElement {
    const { t } = this.#context.language;
    const facts = [
      cwd !== undefined && t("in {0}", exactText(cwd)),
      sandbox !== "" && exactText(sandbox.replace(/\.$/, "")),
      t("mode: {0}", t(MODES[mode].label)),
    ];
    return element("p", { class: "question-facts", dir: "auto" }, facts.filter((fact) => fact !== false).join(" · "));
  }

  #answers({ rule, ruleText, hasText, editable }: Question): HTMLElement[] {
    const { t } = this.#context.language;
    const ofRule = ruleText === "" ? {} : { title: exactText(ruleText) };
    this.#no = this.#button(t("No"), "n", () => this.#answer("reject"), { class: "primary", "data-home": "" });
    const buttons = [
      this.#button(t("Yes"), "y", () => this.#answer("once"), { class: "yes" }),
      rule && this.#button(t("Yes for This Chat"), undefined, () => this.#answer("session"), ofRule),
      rule && this.#button(t("Always…"), "a", () => this.#toggle("rule"), ofRule),
      this.#no,
      this.#button(t("No, Because…"), undefined, () => this.#toggle("reason")),
      editable && this.#button(t("Edit…"), "e", () => this.#toggle("edit")),
      hasText && this.#button(t("Open Diff"), "d", () => this.#openDiff()),
    ].filter((one) => one instanceof HTMLElement);
    const folds = [rule && this.#ruleFold(rule, ruleText), this.#reasonFold(), editable && this.#editFold(editable)];
    return [
      element("div", { class: "row-buttons question-answers" }, ...buttons),
      this.#hint,
      ...folds.filter((one) => one instanceof HTMLElement),
    ];
  }

  /** Whether a key or a click answers; who pressed a key too soon is told. */
  #isMeant(event?: Event): boolean {
    const accepts = this.#guard.accepts(event);
    setText(this.#hint, accepts ? "" : this.#context.language.t("That was too soon. Pause for a moment, then answer."));
    return accepts;
  }

  /** A button that is deaf while the question is not read yet. */
  #button(
    label: string,
    key: string | undefined,
    press: () => void,
    attributes: Readonly<Record<string, string>> = {},
  ): HTMLButtonElement {
    const made = element(
      "button",
      { type: "button", tabindex: -1, ...attributes, "aria-keyshortcuts": key?.toUpperCase() },
      label,
      key !== undefined && element("kbd", { "aria-hidden": "true" }, key.toUpperCase()),
    );
    made.addEventListener("click", (event) => {
      if (this.#isMeant(event)) press();
    });
    if (key !== undefined) this.#keys.set(key, made);
    return made;
  }

  #ruleFold(rule: RuleView, ruleText: string): HTMLElement {
    const { t } = this.#context.language;
    const written = rule.command === undefined ? (rule.path ?? rule.tool) : rule.command.join(" ");
    const shown = exactText(written);
    const input = element("input", { type: "text", class: "input", dir: "ltr", value: shown, tabindex: -1 });
    const isOfServer = rule.tool.startsWith("mcp_");
    input.disabled = (rule.command === undefined && rule.path === undefined && !isOfServer) || shown !== written;
    const changed = (): { readonly rule?: string } => (input.value === shown ? {} : { rule: input.value });
    return this.#fold(
      "rule",
      element(
        "label",
        {},
        rule.command === undefined
          ? isOfServer
            ? t("Allow this tool, or mcp_SERVER_* for all of its server")
            : t("Allow for files like")
          : rule.exact === true
            ? t("Allow this command alone; if you change it, those that begin so")
            : t("Allow commands that begin with"),
        input,
      ),
      ruleText !== "" && element("p", { class: "question-reason" }, ...exactNodes(ruleText)),
      element(
        "div",
        { class: "row-buttons question-answers" },
        this.#button(t("Always Allow"), undefined, () => this.#answer("always", changed())),
        this.#button(t("Allow in This Chat"), undefined, () => this.#answer("session", changed())),
      ),
    );
  }

  #reasonFold(): HTMLElement {
    const { t } = this.#context.language;
    const input = element("input", { type: "text", class: "input", dir: "auto", tabindex: -1 });
    const send = (): void => this.#answer("reject", { reason: input.value });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) send();
    });
    return this.#fold(
      "reason",
      element("label", {}, t("What should Gemini know?"), input),
      element("div", { class: "row-buttons question-answers" }, this.#button(t("Send No"), undefined, send)),
    );
  }

  #editFold({ what, text }: NonNullable<Question["editable"]>): HTMLElement {
    const { t } = this.#context.language;
    const area = element("textarea", { class: "input", rows: 3, dir: "ltr", spellcheck: "false", tabindex: -1 });
    area.value = text;
    const wrong = element("p", { class: "question-warning", role: "alert" });
    const run = (): void => {
      if (what === "arguments" && !isObject(area.value)) {
        setText(wrong, t("This is no JSON object."));
        return;
      }
      this.#answer("once", area.value === text ? {} : { edited: area.value });
    };
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
    });
    return this.#fold(
      "edit",
      element("label", {}, what === "command" ? t("Command") : t("Arguments"), area),
      wrong,
      element("div", { class: "row-buttons question-answers" }, this.#button(t("Run This"), undefined, run)),
    );
  }

  #fold(name: Fold, ...children: (Node | false)[]): HTMLElement {
    const made = element("div", { class: "question-fold", hidden: true }, ...children);
    this.#folds.set(name, made);
    return made;
  }

  /** Opens one of the three and closes the others. */
  #toggle(name: Fold): void {
    this.#context.keepPlace();
    for (const [other, fold] of this.#folds) fold.hidden = other !== name || !fold.hidden;
    const fold = this.#folds.get(name);
    if (fold?.hidden === false) {
      const field = fold.querySelector<HTMLInputElement | HTMLTextAreaElement>("input:enabled, textarea");
      (field ?? fold.querySelector<HTMLElement>("button"))?.focus();
    } else this.#goHome();
  }

  #key(event: KeyboardEvent): void {
    const isTyped = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (isTyped) event.stopPropagation(); // the keys of the transcript are not meant
    if (event.key === "Escape" && [...this.#folds.values()].some(({ hidden }) => !hidden)) {
      for (const fold of this.#folds.values()) fold.hidden = true;
      this.#goHome();
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const pressed = this.#keys.get(letterOf(event) ?? "");
    if (pressed === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    // A click by a script is one by a key, and asks the guard itself.
    pressed.click();
  }

  #openDiff(): void {
    if (this.#tool !== undefined) this.#context.host.send({ type: "tool", do: "openDiff", callId: this.#tool.id });
  }

  #answer(
    outcome: Outcome,
    more: { readonly reason?: string; readonly edited?: string; readonly rule?: string } = {},
  ): void {
    if (this.#tool !== undefined)
      this.#context.host.send({ type: "answerTool", callId: this.#tool.id, outcome, ...more });
  }
}

function warningLine(text: string): HTMLElement {
  return element(
    "p",
    { class: "question-warning" },
    element("span", { "aria-hidden": "true" }, "⚠ "),
    ...exactNodes(text),
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A reason of the daemon's, in which code stands between backticks; where they are not in pairs, as it is. */
function reasonNodes(text: string): Node[] {
  const pieces = text.split("`");
  if (pieces.length % 2 === 0) return exactNodes(text);
  return pieces.flatMap((piece, at) =>
    at % 2 === 0 ? exactNodes(piece) : [element("code", {}, ...exactNodes(piece))],
  );
}

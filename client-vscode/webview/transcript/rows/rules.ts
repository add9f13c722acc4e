/** The rules that a prompt brought: one quiet line each, with what can be done about it. */
import type { PromptRow } from "../../../src/panel/contract.js";
import { ruleStanding, RULE_STANDINGS } from "../../../src/panel/rules.js";
import { button, element } from "../element.js";
import { plural, type Language } from "../texts.js";
import type { RowContext } from "./rowView.js";

type Rule = NonNullable<PromptRow["rules"]>[number];

/** More rules of one prompt than this are folded into one line. */
const UNFOLDED = 3;
/** Enough of a rule to tell its buttons from others by ear, characters. */
const BY_EAR = 40;

export class RuleLines {
  readonly element = element("div", { class: "rules" });
  readonly #context: RowContext;
  #shown = "";

  constructor(context: RowContext) {
    this.#context = context;
  }

  update(rules: readonly Rule[]): void {
    const key = JSON.stringify([this.#context.readOnly, rules]);
    if (key === this.#shown) return;
    this.#shown = key;
    const focused = this.element.contains(document.activeElement)
      ? document.activeElement?.closest<HTMLElement>("[data-rule]")?.dataset["rule"]
      : undefined;
    const wasOpen = this.element.querySelector("details")?.open ?? false;
    this.element.hidden = rules.length === 0;
    this.element.replaceChildren(...this.#content(rules, wasOpen));
    if (focused === undefined) return;
    // The button that was pressed is gone: what can be done about the same rule now takes its place.
    const line = [...this.element.querySelectorAll<HTMLElement>("[data-rule]")].find(
      (one) => one.dataset["rule"] === focused,
    );
    (line?.querySelector("button") ?? this.element.closest<HTMLElement>("article"))?.focus();
  }

  #content(rules: readonly Rule[], wasOpen: boolean): HTMLElement[] {
    if (rules.length === 0) return [];
    const { language } = this.#context;
    const list = element(
      "ul",
      { "aria-label": language.t("Rules of this prompt") },
      ...rules.map((rule) => this.#line(rule)),
    );
    if (rules.length <= UNFOLDED) return [list];
    return [
      element("details", { open: wasOpen }, element("summary", { tabindex: -1 }, summary(rules, language)), list),
    ];
  }

  #line(rule: Rule): HTMLElement {
    const { host, readOnly, language } = this.#context;
    const { t } = language;
    const look = RULE_STANDINGS[ruleStanding(rule)];
    const actions = readOnly ? [] : look.actions;
    return element(
      "li",
      { "data-rule": rule.constraintId, "data-state": rule.state },
      element("span", { class: "rule-state" }, t(look.label)),
      " ",
      element("bdi", { class: "rule-text" }, rule.text),
      ...actions.map(({ label, state }) =>
        button(t(label), () => host.send({ type: "rule", constraintId: rule.constraintId, state }), {
          "aria-label": `${t(label)}: ${byEar(rule.text)}`,
        }),
      ),
    );
  }
}

/** "5 rules, 1 to be decided". */
function summary(rules: readonly Rule[], language: Language): string {
  const open = rules.filter(({ state }) => state === "proposed").length;
  const all = plural(rules.length, "{0} rule", "{0} rules", language);
  return open === 0 ? all : language.t("{0}, {1} to be decided", all, open);
}

function byEar(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > BY_EAR ? `${line.slice(0, BY_EAR - 1)}…` : line;
}

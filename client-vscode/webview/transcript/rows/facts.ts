/** What a compression kept and lost, one line that opens: what is missing, what was put back, what the source never said. */
import type { DividerRow } from "../../../src/panel/contract.js";
import { FACT_KINDS, STRATEGIES } from "../../../src/panel/compressionWords.js";
import { element, setText } from "../element.js";
import { countText, plural, type Language } from "../texts.js";
import type { RowContext } from "./rowView.js";

type Result = NonNullable<DividerRow["result"]>;
type Fact = NonNullable<Result["retention"]>["missing"][number];

export class Facts {
  readonly element = element("details", { class: "facts" });
  readonly #context: RowContext;
  readonly #summary = element("summary", { tabindex: -1 });
  readonly #body = element("div", { class: "facts-body" });
  #shown: Result | undefined;

  constructor(context: RowContext) {
    this.#context = context;
    this.element.append(this.#summary, this.#body);
    this.element.hidden = true;
    this.#summary.addEventListener("click", () => context.keepPlace());
  }

  /** Shows what a result says of its facts; nothing where it says nothing. */
  update(result: Result | undefined): void {
    if (result === this.#shown) return;
    this.#shown = result;
    const { language } = this.#context;
    const sections = result === undefined ? [] : sectionsOf(result, language);
    this.element.hidden = sections.length === 0;
    setText(this.#summary, result === undefined ? "" : factsText(result, language));
    this.#body.replaceChildren(...sections);
  }
}

/** "Kept 47 of 50 facts · 2 put back · 1 not in the chat", or that there are details. A record counts sentences of the chat. */
export function factsText({ retention, strategy }: Result, language: Language): string {
  const { t, locale } = language;
  const { facts = 0, kept = 0, appended = 0, unsupported = [] } = retention ?? {};
  if (facts === 0) return t("Details");
  const counts = [countText(kept, locale), countText(facts, locale)] as const;
  const isRecord = strategy === "record";
  const parts = [
    isRecord ? t("Kept {0} of {1} statements word for word", ...counts) : t("Kept {0} of {1} facts", ...counts),
    appended > 0 && !isRecord && t("{0} put back", countText(appended, locale)),
    unsupported.length > 0 && t("{0} never said", countText(unsupported.length, locale)),
  ];
  return parts.filter((part) => part !== false).join(" · ");
}

function sectionsOf(result: Result, language: Language): HTMLElement[] {
  const { t } = language;
  const { missing = [], unsupported = [], facts = 0, kept = 0 } = result.retention ?? {};
  const isRecord = result.strategy === "record";
  const sections: HTMLElement[] = [];
  if (missing.length > 0) {
    // The list is cut where it would be endless; the numbers are not.
    const lost = isRecord ? missing.length : Math.max(missing.length, facts - kept);
    sections.push(
      ...section(plural(lost, "{0} fact is missing", "{0} facts are missing", language), factList(missing, language)),
    );
  } else if (facts > 0) sections.push(element("p", {}, t("Nothing that was counted is missing.")));
  if (result.appendix !== undefined && result.appendix.trim() !== "")
    sections.push(
      ...section(
        isRecord ? t("Quoted word for word beside the snapshot") : t("Put back word for word behind the snapshot"),
        element(
          "pre",
          {
            tabindex: 0,
            dir: "auto",
            role: "group",
            "aria-label": isRecord ? t("What is quoted") : t("What was put back"),
          },
          result.appendix,
        ),
      ),
    );
  if (unsupported.length > 0)
    sections.push(
      ...section(
        t("In the snapshot, but never said in the chat"),
        factList(unsupported, language, t("not in the chat")),
      ),
    );
  if (result.strategy !== undefined)
    sections.push(element("p", {}, t("Strategy: {0}", t(STRATEGIES[result.strategy].name))));
  const { message = "" } = result.verdict ?? {};
  if (message !== "") sections.push(element("p", { dir: "auto" }, message));
  return sections;
}

function section(title: string, body: HTMLElement): HTMLElement[] {
  return [element("h3", {}, title), body];
}

/** Facts by kind, each kind named once. `mark` is said of each of them. */
function factList(facts: readonly Fact[], { t }: Language, mark = ""): HTMLElement {
  const kinds = new Map<string, Fact[]>();
  for (const fact of facts) kinds.set(fact.kind, [...(kinds.get(fact.kind) ?? []), fact]);
  return element(
    "dl",
    {},
    ...[...kinds].flatMap(([kind, of]) => [
      element("dt", {}, kindName(kind, t)),
      ...of.map(({ text }) =>
        element(
          "dd",
          { class: mark === "" ? undefined : "unsupported" },
          mark !== "" && element("span", { class: "problem-mark", "aria-hidden": "true" }, "⚠ "),
          element("bdi", {}, text),
          mark !== "" && element("span", { class: "unseen" }, ` (${mark})`),
        ),
      ),
    ]),
  );
}

function kindName(kind: string, t: Language["t"]): string {
  const names: Readonly<Record<string, string>> = FACT_KINDS;
  const label = Object.hasOwn(names, kind) ? names[kind] : undefined;
  return label === undefined ? kind : t(label);
}

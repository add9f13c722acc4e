/**
 * What the staged states say is what the product says: pictures, reading aloud and axe look at texts that people see. A text is one of the
 * client's (`l10n/bundle.l10n.json`), or one of the daemon's in `daemonTexts.json`, which `tests/test_staged_states.py` compares with it.
 */
import { expect, it } from "vitest";
import bundle from "../../../l10n/bundle.l10n.json" with { type: "json" };
import { answers } from "../../panel/answers.js";
import daemonTexts from "../../panel/daemonTexts.json" with { type: "json" };
import { fixtures } from "../../panel/fixtures.js";

/** Fields that hold sentences of the product, wherever they stand; the others hold names, numbers and what people and models said. */
const SENTENCES: ReadonlySet<string> = new Set([
  "message",
  "hint",
  "providerHint",
  "examples",
  "sandbox",
  "reason",
  "warnings",
  "irreversible",
  "ruleText",
  "consent",
  "note",
  "withheld",
  "problem",
]);
/** Texts with values in them: as much of such a one is its own. */
const OWN = 0.4;
/** What is no sentence: names of kinds, of things, of files. */
const NAME = /^[\w.-]+$/;

const templates = Object.keys(bundle).map((key) => key.split(/\{\d+\}/));

function isOfTheClient(text: string): boolean {
  return templates.some((parts) => {
    if (parts.join("").length < OWN * text.length) return false;
    let at = 0;
    for (const [number, part] of parts.entries()) {
      const found = number === parts.length - 1 ? text.length - part.length : text.indexOf(part, at);
      if (found < at || (number === 0 && found !== 0) || !text.startsWith(part, found)) return false;
      at = found + part.length;
    }
    return at === text.length;
  });
}

function sentencesIn(value: unknown, field = ""): string[] {
  if (typeof value === "string") return SENTENCES.has(field) && value !== "" && !NAME.test(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((one) => sentencesIn(one, field));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => sentencesIn(one, name));
}

it("every sentence of a staged state is the client's or the daemon's", () => {
  const ofTheDaemon = new Set<string>(Object.values(daemonTexts));
  const sentences = new Set(sentencesIn([fixtures, answers]));
  expect(sentences.size).toBeGreaterThan(20);
  expect(
    [...sentences].filter((one) => !one.includes("\u202e") && !ofTheDaemon.has(one) && !isOfTheClient(one)),
  ).toEqual([]);
});

it("no text of the daemon is kept that no staged state says", () => {
  const staged = JSON.stringify([fixtures, answers]);
  const unused = Object.values(daemonTexts).filter((text) => !staged.includes(JSON.stringify(text).slice(1, -1)));
  expect(unused).toEqual([]);
});

/**
 * The texts that cost a regular expression most, made from the expression itself: every part that repeats is repeated, after what leads to
 * it, with and without what makes the match fail, and so is every beginning of a match.
 */
import { RegExpParser, type AST } from "@eslint-community/regexpp";

export interface Attack {
  readonly before: string;
  readonly pump: string;
  readonly after: string;
}

const PLAIN = [
  " ",
  "\n",
  "\t",
  " \n",
  "\r\n",
  "a",
  "A",
  "é",
  "0",
  "a ",
  "a\n",
  "a.",
  "a/",
  "\\",
  "/",
  "-",
  ".",
  "<",
  ">",
  "(",
  "[",
  "{",
  "`",
];
const TAILS = ["", "\0", "\n", " ", "~"];
const SIGNS = Array.from("a0A _-./\\:\n\"'`<([{@$#=*+%é");
/** Repeats that are bounded below this are no repeats. */
const MANY = 8;
const MOST_SAMPLES = 4;

/** The text of an attack with about `size` characters. */
export function textOf({ before, pump, after }: Attack, size: number): string {
  return before + pump.repeat(Math.max(1, Math.floor(size / pump.length))) + after;
}

/** Every attack on an expression, each once. */
export function attacksOn(expression: RegExp): Attack[] {
  const unicode = expression.flags.includes("u");
  const tree = new RegExpParser().parsePattern(expression.source, 0, expression.source.length, { unicode });
  const found: Attack[] = PLAIN.flatMap((pump) => ["", "\0"].map((after) => ({ before: "", pump, after })));
  for (const branch of tree.alternatives) collect(branch.elements, "", expression.flags, found);
  const unique = new Map(found.map((attack) => [JSON.stringify(attack), attack]));
  return [...unique.values()].filter((attack) => attack.pump !== "");
}

function collect(elements: readonly AST.Element[], lead: string, flags: string, found: Attack[]): void {
  let before = lead;
  for (const element of elements) {
    if (element.type === "Quantifier") {
      for (const pump of element.max < MANY ? [] : samples(element.element, flags)) {
        const bounded = element.max === Infinity ? pump : pump.repeat(element.max);
        for (const after of TAILS) {
          found.push({ before, pump, after });
          found.push({ before: "", pump: before + pump + after, after: "" });
          found.push({ before: "", pump: before + bounded + after, after: "" });
        }
      }
      collect([element.element], before, flags, found);
    } else if ("alternatives" in element) {
      for (const branch of element.alternatives)
        if ("elements" in branch) collect(branch.elements, before, flags, found);
    }
    before += samples(element, flags)[0] ?? "";
    for (const after of TAILS) found.push({ before: "", pump: before + after, after: "" });
  }
}

function samples(element: AST.Element, flags: string): string[] {
  switch (element.type) {
    case "Character":
      return [String.fromCodePoint(element.value)];
    case "CharacterSet":
    case "CharacterClass": {
      const one = new RegExp(`^(?:${element.raw})$`, flags.replace(/[gy]/g, ""));
      const listed = Array.from(element.raw.replace(/[\\^[\]-]/g, ""));
      return [...SIGNS, ...listed].filter((sign) => one.test(sign)).slice(0, MOST_SAMPLES);
    }
    case "Quantifier":
      return samples(element.element, flags).map((sample) => sample.repeat(Math.max(element.min, 1)));
    case "Group":
    case "CapturingGroup":
      return element.alternatives.map((branch) =>
        branch.elements.map((part) => samples(part, flags)[0] ?? "").join(""),
      );
    default:
      return [];
  }
}

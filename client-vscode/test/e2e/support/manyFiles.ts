/** A repository as large as those that people work in, each of its files different from every other. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const AREAS = [
  "billing",
  "catalogue",
  "delivery",
  "identity",
  "ledger",
  "mailing",
  "pricing",
  "search",
  "stock",
  "tax",
];
const THINGS = ["queue", "cache", "lease", "quota", "retry", "index", "batch", "window", "cursor", "token", "digest"];
const DEEDS = ["opens", "drains", "splits", "merges", "counts", "renews", "checks"];
/** Files in one folder. */
const FOLDER = 50;
const FUNCTIONS = 12;

/** Where the `number`th file stands, from 0 on. */
export function pathOf(number: number): string {
  return `services/${pick(AREAS, number)}/part_${Math.floor(number / FOLDER)}/module_${number}.py`;
}

/** Writes `count` files into `folder`; every eighty-third names the retry budget. */
export function makeManyFiles(folder: string, count: number): void {
  for (let number = 0; number < count; number += 1) {
    const file = join(folder, pathOf(number));
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, textOf(number));
  }
}

/** Files that name the retry budget, oldest number first. */
export function withBudget(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => number)
    .filter(hasBudget)
    .map(pathOf);
}

function hasBudget(number: number): boolean {
  return number % 83 === 0;
}

function textOf(number: number): string {
  const thing = pick(THINGS, number);
  const head = `"""Module ${number}: the ${thing} of ${pick(AREAS, number)}."""\n`;
  const budget = hasBudget(number) ? `\nRETRY_BUDGET = ${number + 3}\n` : "";
  const functions = Array.from({ length: FUNCTIONS }, (_, index) => {
    const seed = number * FUNCTIONS + index;
    const name = `${pick(DEEDS, seed)}_${pick(THINGS, seed * 7 + number)}_${index}`;
    return `def ${name}(${pick(THINGS, seed + 3)}, limit=${(seed * 37) % 991}):
    """What ${pick(DEEDS, seed + 2)} the ${pick(THINGS, seed * 5 + 1)} once ${seed % 613} of them wait."""
    return ${pick(THINGS, seed + 3)}[: limit - ${(seed * 11) % 89}]
`;
  });
  return [head + budget, ...functions].join("\n\n");
}

function pick(words: readonly string[], number: number): string {
  return words[number % words.length] ?? "";
}

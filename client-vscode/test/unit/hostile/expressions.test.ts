import { expect, it } from "vitest";
import { attacksOn, textOf, type Attack } from "./attacks.js";
import { expressions } from "./expressions.js";

const MEBIBYTE = 1 << 20;
const SIZES = [1 << 10, 1 << 13, 1 << 16, MEBIBYTE];
/** Milliseconds of CPU for a mebibyte. A linear expression takes 1 to 30, on a busy machine many times that, a quadratic one hours. */
const LIMIT = 1_000;

/** Expressions that only ever meet text of at most so many characters: the file and line's text, and that number. */
const SHORT: Readonly<Record<string, number>> = {};

const EXPRESSIONS = expressions();

it("finds the expressions of the sources", () => {
  expect(EXPRESSIONS.length).toBeGreaterThan(50);
});

it.each(EXPRESSIONS.map(({ where, expression }) => ({ where, expression })))(
  "$where: the worst mebibyte costs $expression no more than any other",
  ({ where, expression }) => {
    const size = SHORT[`${where.replace(/:\d+$/, "")} ${String(expression)}`] ?? MEBIBYTE;
    let tried: readonly Attack[] = attacksOn(expression);
    for (const step of SIZES.map((one) => Math.min(one, size))) {
      const costs: { attack: Attack; cost: number }[] = [];
      for (const attack of tried) {
        const cost = leastCost(expression, textOf(attack, step));
        expect(cost, `${String(step)} characters of ${JSON.stringify(attack)}`).toBeLessThan(LIMIT);
        costs.push({ attack, cost });
      }
      costs.sort((one, other) => other.cost - one.cost);
      tried = costs.slice(0, step < 1 << 16 ? Math.max(2, costs.length / 4) : 2).map(({ attack }) => attack);
    }
  },
);

/** Milliseconds of CPU, the least of three, or the first that is below the limit. */
function leastCost(expression: RegExp, text: string): number {
  let least = Infinity;
  for (let round = 0; round < 3 && least >= LIMIT; round++) {
    const begin = process.cpuUsage();
    if (expression.global) text.replace(expression, "");
    else expression.test(text);
    const { user, system } = process.cpuUsage(begin);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

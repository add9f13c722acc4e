/** What the chart of the statistics draws: the requests of a chat as areas on top of each other, part by part. */
import type { Stats } from "../../src/protocol.gen.js";
import type { PartName } from "./meterParts.js";

type Requests = NonNullable<Stats["requests"]>;
type Compressions = NonNullable<Stats["compressionList"]>;

export const WIDTH = 100;
export const HEIGHT = 40;

const order: readonly Exclude<PartName, "free">[] = [
  "systemInstruction",
  "tools",
  "environment",
  "memory",
  "constraints",
  "ideContext",
  "snapshot",
  "toolOutputs",
  "messages",
];

export interface Band {
  readonly name: Exclude<PartName, "free">;
  /** An SVG path within `WIDTH` and `HEIGHT`. */
  readonly path: string;
}

/** A band for each part that any request has, the first at the bottom; nothing for less than two requests. */
export function bands(requests: Requests): readonly Band[] {
  const most = Math.max(1, ...requests.map(({ tokens }) => tokens));
  if (requests.length < 2) return [];
  const point = (index: number, tokens: number) =>
    `${((index / (requests.length - 1)) * WIDTH).toFixed(2)} ${(HEIGHT * (1 - Math.min(1, tokens / most))).toFixed(2)}`;
  let low = requests.map(() => 0);
  const all: Band[] = [];
  for (const name of order) {
    const below = low;
    const high = requests.map(({ byPart }, index) => (below[index] ?? 0) + Math.max(0, byPart[name]));
    if (requests.some(({ byPart }) => byPart[name] > 0)) {
      const over = high.map((tokens, index) => point(index, tokens));
      const under = below.map((tokens, index) => point(index, tokens)).reverse();
      all.push({ name, path: `M${over.join("L")}L${under.join("L")}Z` });
    }
    low = high;
  }
  return all;
}

/** Where the compressions that were installed stand in the chart, 0 to `WIDTH`. */
export function marks(requests: Requests, compressions: Compressions): readonly number[] {
  if (requests.length < 2) return [];
  return compressions
    .filter(({ compressionId }) => compressionId !== undefined)
    .map(({ time }) => {
      const behind = requests.filter((request) => request.time <= time).length;
      const place = Math.min(requests.length - 1, Math.max(0, behind - 0.5));
      return (place / (requests.length - 1)) * WIDTH;
    });
}

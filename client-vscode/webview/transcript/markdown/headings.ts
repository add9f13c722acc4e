/** Headings of an answer stand below the `h2` of its message, whatever level the model began with, and never skip a level. */
const MESSAGE_LEVEL = 2;
const DEEPEST = 6;

/** The levels, as the model wrote them, of the headings that are open: `[1, 3]` inside `#`, then `###`. */
export type OpenHeadings = readonly number[];

/** What becomes of a heading of `depth` (1 to 6) after `open`. */
export function placeHeading(
  open: OpenHeadings,
  depth: number,
): { readonly open: OpenHeadings; readonly level: number } {
  const next = [...open.filter((outer) => outer < depth), depth];
  return { open: next, level: Math.min(DEEPEST, MESSAGE_LEVEL + next.length) };
}

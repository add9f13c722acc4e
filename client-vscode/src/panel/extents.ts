/** How much of a file or a selection goes along, in words: the same on chips and receipts. */

type Translate = (text: string, ...args: (string | number)[]) => string;

export interface Extent {
  readonly extent: "whole" | "lines" | "part" | "path" | "none";
  readonly lines?: readonly [number, number];
  readonly lineCount?: number;
}

/** "whole", "lines 1–358 of 500", "path only"; empty for what does not go along. */
export function extentText({ extent, lines: [first, last] = [0, 0], lineCount = 0 }: Extent, t: Translate): string {
  switch (extent) {
    case "whole":
      return t("whole");
    case "lines":
      return first === last
        ? t("line {0} of {1}", first, lineCount)
        : t("lines {0}–{1} of {2}", first, last, lineCount);
    case "part":
      return first === last
        ? t("part of line {0} of {1}", first, lineCount)
        : t("part of lines {0}–{1} of {2}", first, last, lineCount);
    case "path":
      return t("path only");
    case "none":
      return "";
  }
}

export interface Cut {
  readonly sent: readonly [number, number];
  readonly selected: readonly [number, number];
}

/** "lines 1–358 of 1–500 selected": what goes along of a selection that is too long. */
export function cutText({ sent, selected }: Cut, t: Translate): string {
  return t("selection cut: lines {0}–{1} of {2}–{3}", ...sent, ...selected);
}

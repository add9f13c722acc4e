/** Which links of an answer may be opened. Answers are written by a model that has read anything at all: a link is hostile until it is one of these. */
import { posix, win32 } from "node:path";

/** A workspace folder. */
export interface Root {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
}

export type Opening =
  | { readonly open: "web"; readonly url: string }
  /** The first of these that exists; all lie in a root as far as their names tell. Lines and columns count from 1. */
  | {
      readonly open: "file";
      readonly candidates: readonly string[];
      readonly line?: number;
      readonly lastLine?: number;
      readonly column?: number;
    }
  | { readonly open: "nothing"; readonly because: "scheme" | "outside" | "malformed" };

const LONGEST = 4_096;

export function decideHref(href: string, roots: readonly Root[], platform: NodeJS.Platform): Opening {
  const text = href.trim();
  if (text === "" || text.startsWith("#") || text.length > LONGEST || /\p{Cc}/u.test(text))
    return { open: "nothing", because: "malformed" };
  if (/^https?:/i.test(text)) return web(text);
  const { path, place } = placeOf(text);
  const local = localPath(path, platform);
  if (local === undefined) return { open: "nothing", because: "scheme" };
  if (local === "") return { open: "nothing", because: "malformed" };
  const spellings = /%[0-9a-f]{2}/i.test(local) ? [decoded(local), local] : [local];
  const candidates = spellings.flatMap((spelling) =>
    spelling === undefined ? [] : inRoots(spelling, roots, platform),
  );
  return candidates.length === 0
    ? { open: "nothing", because: "outside" }
    : { open: "file", candidates: [...new Set(candidates)], ...place };
}

function web(text: string): Opening {
  if (!URL.canParse(text)) return { open: "nothing", because: "malformed" };
  const url = new URL(text);
  // A name before the host is how one address is made to look like another.
  if (url.username !== "" || url.password !== "" || url.hostname === "")
    return { open: "nothing", because: "malformed" };
  return { open: "web", url: url.href };
}

interface LineRange {
  readonly line?: number;
  readonly lastLine?: number;
  readonly column?: number;
}

/** `path:12`, `path:12:3`, `path:12-20`, `path#L12`, `path#L12-L20`. */
function placeOf(text: string): { readonly path: string; readonly place: LineRange } {
  const match = /^(.+?)(?::(\d{1,7})(?:(?::(\d{1,7}))|(?:-(\d{1,7})))?|#L(\d{1,7})(?:-L?(\d{1,7}))?|#[^#]*)$/.exec(
    text,
  );
  if (match === null) return { path: text, place: {} };
  const [, path = "", line, column, last, hashLine, hashLast] = match;
  const first = numberOf(line ?? hashLine);
  if (first === undefined) return { path, place: {} };
  const end = numberOf(last ?? hashLast);
  const from = numberOf(column);
  return {
    path,
    place: {
      line: first,
      ...(end !== undefined && end >= first ? { lastLine: end } : {}),
      ...(from === undefined ? {} : { column: from }),
    },
  };
}

function numberOf(digits: string | undefined): number | undefined {
  return digits === undefined || Number(digits) < 1 ? undefined : Number(digits);
}

/** A path out of a path or a `file:` URI of this machine; nothing for any other scheme. */
function localPath(text: string, platform: NodeJS.Platform): string | undefined {
  const isDrive = platform === "win32" && /^[a-z]:[\\/]/i.test(text);
  if (isDrive || !/^[a-z][a-z0-9+.-]*:/i.test(text)) return text;
  if (!/^file:\/\/\//i.test(text)) return undefined;
  const path = text.slice("file://".length);
  return platform === "win32" && /^\/[a-z](?::|%3a)/i.test(path) ? path.slice(1).replace(/%3a/i, ":") : path;
}

function decoded(text: string): string | undefined {
  try {
    const path = decodeURIComponent(text);
    return /\p{Cc}/u.test(path) ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Where a path may be: below each root, or below the one that it begins with the name of. Only what does not lead out. */
function inRoots(path: string, roots: readonly Root[], platform: NodeJS.Platform): string[] {
  const rules = platform === "win32" ? win32 : posix;
  const absolute = rules.isAbsolute(path) ? [rules.normalize(path)] : [];
  const relative = rules.isAbsolute(path) ? [] : roots.map((root) => rules.join(root.path, path));
  const named = roots
    .filter(({ name }) => path.startsWith(`${name}/`))
    .map((root) => rules.join(root.path, path.slice(root.name.length + 1)));
  const isRoot = (file: string): boolean => roots.some(({ path: root }) => rules.relative(root, file) === "");
  return [...absolute, ...relative, ...named].filter(
    (file) => !isRoot(file) && roots.some((root) => isWithin(file, root.path, platform)),
  );
}

/** Whether a path is a root or lies in it, by the names alone; links are for who can look at the disk. */
export function isWithin(file: string, root: string, platform: NodeJS.Platform): boolean {
  const rules = platform === "win32" ? win32 : posix;
  const way = rules.relative(root, file);
  return way === "" || (way !== ".." && !way.startsWith(`..${rules.sep}`) && !rules.isAbsolute(way));
}

/** Where in a file something is wrong, out of the daemon's sentences about settings: `/home/me/.gemini/settings.json:3:5: model.name: …`. */

export interface FileLocation {
  readonly path: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

const ROOT = String.raw`(?:/|[A-Za-z]:[\\/]|\\\\)`;
const WITH_LINE = new RegExp(String.raw`^(?<place>${ROOT}[^\r\n]*?:\d{1,9}:\d{1,9}): `);
const WHOLE_FILE = new RegExp(String.raw`^(?<place>${ROOT}[^\r\n]*?[\\/]settings\.json): `);

/** The place that a message begins with, as `path:line:column`, or `path` if it is about the whole file. */
export function fileLocationIn(message: string): string | undefined {
  return (WITH_LINE.exec(message) ?? WHOLE_FILE.exec(message))?.groups?.["place"];
}

/** Reads `path`, `path:line` or `path:line:column`. */
export function parseFileLocation(text: string): FileLocation | undefined {
  const match = /^(?<path>[^\r\n]+?)(?::(?<line>\d{1,9}))?(?::(?<column>\d{1,9}))?$/.exec(text);
  const path = match?.groups?.["path"];
  if (path === undefined) return undefined;
  const number = (name: string): number => Math.max(1, Number(match?.groups?.[name] ?? 1));
  return { path, line: number("line"), column: number("column") };
}

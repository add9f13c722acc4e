/** Files as a prompt names them. */
import { posix, win32 } from "node:path";
import { isWithin, type Root } from "./hrefs.js";

/**
 * `@path` for a file in a root, quoted where the path would not end where it ends; nothing for one outside. With one root the path is the one
 * inside it, with several the absolute one, which only one file has.
 */
export function mentionOf(file: string, roots: readonly Root[], platform: NodeJS.Platform): string | undefined {
  const rules = platform === "win32" ? win32 : posix;
  const root = roots.find(({ path }) => isWithin(file, path, platform));
  if (root === undefined || /["\p{Cc}]/u.test(file)) return undefined;
  const path = (roots.length === 1 ? rules.relative(root.path, file) || "." : file).split(rules.sep).join("/");
  return /[\s\\()[\]{}<>'`,;]|[.:!?]$/.test(path) ? `@"${path}"` : `@${path}`;
}

/** Small files of ours that are written whole: a crash leaves the old one, and nobody else may read them. */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file, and its folder if it is missing. Rejects with what the disk says. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.tmp`, text, { encoding: "utf8", mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

/** Whether an id may be the name of a file: one from outside may lead nowhere else. */
export function isFileName(id: string): boolean {
  return /^[\w-]{1,100}$/.test(id);
}

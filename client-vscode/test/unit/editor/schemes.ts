/** The schemes as the sources spell them: their modules need an editor to be loaded. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

function schemeIn(file: string, constant: string): string {
  const source = readFileSync(join(import.meta.dirname, "../../../src", file), "utf8");
  const found = new RegExp(`${constant} = "([\\w-]+)"`).exec(source)?.[1];
  if (found === undefined) throw new Error(`${file} has no ${constant}`);
  return found;
}

export const PROPOSAL_SCHEME_NAME = schemeIn("editor/proposalFiles.ts", "PROPOSAL_SCHEME");
export const SNAPSHOT_SCHEME_NAME = schemeIn("compression/documents.ts", "SNAPSHOT_SCHEME");

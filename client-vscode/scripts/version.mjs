// The extension has the daemon's version, for they are one release: node scripts/version.mjs [--check]
// Writes the daemon's version into package.json and package-lock.json; with --check it only compares.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const source = join(root, "..", "server", "gemini_companion", "__init__.py");
const version = /^__version__(?:: [^=]+)? = "([^"]+)"$/m.exec(readFileSync(source, "utf8"))?.[1];
if (version === undefined) throw new Error(`${source} has no __version__`);

const stale = ["package.json", "package-lock.json"].filter((name) => {
  const path = join(root, name);
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const places = [manifest, manifest.packages?.[""]].filter((place) => place !== undefined);
  if (places.every((place) => place.version === version)) return false;
  for (const place of places) place.version = version;
  if (!process.argv.includes("--check")) writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
  return true;
});
if (process.argv.includes("--check") && stale.length > 0) {
  process.stderr.write(
    `${stale.join(" and ")}: not version ${version} of the daemon (run: node scripts/version.mjs)\n`,
  );
  process.exitCode = 1;
}

/** package.json against the code and the texts. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DAEMON_SETTINGS } from "../../../src/daemon/pure/settings.js";
import { PROPOSAL_SCHEME_NAME, SNAPSHOT_SCHEME_NAME } from "./schemes.js";

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly category: string; readonly title: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command?: string; readonly when?: string }[]>>;
    readonly keybindings: readonly { readonly command: string }[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly default: unknown; readonly scope?: string }>>;
    };
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly description: string; readonly media: { readonly markdown: string } }[];
    }[];
  };
  readonly capabilities: { readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] } };
}

const root = join(import.meta.dirname, "../../..");
const text = readFileSync(join(root, "package.json"), "utf8");
const manifest = JSON.parse(text) as Manifest; // a file of this project
const texts = JSON.parse(readFileSync(join(root, "package.nls.json"), "utf8")) as Readonly<Record<string, string>>;
const { commands, menus, keybindings, configuration, walkthroughs } = manifest.contributes;
const declared = commands.map(({ command }) => command);

describe("package.json", () => {
  it("has a text for every key, and no key without use", () => {
    const used = [...text.matchAll(/"%([^%"]+)%"/g)].map((match) => match[1]);
    expect([...new Set(used)].sort()).toEqual(Object.keys(texts).sort());
    expect(Object.values(texts).every((value) => value.trim() !== "")).toBe(true);
  });

  it("declares commands that the code registers", () => {
    const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts"),
    );
    const code = sources.map((file) => readFileSync(join(root, "src", file), "utf8")).join("\n");
    const missing = declared
      .map((command) => command.replace("geminiCompanion.", ""))
      .filter((name) => !new RegExp(`"(?:geminiCompanion\\.)?${name}"|\\b${name}: "`).test(code));
    expect(missing).toEqual([]);
  });

  it("gives every command the category Gemini", () => {
    expect(commands.filter(({ category }) => category !== "Gemini")).toEqual([]);
  });

  it("names only its own commands and the editor's in menus, keys and walkthrough", () => {
    const inMenus = Object.values(menus).flatMap((items) =>
      items.flatMap(({ command }) => (command === undefined ? [] : [command])),
    );
    const inSteps = walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ description }) =>
        [...(texts[description.slice(1, -1)] ?? "").matchAll(/command:([\w.]+)/g)].map((match) => match[1] ?? ""),
      ),
    );
    const unknown = [...inMenus, ...keybindings.map(({ command }) => command), ...inSteps].filter(
      (command) => !declared.includes(command) && !command.startsWith("workbench."),
    );
    expect(unknown).toEqual([]);
    expect(inSteps.length).toBeGreaterThanOrEqual(walkthroughs.length);
  });

  it("has the page of every step of the walkthrough", () => {
    for (const { media } of walkthroughs.flatMap(({ steps }) => steps))
      expect(existsSync(join(root, media.markdown))).toBe(true);
  });

  it("shows the buttons of proposals and snapshots on their documents", () => {
    const conditions = (menus["editor/title"] ?? []).map(({ when }) => when);
    expect(new Set(conditions)).toEqual(
      new Set([`resourceScheme == ${PROPOSAL_SCHEME_NAME}`, `resourceScheme == ${SNAPSHOT_SCHEME_NAME}`]),
    );
  });

  it("has every setting of the daemon, unset by default: a default would override the person's settings.json", () => {
    for (const name of Object.keys(DAEMON_SETTINGS)) {
      expect(configuration.properties).toHaveProperty([`geminiCompanion.${name}`, "default"]);
      expect(["", null]).toContain(configuration.properties[`geminiCompanion.${name}`]?.default);
    }
  });

  it("lets no untrusted folder say what is run", () => {
    const machine = Object.keys(configuration.properties).filter((name) => name.startsWith("geminiCompanion.server."));
    expect(machine.length).toBeGreaterThan(0);
    expect([...manifest.capabilities.untrustedWorkspaces.restrictedConfigurations].sort()).toEqual(machine.sort());
    for (const name of machine) expect(configuration.properties[name]?.scope).toBe("machine-overridable");
  });
});

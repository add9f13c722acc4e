/** Settings in words, and where choosing one leads. */
import { describe, expect, it } from "vitest";
import { english } from "../../../src/chat/pure/words.js";
import { settingRows, type SettingInForce } from "../../../src/daemon/pure/settingRows.js";

function rows(...settings: SettingInForce[]) {
  return settingRows({ settings, trusted: true }, english);
}

describe("settingRows", () => {
  it("shows first what somebody set, each with where it comes from", () => {
    const found = rows(
      { key: "companion.tools.maxRounds", value: 100, layer: "default" },
      { key: "model.name", value: "flash", layer: "environment", variable: "GEMINI_MODEL", also: ["user", "editor"] },
      { key: "model.tokenLimit", value: 5, layer: "user", file: "/h/settings.json", line: 3, description: "Tokens." },
    );
    expect(found.map(({ label, description, detail }) => [label, description, detail])).toEqual([
      ["model.name", "flash", "From the environment: GEMINI_MODEL (also in your settings file, VS Code’s settings)"],
      ["model.tokenLimit", "5", "From your settings file: /h/settings.json:3 · Tokens."],
      ["companion.tools.maxRounds", "100", "From the default"],
    ]);
  });

  it("leads to the line of a file, and to VS Code's own key where that decides or nobody has", () => {
    const found = rows(
      { key: "model.tokenLimit", value: 5, layer: "workspace", file: "/w/settings.json" },
      { key: "model.compressionThreshold", value: 0.5, layer: "editor" },
      { key: "companion.tools.maxRounds", value: 100, layer: "default" },
      { key: "model.name", value: "x", layer: "environment", variable: "GEMINI_MODEL" },
      { key: "hooks", value: {}, layer: "default" },
    );
    expect(found.map(({ label, place, editorKey }) => [label, place ?? editorKey])).toEqual([
      ["model.tokenLimit", "/w/settings.json:1"],
      ["model.compressionThreshold", "geminiCompanion.compression.threshold"],
      ["model.name", undefined],
      ["companion.tools.maxRounds", "geminiCompanion.tools.maxRounds"],
      ["hooks", undefined],
    ]);
  });

  it("names the variable and its line in a file, and leads there", () => {
    const [found] = rows({
      key: "model.name",
      value: "flash",
      layer: "environment",
      variable: "GEMINI_MODEL",
      file: "/w/.env",
      line: 2,
    });
    expect([found?.detail, found?.place]).toEqual(["From the environment: GEMINI_MODEL, /w/.env:2", "/w/.env:2"]);
  });

  it("shows long values short, on one line, and what nobody set as a dash", () => {
    const found = rows(
      { key: "hooks", value: { a: "x\n".repeat(200) }, layer: "user" },
      { key: "model.name", layer: "user" },
    );
    expect(found[0]?.description).toHaveLength(81);
    expect(found[0]?.description).not.toContain("\n");
    expect(found[1]?.description).toBe("–");
  });
});

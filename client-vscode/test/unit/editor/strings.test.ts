import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collect, textsOf } from "../../../scripts/strings.mjs";

describe("the texts of the interface", () => {
  it("are all in the bundle that translations are made from", () => {
    const { bundle, unknown } = collect();
    expect(unknown).toEqual([]);
    expect(readFileSync(join(import.meta.dirname, "../../../l10n/bundle.l10n.json"), "utf8")).toBe(bundle);
  });

  it("are found wherever a source translates one", () => {
    const source =
      'l10n.t("one {0}", x); chat.t(a ? "two" : "three"); plural(n, "{0} file", "{0} files", l); const LABELS = { k: [["id", "four"]], l: "five" }; t(secret());';
    expect(textsOf("x.ts", source)).toEqual({
      texts: ["one {0}", "two", "three", "{0} file", "{0} files", "four", "five"],
      unknown: ["x.ts: secret()"],
    });
  });
});

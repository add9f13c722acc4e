import { afterEach, describe, expect, it } from "vitest";
import { setStrings, t } from "../../../webview/strings.js";

afterEach(() => setStrings({}));

describe("the interface's words", () => {
  it("are English without a translation, with the arguments in their places", () => {
    expect(t("{0} of {1}", 3, 17)).toBe("3 of 17");
  });

  it("are the person's where there are some, arguments in their order", () => {
    setStrings({ "{0} of {1}": "von {1} der {0}." });
    expect(t("{0} of {1}", 3, 17)).toBe("von 17 der 3.");
    expect(t("Send")).toBe("Send");
  });

  it("keep a placeholder without an argument and never read one inside an argument", () => {
    expect(t("{0} {1}", "{1}")).toBe("{1} {1}");
  });

  it("are not taken from what every object has", () => {
    expect(t("constructor")).toBe("constructor");
  });
});

import { expect, test, vi } from "vitest";

test("the formatter is made with the first number, and once", async () => {
  vi.resetModules();
  const german = new Intl.NumberFormat("de");
  const making = vi.spyOn(Intl, "NumberFormat").mockImplementation(function () {
    return german;
  });
  const { number } = await import("../../../src/chat/pure/numbers.js");
  expect(making).not.toHaveBeenCalled();
  expect([number(12), number(1_234_567)]).toEqual(["12", "1.234.567"]);
  expect(making).toHaveBeenCalledOnce();
});

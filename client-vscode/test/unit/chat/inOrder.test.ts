import { expect, test } from "vitest";
import { InOrder } from "../../../src/chat/pure/inOrder.js";

test("what became ready first waits for what was asked before it", async () => {
  const order = new InOrder();
  let release = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const delivered: string[] = [];
  const first = order.after(slow, () => void delivered.push("first"));
  const second = order.after(Promise.resolve(), () => void delivered.push("second"));
  const third = order.after(Promise.resolve(), () => void delivered.push("third"));
  release();
  await Promise.all([third, second, first]);
  expect(delivered).toEqual(["first", "second", "third"]);
});

test("what fails is told to who asked, delivers nothing, and holds up nothing", async () => {
  const order = new InOrder();
  const delivered: string[] = [];
  const first = order.after(Promise.reject(new Error("no view")), () => void delivered.push("first"));
  const second = order.after(Promise.resolve(), () => {
    throw new Error("gone");
  });
  const third = order.after(Promise.resolve(), () => void delivered.push("third"));
  await expect(first).rejects.toThrow("no view");
  await expect(second).rejects.toThrow("gone");
  await third;
  expect(delivered).toEqual(["third"]);
});

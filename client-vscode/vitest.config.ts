import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/unit/**/*.test.{ts,tsx}"], environment: "node", testTimeout: 10_000, restoreMocks: true },
});

import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("test/unit/vscode.ts", import.meta.url)) } },
  test: {
    include: ["test/unit/**/*.test.{ts,tsx}"],
    setupFiles: ["test/unit/setup.ts"],
    environment: "node",
    testTimeout: 60_000,
    expect: { poll: { timeout: 50_000 } },
    restoreMocks: true,
    maxWorkers: "100%", // all processors, not all but one
  },
});

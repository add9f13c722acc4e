import { defineConfig } from "vitest/config";

/** The scenes in a real VS Code: one after the other, each file with its own server. `make e2e` brings what they need. */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ["test/e2e/**/*.e2e.ts"],
    environment: "node",
    fileParallelism: false,
    maxWorkers: 1,
    // Scenes wait for states. The limits only end what will never come, on a machine however busy.
    testTimeout: 240_000,
    hookTimeout: 300_000,
  },
});

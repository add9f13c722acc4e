import { defineConfig } from "vitest/config";

/** The scenes in a real VS Code: one after the other, each file with its own server. `make e2e` brings what they need. */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ["test/e2e/**/*.e2e.ts"],
    environment: "node",
    fileParallelism: false,
    maxWorkers: 1,
    retry: 1, // a browser, an editor and a daemon on a busy machine: a scene may have a second try, and the report says that it had
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});

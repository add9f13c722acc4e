import { defineConfig } from "vitest/config";

/** The panel's figures in a real VS Code, printed as they are. `make bench` brings what it needs. */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/..`,
    include: ["test/bench/**/*.bench.ts"],
    environment: "node",
    fileParallelism: false,
    maxWorkers: 1,
    disableConsoleIntercept: true,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});

/** Hooks in words. */
import { expect, it } from "vitest";
import { english } from "../../../src/chat/pure/words.js";
import { hookRows, type ListedHook } from "../../../src/daemon/pure/hookRows.js";

const NOW = 1_000_000_000;
const GUARD: ListedHook = {
  event: "BeforeTool",
  name: "guard",
  command: "python3 $GEMINI_PROJECT_DIR/guard.py",
  matcher: "write_.*",
  sequential: false,
  timeoutMs: 60_000,
  source: "workspace",
  state: "on",
  file: "/w/.gemini/settings.json",
  line: 7,
};

function rows(...hooks: ListedHook[]) {
  return hookRows({ enabled: true, hooks, problems: [] }, english, NOW);
}

it("a hook says what it waits for, where it is set, and how it last ran", () => {
  const [row] = rows({
    ...GUARD,
    lastRun: { at: NOW - 150_000, outcome: "denied", durationMs: 84, message: "rm is\n not allowed" },
  });
  expect(row).toEqual({
    label: "$(check) guard",
    description: "BeforeTool · write_.*",
    detail:
      "Last run 2 min ago: refused (0.08 s): rm is not allowed · From this workspace’s settings file: " +
      "/w/.gemini/settings.json:7 · python3 $GEMINI_PROJECT_DIR/guard.py",
    name: "guard",
    isOn: true,
    place: "/w/.gemini/settings.json:7",
  });
});

it("one that does not run says why, and one without a name is called by its command", () => {
  const found = rows(
    { ...GUARD, state: "off" },
    { ...GUARD, state: "withheld", matcher: "*" },
    { ...GUARD, name: GUARD.command, source: "elsewhere", file: undefined as never },
  );
  expect(found.map(({ label, description, isOn }) => [label, description, isOn])).toEqual([
    ["$(circle-slash) guard", "BeforeTool · write_.* · turned off", false],
    ["$(lock) guard", "BeforeTool · not in a folder that is not trusted", true],
    ["$(check) python3 $GEMINI_PROJECT_DIR/guard.py", "BeforeTool · write_.*", true],
  ]);
  expect(found[2]).toMatchObject({ detail: "Has not run yet · From elsewhere" });
  expect(found[2]).not.toHaveProperty("place");
});

it("what somebody else wrote stays on one short line", () => {
  const long = "x\n".repeat(500);
  const [row] = rows({
    ...GUARD,
    name: long,
    lastRun: { at: NOW, outcome: "failed", durationMs: 12_345, message: long },
  });
  expect(row?.label).not.toContain("\n");
  expect(row?.label.length).toBeLessThan(120);
  expect(row?.detail).toContain("Last run just now: failed (12 s): x x");
});

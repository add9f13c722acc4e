import { describe, expect, it } from "vitest";
import { QUEUE_LIMIT } from "../../../src/panel/limits.js";
import { untrustedHint } from "../../../src/panel/sentences.js";
import { hindrance, notices } from "../../../webview/shell/standing.js";
import { baseState } from "../../panel/chatRows.js";
import { fixtures, type FixtureName } from "../../panel/fixtures.js";

function stateOf(name: FixtureName) {
  const first = fixtures[name][0];
  if (first?.type !== "sync") throw new Error(`${name} does not begin with a sync`);
  return first.state;
}
const actionsIn = (name: FixtureName) =>
  notices(stateOf(name), 2).flatMap(({ actions }) => actions.map(({ id }) => id));

describe("what hinders a prompt", () => {
  it.each(["idle", "starting", "daemonLost", "noKey", "untrusted", "queued", "compressing", "serviceDown"] as const)(
    "nothing does while %s",
    (name) => {
      expect(hindrance(stateOf(name))).toBeUndefined();
    },
  );

  it.each(["noPython", "crashed", "versionMismatch", "readOnly"] as const)("%s does, and it says why", (name) => {
    expect(hindrance(stateOf(name))).toMatch(/\w/);
  });
});

describe("a queue that is full", () => {
  const queue = Array.from({ length: QUEUE_LIMIT }, (_, at) => ({ id: `q${at}`, text: `prompt ${at}` }));
  const full = { ...baseState, job: { kind: "turn", id: "t1" }, queue } as const;

  it("hinders one more prompt, and one notice says so", () => {
    expect(hindrance(full)).toContain("16");
    expect(notices(full, 2).filter(({ key }) => key === "queueFull")).toHaveLength(1);
  });

  it("hinders nobody while there is room, or while nothing runs", () => {
    expect(hindrance({ ...full, queue: queue.slice(1) })).toBeUndefined();
    expect(hindrance({ ...full, job: { kind: "idle" } })).toBeUndefined();
  });
});

describe("the notices above the composer", () => {
  it("are none when all is well", () => {
    expect(notices(baseState, 2)).toEqual([]);
  });

  it("carry the host's actions as they are", () => {
    const banner = stateOf("keyRefused").banner;
    expect(notices(stateOf("keyRefused"), 2)[0]?.actions).toBe(banner?.actions);
  });

  it("offer what mends a lost daemon, a held chat, a folder that is not trusted", () => {
    expect(actionsIn("daemonLost")).toContain("restartDaemon");
    expect(actionsIn("readOnly")).toEqual(["forkSession", "takeOver"]);
    expect(actionsIn("untrusted")).toEqual(["manageTrust"]);
  });

  it("say of a folder that is not trusted what the host's banner says", () => {
    const [notice] = notices(stateOf("untrusted"), 2);
    expect(notice?.hint).toBe(untrustedHint((text) => text));
    expect(notice?.hint).toContain("Gemini may read files when it needs them");
  });

  it("do not offer twice what the banner offers", () => {
    const banner = {
      kind: "sessionBusy",
      message: "Held.",
      hint: "",
      retryable: false,
      level: "warning" as const,
      actions: [{ id: "takeOver" as const, label: "Take Over" }],
    };
    expect(notices({ ...stateOf("readOnly"), banner }, 2)).toHaveLength(1);
  });

  it("leave a failure to the middle of the panel while nothing else is there", () => {
    expect(notices(stateOf("crashed"), 0)).toEqual([]);
    expect(notices(stateOf("crashed"), 2)).toHaveLength(1);
  });
});

describe("a settings file that cannot be read", () => {
  it("is named as long as it is so, with the way to it", () => {
    const [notice, ...others] = notices({ ...baseState, unread: ["/home/a/.gemini/settings.json"] }, 2);
    expect(notice?.message).toMatch(/^\/home\/a\/\.gemini\/settings\.json cannot be read\./);
    expect(notice?.actions).toEqual([
      { id: "openSettingsFile", label: "Open the File", argument: "/home/a/.gemini/settings.json" },
    ]);
    expect(others).toEqual([]);
    expect(notices(baseState, 2)).toEqual([]);
  });
});

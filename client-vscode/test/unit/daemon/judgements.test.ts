/** What is decided about restarts, versions, keys and Pythons. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { english } from "../../../src/chat/pure/words.js";
import { keyFault } from "../../../src/daemon/pure/keys.js";
import { diagnose, isRecent, lastLines, pythonCandidates, readPython } from "../../../src/daemon/pure/python.js";
import { afterCrash } from "../../../src/daemon/pure/restarts.js";
import { judgeVersions, readServerFacts } from "../../../src/daemon/pure/versions.js";
import { PROTOCOL_VERSION } from "../../../src/protocol.gen.js";

describe("afterCrash", () => {
  it("waits 1, 2, 4, 8, 16 s and then gives up", () => {
    let crashes: readonly number[] = [];
    const delays: (number | undefined)[] = [];
    for (let round = 0; round < 6; round++) {
      const after = afterCrash(crashes, 1_000_000 + round * 20_000);
      crashes = after.crashes;
      delays.push(after.delay);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, undefined]);
  });

  it("begins anew when the earlier crashes are three minutes old", () => {
    expect(afterCrash([0, 1, 2, 3, 4], 180_005)).toEqual({ crashes: [180_005], attempt: 1, delay: 1_000 });
  });

  it("allows at most five restarts in any three minutes", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60_000), { maxLength: 60 }), (gaps) => {
        let [crashes, now]: [readonly number[], number] = [[], 0];
        const restarts: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const after = afterCrash(crashes, now);
          crashes = after.crashes;
          if (after.delay !== undefined) restarts.push(now);
        }
        return restarts.every(
          (time) => restarts.filter((other) => other <= time && time - other < 180_000).length <= 5,
        );
      }),
    );
  });
});

describe("judgeVersions", () => {
  const server = (
    version: string,
    protocolVersion = String(PROTOCOL_VERSION),
  ): Parameters<typeof judgeVersions>[0] => ({ name: "gemini-companion", version, protocolVersion });

  it("lets releases of one series work together", () => {
    expect(judgeVersions(server("0.1.9"), "0.1.0")).toEqual({ fits: true });
    expect(judgeVersions(server("2.0.1"), "2.7.0")).toEqual({ fits: true });
  });

  it("says which side is too old, and lets the person go on while the protocol is the same", () => {
    expect(judgeVersions(server("0.1.0"), "0.2.0")).toEqual({ fits: false, renew: "daemon", mayContinue: true });
    expect(judgeVersions(server("2.0.0"), "1.9.0")).toEqual({ fits: false, renew: "extension", mayContinue: true });
  });

  it("lets nobody go on with another protocol, whatever the releases say", () => {
    expect(judgeVersions(server("0.1.0", "0"), "0.1.0")).toEqual({ fits: false, renew: "daemon", mayContinue: false });
    expect(judgeVersions(server("0.1.0", String(PROTOCOL_VERSION + 1)), "0.1.0")).toEqual({
      fits: false,
      renew: "extension",
      mayContinue: false,
    });
  });

  it("knows a stranger by its silence about the protocol", () => {
    expect(
      judgeVersions(readServerFacts({ capabilities: {}, serverInfo: { name: "pyright", version: "1" } }), "0.1.0"),
    ).toEqual({ fits: false, renew: "stranger", mayContinue: false });
  });

  it("reads what a daemon answers, and anything else as nothing", () => {
    const answer = {
      serverInfo: { name: "gemini-companion", version: "0.1.0" },
      capabilities: { experimental: { geminiCompanion: { protocolVersion: "2" } } },
    };
    expect(readServerFacts(answer)).toEqual({ name: "gemini-companion", version: "0.1.0", protocolVersion: "2" });
    fc.assert(
      fc.property(fc.anything(), (value) =>
        Object.values(readServerFacts(value)).every((text) => typeof text === "string"),
      ),
    );
  });
});

describe("keyFault", () => {
  it("lets keys pass and says what is wrong with the rest", () => {
    expect(keyFault("  AIzaSyExample_Key-123  ", english)).toBeUndefined();
    for (const text of ["", "   ", "two words here", "kurz", "schlüssel-mit-umlaut", "x".repeat(5_000)])
      expect(keyFault(text, english)).toMatch(/\w/);
  });
});

describe("Python", () => {
  const search = { platform: "linux", path: "/usr/bin", extensions: "" } as const;

  it("tries new ones by name before whatever python3 is", () => {
    expect(pythonCandidates(undefined, search).map(([file]) => file)).toEqual(
      ["python3.13", "python3.12", "python3.11", "python3", "python"].map((name) => `/usr/bin/${name}`),
    );
  });

  it("tries nothing but the setting if there is one", () => {
    expect(pythonCandidates("/opt/python", search)).toEqual([["/opt/python"]]);
  });

  it("asks the launcher on Windows last", () => {
    expect(pythonCandidates(undefined, { platform: "win32", path: "C:\\w", extensions: ".EXE" }).at(-1)).toEqual([
      "C:\\w\\py.EXE",
      "-3",
    ]);
  });

  it("never runs Apple's stand-in, which would ask to install developer tools", () => {
    expect(pythonCandidates(undefined, { ...search, platform: "darwin" }).map(([file]) => file)).not.toContain(
      "/usr/bin/python3",
    );
  });

  it("takes 3.11 and newer of series 3", () => {
    expect(
      ["3.10.9", "3.11.0", "3.14.1", "2.7.18", "4.0.0"].map((text) => isRecent(readPython(text) ?? [0, 0, 0])),
    ).toEqual([false, true, true, false, false]);
    expect(readPython("Python was not found; run without arguments to install")).toBeUndefined();
  });

  it("tells by the output what is missing", () => {
    expect(diagnose("The virtual environment was not created successfully because ensurepip is not available.")).toBe(
      "noVenv",
    );
    expect(diagnose("/usr/bin/python3: No module named venv")).toBe("noVenv");
    expect(
      diagnose(
        "WARNING: Retrying … NewConnectionError('<pip._vendor…>: Failed to establish a new connection')\nERROR: No matching distribution found for x",
      ),
    ).toBe("noNetwork");
    expect(diagnose("ERROR: No matching distribution found for pygls==2.1.1")).toBe("noMatch");
    expect(diagnose("OSError: [Errno 28] No space left on device")).toBe("noSpace");
    expect(diagnose("Segmentation fault")).toBe("other");
  });

  it("keeps the last lines that say something", () => {
    expect(lastLines("one\n\n two \r\n[notice] A new release\nthree\n", 2)).toEqual(["two", "three"]);
  });
});

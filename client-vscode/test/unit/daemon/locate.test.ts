import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chosen,
  commandOf,
  locate,
  programFiles,
  startFrom,
  type LocateQuery,
  type SettingLevels,
} from "../../../src/daemon/pure/locate.js";

function query(programs: readonly string[], changes: Partial<LocateQuery> = {}): LocateQuery {
  return {
    setting: { user: "", workspace: undefined },
    isTrusted: true,
    search: { platform: "linux", path: "/usr/local/bin:/usr/bin", extensions: "" },
    isProgram: (file) => Promise.resolve(programs.includes(file)),
    hasWheel: true,
    preferOwn: false,
    ...changes,
  };
}

describe("locate", () => {
  it("takes the command of the settings first", async () => {
    const located = await locate(
      query(["/opt/gc", "/usr/bin/gemini-companion"], { setting: { user: ["/opt/gc", "--x"], workspace: undefined } }),
    );
    expect(located).toEqual({ from: "setting", command: ["/opt/gc", "--x"] });
  });

  it("says which program of the settings is not there, and looks no further", async () => {
    expect(
      await locate(query(["/usr/bin/gemini-companion"], { setting: { user: "/gone", workspace: undefined } })),
    ).toEqual({ from: "nowhere", setting: "/gone" });
  });

  it("finds a bare name of the settings on PATH", async () => {
    const located = await locate(
      query(["/usr/bin/python3"], { setting: { user: ["python3", "-m", "gemini_companion"], workspace: undefined } }),
    );
    expect(located).toEqual({ from: "setting", command: ["/usr/bin/python3", "-m", "gemini_companion"] });
  });

  it("goes on to PATH, then to its own environment, then says that there is none", async () => {
    expect(await locate(query(["/usr/bin/gemini-companion"]))).toEqual({
      from: "path",
      command: ["/usr/bin/gemini-companion"],
    });
    expect(await locate(query([]))).toEqual({ from: "environment" });
    expect(await locate(query([], { hasWheel: false }))).toEqual({ from: "nowhere" });
  });

  it("passes over PATH where the person prefers the extension's own, but only if there is one", async () => {
    const programs = ["/usr/bin/gemini-companion"];
    expect(await locate(query(programs, { preferOwn: true }))).toEqual({ from: "environment" });
    expect(await locate(query(programs, { preferOwn: true, hasWheel: false }))).toMatchObject({ from: "path" });
  });

  it("ignores the folder's command while the workspace is not trusted, and keeps the person's own", async () => {
    const setting = { user: "/mine", workspace: "/theirs" };
    expect(await locate(query(["/mine", "/theirs"], { setting, isTrusted: false }))).toEqual({
      from: "setting",
      command: ["/mine"],
    });
    expect(await locate(query(["/mine", "/theirs"], { setting }))).toEqual({ from: "setting", command: ["/theirs"] });
  });
});

describe("chosen", () => {
  it("never yields a folder's value without trust", () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.anything(),
        (user, workspace) => chosen({ user, workspace }, false) === user || Number.isNaN(user),
      ),
    );
  });

  it("takes an empty folder setting as none", () => {
    for (const workspace of ["", [], null, undefined]) expect(chosen({ user: "u", workspace }, true)).toBe("u");
  });
});

describe("commandOf", () => {
  it("splits nothing at spaces", () => {
    expect(commandOf("/Program Files/gc")).toEqual(["/Program Files/gc"]);
  });

  it("refuses what is no command", () => {
    for (const setting of ["", "  ", [], [""], [1], ["a", 2], 7, null, undefined, {}, "a\0b"])
      expect(commandOf(setting)).toBeUndefined();
  });
});

describe("programFiles", () => {
  it("looks only into absolute folders of PATH: the others are the workspace's", () => {
    const search = { platform: "linux", path: ".:bin::/usr/bin/:./x", extensions: "" } as const;
    expect(programFiles("gc", search)).toEqual(["/usr/bin/gc"]);
  });

  it("takes no relative path", () => {
    expect(programFiles("./gc", { platform: "linux", path: "/usr/bin", extensions: "" })).toEqual([]);
    expect(programFiles("x\\gc", { platform: "win32", path: "C:\\bin", extensions: ".EXE" })).toEqual([]);
  });

  it("tries Windows' endings, and no script that would need a shell", () => {
    const search = { platform: "win32", path: 'C:\\bin;"D:\\b c";rel', extensions: ".COM;.EXE;.BAT;.CMD" } as const;
    expect(programFiles("gc", search)).toEqual([
      "C:\\bin\\gc.COM",
      "C:\\bin\\gc.EXE",
      "D:\\b c\\gc.COM",
      "D:\\b c\\gc.EXE",
    ]);
    expect(programFiles("C:\\x\\gc.exe", search)).toEqual(["C:\\x\\gc.exe"]);
  });
});

describe("what a start rests on", () => {
  const start = (command: SettingLevels, isTrusted: boolean, python: unknown = "") =>
    startFrom((key) => (key === "server.command" ? command : { user: python, workspace: undefined }), isTrusted);

  it("is the same before and after trust where the folder says nothing of it", () => {
    const command = { user: "/opt/gc", workspace: undefined };
    expect(start(command, true)).toBe(start(command, false));
    expect(start({ user: ["/opt/gc"], workspace: "" }, true)).toBe(start(command, false));
  });

  it("is another once the folder's program counts, or the person names another program or Python", () => {
    const command = { user: "/opt/gc", workspace: "/their/gc" };
    expect(start(command, true)).not.toBe(start(command, false));
    expect(start({ user: "/opt/gc2", workspace: undefined }, true)).not.toBe(
      start({ user: "/opt/gc", workspace: undefined }, true),
    );
    expect(start(command, true, "/usr/bin/python3")).not.toBe(start(command, true));
  });
});

/** Where the daemon is: decided without looking at a disk or a setting itself. */

/** A setting as the editor holds it: the person's own, and the folder's, which may be somebody else's. */
export interface SettingLevels {
  readonly user: unknown;
  readonly workspace: unknown;
}

export type Located =
  /** Program and arguments that come before `serve`. */
  | { readonly from: "setting" | "path"; readonly command: readonly [string, ...string[]] }
  /** The environment that the extension makes for itself. */
  | { readonly from: "environment" }
  /** `setting`: what the setting names is not there. */
  | { readonly from: "nowhere"; readonly setting?: string };

export interface LocateQuery {
  readonly setting: SettingLevels;
  readonly isTrusted: boolean;
  readonly search: ProgramSearch;
  /** Resolves to whether this is a file that may be run. */
  readonly isProgram: (file: string) => Promise<boolean>;
  /** Whether the extension carries the daemon's wheel. */
  readonly hasWheel: boolean;
  /** The person chose the extension's own daemon instead of the one on `PATH`. */
  readonly preferOwn: boolean;
}

/** Where programs are looked for. */
export interface ProgramSearch {
  readonly platform: NodeJS.Platform;
  /** The value of `PATH`. */
  readonly path: string;
  /** The value of `PATHEXT`, for Windows. */
  readonly extensions: string;
}

const PROGRAM = "gemini-companion";

/** The setting, else `gemini-companion` on `PATH`, else an environment of our own if there is a wheel to make it from. */
export async function locate(query: LocateQuery): Promise<Located> {
  const command = commandOf(chosen(query.setting, query.isTrusted));
  if (command !== undefined) {
    const program = await findProgram(command[0], query.search, query.isProgram);
    return program === undefined
      ? { from: "nowhere", setting: command[0] }
      : { from: "setting", command: [program, ...command.slice(1)] };
  }
  const onPath =
    query.preferOwn && query.hasWheel ? undefined : await findProgram(PROGRAM, query.search, query.isProgram);
  if (onPath !== undefined) return { from: "path", command: [onPath] };
  return query.hasWheel ? { from: "environment" } : { from: "nowhere" };
}

/** The value that counts: the folder's goes before the person's own, but only in a workspace that is trusted. */
export function chosen(levels: SettingLevels, isTrusted: boolean): unknown {
  return isTrusted && isSet(levels.workspace) ? levels.workspace : levels.user;
}

/** What the settings say of the daemon's start, its program and the Python for one of our own. Equal texts start the same. */
export function startFrom(
  read: (key: "server.command" | "server.python") => SettingLevels,
  isTrusted: boolean,
): string {
  const said = (["server.command", "server.python"] as const).map((key) => commandOf(chosen(read(key), isTrusted)));
  return JSON.stringify(said);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** A command out of the setting: the program's path, or a list of program and arguments. Nothing is split at spaces, and no shell reads it. */
export function commandOf(setting: unknown): readonly [string, ...string[]] | undefined {
  const words: readonly unknown[] = Array.isArray(setting) ? setting : [setting];
  const texts = words.filter((word): word is string => typeof word === "string" && !word.includes("\0"));
  const [program, ...rest] = texts;
  return program === undefined || program.trim() === "" || texts.length !== words.length
    ? undefined
    : [program.trim(), ...rest];
}

/** The first file that is a program of this name; a name with a separator is taken as the absolute path that it must be. */
async function findProgram(
  name: string,
  search: ProgramSearch,
  isProgram: (file: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const file of programFiles(name, search)) if (await isProgram(file)) return file;
  return undefined;
}

/** The files that a name may stand for, in order. Only absolute folders of `PATH` count: a relative one would be the workspace's. */
export function programFiles(name: string, search: ProgramSearch): string[] {
  const isWindows = search.platform === "win32";
  const suffixes =
    isWindows && !/\.[a-z]{3}$/i.test(name)
      ? search.extensions.split(";").filter((suffix) => /^\.(?:exe|com)$/i.test(suffix))
      : [""];
  if (isWindows ? /[\\/:]/.test(name) : name.includes("/"))
    return isAbsolute(name, isWindows) ? suffixes.map((suffix) => name + suffix) : [];
  const separator = isWindows ? "\\" : "/";
  const folders = search.path.split(isWindows ? ";" : ":").map((folder) => folder.replace(/^"(.*)"$/, "$1"));
  return folders
    .filter((folder) => isAbsolute(folder, isWindows))
    .flatMap((folder) => suffixes.map((suffix) => withoutLastSlashes(folder, isWindows) + separator + name + suffix));
}

function isAbsolute(path: string, isWindows: boolean): boolean {
  return isWindows ? /^(?:[a-z]:[\\/]|\\\\)/i.test(path) : path.startsWith("/");
}

function withoutLastSlashes(folder: string, isWindows: boolean): string {
  let end = folder.length;
  while (end > 0 && (folder[end - 1] === "/" || (isWindows && folder[end - 1] === "\\"))) end--;
  return folder.slice(0, end);
}

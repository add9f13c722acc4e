/** What tools did in the open chat and may do: its mode, the model's tasks, the files that were changed. */
import { DaemonFault, type DaemonPort } from "../daemon/port.js";
import type { Mode, Task, WorkView } from "../panel/contract.js";
import type {
  Change,
  ChangeList,
  CompanionEvent,
  RevertResult,
  SessionInfo,
  ToolQuestion,
  UnfinishedTurn,
} from "../protocol.gen.js";
import { changesView, NO_CHANGES, standing } from "./pure/changes.js";
import type { Words } from "./pure/toolRows.js";

const ENDS: ReadonlySet<string> = new Set(["turnCompleted", "turnFailed", "turnCancelled"]);

export interface WorkListener {
  /** Something that the panel shows around the transcript is another one. */
  changed(): void;
  /** The turn of the shown session that can be gone on with. */
  unfinished(turn: UnfinishedTurn | undefined): void;
}

export class Work {
  #sessionId: string | undefined;
  #mode: Mode = "ask";
  #tasks: readonly Task[] = [];
  #changes: WorkView["changes"] = NO_CHANGES;
  #listed: readonly Change[] = [];
  #reading: Promise<void> = Promise.resolve();
  #isDue = false;

  constructor(
    private readonly daemon: DaemonPort,
    private readonly words: Words,
    private readonly tell: WorkListener,
  ) {}

  get mode(): Mode {
    return this.#mode;
  }

  get tasks(): readonly Task[] {
    return this.#tasks;
  }

  get changes(): WorkView["changes"] {
    return this.#changes;
  }

  /** The changes of the session that stand, newest first; of one file if it is named. */
  changesOf(path?: string): readonly Change[] {
    return standing(this.#listed).filter((change) => path === undefined || change.path === path);
  }

  /** Another session is shown, of which nothing is known yet. */
  turnTo(info: SessionInfo | undefined): void {
    this.#sessionId = info?.sessionId;
    this.#mode = info?.mode ?? "ask";
    this.#tasks = [];
    this.#take({ changes: [] });
    this.tell.unfinished(undefined);
  }

  /** Another session is shown. Returns the questions that wait in it. */
  async open(info: SessionInfo | undefined): Promise<readonly ToolQuestion[]> {
    this.turnTo(info);
    if (info === undefined) return [];
    const { sessionId } = info;
    const [tools] = await Promise.all([
      optional(this.daemon.request("gemini/tools", { sessionId })),
      this.readChanges(),
    ]);
    if (tools === undefined || sessionId !== this.#sessionId) return [];
    this.#mode = tools.mode;
    this.#tasks = tools.todos ?? [];
    this.tell.unfinished(tools.unfinished);
    return tools.questions ?? [];
  }

  /** The chat that was not begun has its session now. */
  begun({ sessionId, mode = this.#mode }: SessionInfo): void {
    this.#sessionId = sessionId;
    this.#mode = mode;
  }

  apply(event: CompanionEvent): void {
    if (event.type === "modeChanged") this.#mode = event.mode;
    else if (event.type === "todosChanged") this.#tasks = event.todos;
    else if (event.type === "changesChanged") void this.readChanges();
    else if (ENDS.has(event.type) && !isComplete(event)) void this.#readUnfinished();
  }

  /** Never rejects. */
  async #readUnfinished(): Promise<void> {
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return;
    const tools = await optional(this.daemon.request("gemini/tools", { sessionId }));
    if (sessionId === this.#sessionId && tools !== undefined) this.tell.unfinished(tools.unfinished);
  }

  /** Read them anew; what comes meanwhile is read once more. Never rejects. */
  readChanges(): Promise<void> {
    if (this.#isDue) return this.#reading;
    this.#isDue = true;
    this.#reading = this.#reading.then(() => this.#readChanges());
    return this.#reading;
  }

  async setMode(sessionId: string, mode: Mode): Promise<void> {
    const set = await this.daemon.request("gemini/session/mode", { sessionId, mode });
    if (sessionId === this.#sessionId) this.#mode = set.mode;
    this.tell.changed();
  }

  async keep(path?: string): Promise<void> {
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return;
    const list = await this.daemon.request("gemini/changes/keep", {
      sessionId,
      ...(path === undefined ? {} : { path }),
    });
    if (sessionId === this.#sessionId) this.#take(list);
  }

  /** Put files back, or say what that would do; of the shown session if no other is named. Rejects with `DaemonFault`. */
  async revert(
    what: {
      readonly path?: string;
      readonly since?: string;
      readonly changeId?: string;
      readonly dryRun?: boolean;
    },
    sessionId = this.#sessionId,
  ): Promise<RevertResult> {
    const result = await this.daemon.request("gemini/changes/revert", {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...what,
    });
    if (what.dryRun !== true) await this.readChanges();
    return result;
  }

  async #readChanges(): Promise<void> {
    this.#isDue = false;
    const sessionId = this.#sessionId;
    if (sessionId === undefined) return;
    const list = await optional(this.daemon.request("gemini/changes", { sessionId }));
    if (list !== undefined && sessionId === this.#sessionId) this.#take(list);
  }

  #take(list: ChangeList): void {
    this.#listed = list.changes;
    this.#changes = changesView(list, this.words);
    this.tell.changed();
  }
}

/** A turn that ended with all it had to say: there is nothing to go on with. */
function isComplete(event: CompanionEvent): boolean {
  return event.type === "turnCompleted" && (event.finishReason === "" || event.finishReason === "STOP");
}

/** What the chat can be shown without: a refusal leaves it out. */
async function optional<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DaemonFault) return undefined;
    throw error;
  }
}

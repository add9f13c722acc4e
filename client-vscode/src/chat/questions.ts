/** What the daemon asks this window's person: whether a tool may act, and what the model wants to know. Answered from the panel. */
import { EventEmitter, type CancellationToken, type Disposable, type Event } from "vscode";
import type { FromPage } from "../panel/contract.js";
import type {
  AskUserParams,
  AskUserResult,
  ConfirmToolParams,
  ConfirmToolResult,
  ToolQuestion,
} from "../protocol.gen.js";
import type { Conversation } from "./pure/conversation.js";
import { goesOn, settle } from "./pure/toolEvents.js";
import { askedTool, askingTool, questionView, rowOfQuestion, toolRow } from "./pure/toolRows.js";
import { readArguments } from "./pure/toolArguments.js";

type Answer = Extract<FromPage, { readonly type: "answerTool" }>;

interface PendingOf<P, R> {
  readonly params: P;
  readonly settle: (result: R) => void;
}

type Pending =
  | ({ readonly kind: "tool" } & PendingOf<ConfirmToolParams, ConfirmToolResult>)
  | ({ readonly kind: "user" } & PendingOf<AskUserParams, AskUserResult>);

/** A question as it came. */
export interface Asked {
  readonly sessionId: string;
  readonly callId: string;
  /** What it is about, in a few words. */
  readonly title: string;
}

const NOT_NOW: ConfirmToolResult = { outcome: "reject" };

export class Questions implements Disposable {
  /** By the id of the call, oldest first. */
  readonly #pending = new Map<string, Pending>();
  readonly #asked = new EventEmitter<Asked>();
  readonly #settled = new EventEmitter<string>();

  /** @param conversationOf the rows of a session, if this window has them */
  constructor(
    private readonly conversationOf: (sessionId: string) => Conversation | undefined,
    private readonly changed: () => void,
  ) {}

  get onDidAsk(): Event<Asked> {
    return this.#asked.event;
  }

  /** The id of a call whose question is settled, by whomever. */
  get onDidSettle(): Event<string> {
    return this.#settled.event;
  }

  /** Those of a session that wait, oldest first. */
  waiting(sessionId: string | undefined): readonly Asked[] {
    return [...this.#pending.values()].map(askedOf).filter((asked) => asked.sessionId === sessionId);
  }

  /** The sessions in which a question waits. */
  get asking(): readonly string[] {
    return [...this.#pending.values()].map(({ params }) => params.sessionId);
  }

  /** The question of a call, if it waits for an answer. */
  question(callId: string): ConfirmToolParams | undefined {
    const pending = this.#pending.get(callId);
    return pending?.kind === "tool" ? pending.params : undefined;
  }

  /** Resolves with the person's answer; with a no when the token says that nobody waits for it any more. */
  confirm(params: ConfirmToolParams, token: CancellationToken): Promise<ConfirmToolResult> {
    return this.#wait<ConfirmToolResult>(params.toolCallId, token, NOT_NOW, (settled) => ({
      kind: "tool",
      params,
      settle: settled,
    }));
  }

  /** Resolves with the person's answer; without one when it is not wanted any more. */
  ask(params: AskUserParams, token: CancellationToken): Promise<AskUserResult> {
    return this.#wait<AskUserResult>(params.toolCallId, token, {}, (settled) => ({
      kind: "user",
      params,
      settle: settled,
    }));
  }

  /** The person answered. False if nobody waits for it, or if what was edited is no object of arguments. */
  answer({ callId, outcome, reason, edited, rule }: Omit<Answer, "type">, editedContent?: string): boolean {
    const pending = this.#pending.get(callId);
    if (pending?.kind !== "tool") return false;
    const { params } = pending;
    const editedArgs = edited === undefined ? undefined : argumentsOf(params, edited);
    if (edited !== undefined && editedArgs === undefined) return false;
    pending.settle({
      outcome,
      ...(editedArgs === undefined ? {} : { editedArgs }),
      ...(editedContent === undefined ? {} : { editedContent }),
      ...(reason === undefined || reason.trim() === "" ? {} : { reason: reason.trim() }),
      ...(rule === undefined || rule.trim() === "" || !params.rule ? {} : { rule: ruleOf(params.rule, rule) }),
    });
    return true;
  }

  answerUser(callId: string, answer: string | undefined): void {
    const pending = this.#pending.get(callId);
    if (pending?.kind === "user") pending.settle(answer === undefined ? {} : { answer });
  }

  /** Another session is shown, or its transcript was read again: what waits in it stands in its rows. */
  show(sessionId: string, elsewhere: readonly ToolQuestion[] = []): void {
    for (const question of elsewhere) if (!this.#pending.has(question.toolCallId)) this.#showTool(question, false);
    for (const pending of this.#pending.values())
      if (pending.params.sessionId === sessionId) this.#showPending(pending);
  }

  /** The daemon is gone, and its questions with it. */
  lost(): void {
    for (const pending of [...this.#pending.values()]) dismiss(pending);
  }

  dispose(): void {
    this.lost();
    this.#asked.dispose();
    this.#settled.dispose();
  }

  #wait<R>(
    callId: string,
    token: CancellationToken,
    dismissed: R,
    make: (settled: (result: R) => void) => Pending,
  ): Promise<R> {
    if (token.isCancellationRequested) return Promise.resolve(dismissed);
    return new Promise((resolve) => {
      const settled = (result: R): void => {
        if (this.#pending.get(callId) !== pending) return;
        subscription.dispose();
        this.#pending.delete(callId);
        const conversation = this.conversationOf(pending.params.sessionId);
        if (conversation) settle(conversation, callId, conversation.now());
        resolve(result);
        this.#settled.fire(callId);
        this.changed();
      };
      const pending = make(settled);
      const before = this.#pending.get(callId);
      if (before !== undefined) dismiss(before);
      const subscription = token.onCancellationRequested(() => settled(dismissed));
      this.#pending.set(callId, pending);
      this.#showPending(pending);
      this.#asked.fire(askedOf(pending));
      this.changed();
    });
  }

  #showPending(pending: Pending): void {
    if (pending.kind === "tool") this.#showTool(pending.params, true);
    else this.#showAsking(pending.params);
  }

  #showTool(question: ToolQuestion, isOurs: boolean): void {
    const conversation = this.conversationOf(question.sessionId);
    if (conversation === undefined) return;
    const { toolCallId: id, turnId } = question;
    const found = conversation.tool(id);
    const at = conversation.answer(turnId)?.text.length ?? 0;
    const tool = found?.tool ?? rowOfQuestion(question, at, conversation);
    conversation.setTool(found?.turnId ?? turnId, askedTool(tool, questionView(question, isOurs)));
    goesOn(conversation, found?.turnId ?? turnId, conversation.now());
  }

  #showAsking(params: AskUserParams): void {
    const conversation = this.conversationOf(params.sessionId);
    const found = conversation?.tool(params.toolCallId);
    const turnId = found?.turnId ?? conversation?.runningAnswer?.turnId;
    if (conversation === undefined || turnId === undefined) return;
    const at = conversation.answer(turnId)?.text.length ?? 0;
    const { toolCallId: id, question } = params;
    const tool = found?.tool ?? toolRow({ id, name: "ask_user", args: { question }, at }, "waiting", conversation);
    conversation.setTool(turnId, askingTool(tool, params));
    goesOn(conversation, turnId, conversation.now());
  }
}

function dismiss(pending: Pending): void {
  if (pending.kind === "tool") pending.settle(NOT_NOW);
  else pending.settle({});
}

function askedOf({ kind, params }: Pending): Asked {
  const { sessionId, toolCallId: callId } = params;
  return { sessionId, callId, title: kind === "tool" ? params.title : params.question };
}

/** The arguments with the edited command line in them, or those of the edited JSON. */
function argumentsOf(
  { command, args }: ConfirmToolParams,
  edited: string,
): Readonly<Record<string, unknown>> | undefined {
  if (command === undefined || args["command"] !== command) return readArguments(edited);
  return edited.trim() === "" ? undefined : { ...args, command: edited };
}

/** The rule as the person wrote it: the first words of a command, no longer all of them, or a pattern of paths. */
function ruleOf(rule: NonNullable<ToolQuestion["rule"]>, written: string): NonNullable<ConfirmToolResult["rule"]> {
  const words = written.trim().split(/\s+/);
  if (rule.command) return { ...rule, command: words, exact: false };
  // Of a server's tool the tool itself is written: another name of it, such as that of all tools of its server.
  if (rule.path === undefined) return { ...rule, tool: written.trim() };
  return { ...rule, path: written.trim() };
}

/** The problems that the editor reports, and whether they are about the text as it is now. */
import {
  DiagnosticSeverity,
  Uri,
  languages,
  workspace,
  type CancellationToken,
  type Diagnostic,
  type Disposable,
} from "vscode";
import type { EditorDiagnostic, EditorFileDiagnostics } from "../protocol.gen.js";

/** Longest wait for newer problems, ms. */
const LONGEST_WAIT_MS = 30_000;
/** Most files, and most problems of each, in one answer. */
const MOST_FILES = 100;
const MOST_PROBLEMS = 200;

const SEVERITIES: Readonly<Record<DiagnosticSeverity, EditorDiagnostic["severity"]>> = {
  [DiagnosticSeverity.Error]: "error",
  [DiagnosticSeverity.Warning]: "warning",
  [DiagnosticSeverity.Information]: "information",
  [DiagnosticSeverity.Hint]: "hint",
};

export class Problems implements Disposable {
  /** The version of each open document that its newest problems came for, by URI. */
  readonly #versions = new Map<string, number>();
  readonly #subscriptions: readonly Disposable[] = [
    languages.onDidChangeDiagnostics(({ uris }) => {
      for (const uri of uris) {
        const version = versionOf(uri);
        if (version !== undefined) this.#versions.set(uri.toString(), version);
      }
    }),
    workspace.onDidCloseTextDocument(({ uri }) => this.#versions.delete(uri.toString())),
  ];

  /**
   * The problems of each file, once there are newer ones for those whose problems are older than their text, or the time is over.
   *
   * @param paths absolute
   */
  async of(paths: readonly string[], waitMs: number, token: CancellationToken): Promise<EditorFileDiagnostics[]> {
    const files = paths.slice(0, MOST_FILES).map((path) => ({ path, uri: Uri.file(path) }));
    const late = new Set(files.map(({ uri }) => uri.toString()).filter((uri) => !this.#isCurrent(uri)));
    if (late.size > 0 && waitMs > 0) await this.#news(late, Math.min(waitMs, LONGEST_WAIT_MS), token);
    return files.map(({ path, uri }) => ({
      path,
      diagnostics: languages.getDiagnostics(uri).slice(0, MOST_PROBLEMS).map(problemOf),
      isCurrent: !late.has(uri.toString()),
    }));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /** Whether the problems of an open document are about its text. Of other files nobody can tell before news of them come. */
  #isCurrent(uri: string): boolean {
    const version = versionOf(Uri.parse(uri));
    return version !== undefined && this.#versions.get(uri) === version;
  }

  /** Takes out of `late` what news come of; resolves when it is empty, or the time is over. */
  #news(late: Set<string>, waitMs: number, token: CancellationToken): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        for (const subscription of subscriptions) subscription.dispose();
        resolve();
      };
      const subscriptions = [
        languages.onDidChangeDiagnostics(({ uris }) => {
          for (const uri of uris) late.delete(uri.toString());
          if (late.size === 0) done();
        }),
        token.onCancellationRequested(done),
      ];
      const timer = setTimeout(done, waitMs);
    });
  }
}

function versionOf(uri: Uri): number | undefined {
  return workspace.textDocuments.find((document) => document.uri.toString() === uri.toString())?.version;
}

function problemOf({ range, severity, message, source, code }: Diagnostic): EditorDiagnostic {
  const name = typeof code === "object" ? code.value : code;
  return {
    line: range.start.line + 1,
    severity: SEVERITIES[severity],
    message,
    ...(source === undefined ? {} : { source }),
    ...(name === undefined ? {} : { code: String(name) }),
  };
}

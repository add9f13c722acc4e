/**
 * What only the extension host can see, checked inside the real one against a daemon that this module plays: the handshake, what is told of
 * the editor, the daemon's own questions, a crash. Bundled and started by `test/e2e/host.e2e.ts`.
 */
import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { patiently } from "../e2e/support/patience.js";
import type {
  DiagnosticsResult,
  IdeContextParams,
  InitializationOptions,
  OpenDiffResult,
} from "../../src/protocol.gen.js";
import { Checks } from "./checks.js";
import { ScriptedDaemon } from "./scriptedDaemon.js";

const EXTENSION = "gemini-companion.gemini-companion";

/** The extension host's entry into a test module. */
export async function run(): Promise<void> {
  const { COMPANION_HOST_SOCKET: socket, COMPANION_HOST_OUTCOMES: target } = process.env;
  if (socket === undefined || target === undefined)
    throw new Error("COMPANION_HOST_SOCKET and COMPANION_HOST_OUTCOMES have to be set.");
  const daemon = await ScriptedDaemon.listen(socket);
  const checks = new Checks();
  aboutTheConnection(checks, daemon);
  aboutTheEditor(checks, daemon);
  aboutDiffs(checks, daemon);
  aboutTools(checks, daemon);
  aboutCrashes(checks, daemon);
  const outcomes = await checks.run();
  daemon.close();
  writeFileSync(target, JSON.stringify(outcomes));
}

function aboutTheConnection(checks: Checks, daemon: ScriptedDaemon): void {
  checks.check("activation starts no daemon", async () => {
    await patiently("the extension is active", () => vscode.extensions.getExtension(EXTENSION)?.isActive || undefined);
    assert.equal(daemon.starts, 0);
  });
  checks.check("a command starts it, and the handshake says who asks and what it can do", async () => {
    await vscode.commands.executeCommand("geminiCompanion.restartDaemon");
    await daemon.isStarted(1);
    const params = (await daemon.receives("initialize")) as {
      initializationOptions: InitializationOptions;
      workspaceFolders: { uri: string }[];
    };
    const { trusted, supports, clientName } = params.initializationOptions;
    assert.equal(trusted, true);
    assert.deepEqual(supports?.toSorted(), ["askUser", "confirmTool", "diagnostics", "openDiff", "saveDocument"]);
    assert.ok(clientName);
    assert.deepEqual(
      params.workspaceFolders.map(({ uri }) => uri),
      [folder().toString()],
    );
  });
  checks.check("a setting of the daemon reaches it in its own words", async () => {
    await vscode.workspace
      .getConfiguration("geminiCompanion")
      .update("model", "gemini-scripted", vscode.ConfigurationTarget.Global);
    await daemon.receives("workspace/didChangeConfiguration", (params) =>
      JSON.stringify(params).includes('"model":{"name":"gemini-scripted"}'),
    );
    await vscode.workspace
      .getConfiguration("geminiCompanion")
      .update("model", undefined, vscode.ConfigurationTarget.Global);
  });
}

function aboutTheEditor(checks: Checks, daemon: ScriptedDaemon): void {
  checks.check("an opened file and what is typed in it are told", async () => {
    const editor = await show("src/tokenizer.py");
    const uri = editor.document.uri.toString(); // the editor opens documents of its own too
    const opened = (await daemon.receives("textDocument/didOpen", (params) =>
      JSON.stringify(params).includes(uri),
    )) as {
      textDocument: { uri: string; text: string };
    };
    assert.equal(opened.textDocument.uri, uri);
    assert.equal(opened.textDocument.text, editor.document.getText());
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "# typed\n"));
    await daemon.receives("textDocument/didChange", (params) => JSON.stringify(params).includes("# typed"));
  });
  checks.check("the active file goes along with cursor, selection and what is seen of it", async () => {
    const editor = await show("src/report.py");
    editor.selection = new vscode.Selection(2, 0, 2, 31);
    const context = (await daemon.receives("gemini/ideContext/didChange", (params) =>
      JSON.stringify(params).includes("from collections import"),
    )) as IdeContextParams;
    const active = context.openFiles.filter(({ isActive }) => isActive);
    assert.equal(active.length, 1);
    assert.equal(active[0]?.uri, editor.document.uri.toString());
    assert.deepEqual(active[0].selection, { start: { line: 2, character: 0 }, end: { line: 2, character: 31 } });
    assert.deepEqual(active[0].cursor, { line: 2, character: 31 });
    assert.ok(context.visibleRanges?.some(({ uri }) => uri === active[0]?.uri));
    assert.ok(
      context.openFiles.some(({ uri, isActive }) => uri.endsWith("/tokenizer.py") && !isActive),
      "the other tab is an open file too",
    );
    assert.equal(context.isTrusted, true);
  });
  checks.check("a text that was never saved goes along", async () => {
    const untitled = await vscode.workspace.openTextDocument({ content: "a thought of mine", language: "plaintext" });
    await vscode.window.showTextDocument(untitled);
    await daemon.receives("gemini/ideContext/didChange", (params) =>
      (params as IdeContextParams).openFiles.some(
        ({ uri, text }) => uri.startsWith("untitled:") && text === "a thought of mine",
      ),
    );
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  });
  checks.check("a file that was closed is open no more", async () => {
    const seen = daemon.received.length;
    await show("src/report.py");
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    await daemon.receives(
      "gemini/ideContext/didChange",
      (params) => !JSON.stringify((params as IdeContextParams).openFiles).includes("/report.py"),
      seen,
    );
  });
}

function aboutDiffs(checks: Checks, daemon: ScriptedDaemon): void {
  const path = join(folder().fsPath, "src/parser.py");
  const proposed = "def parse(arguments):\n    return {}\n";
  const propose = async (
    file = path,
  ): Promise<{ readonly answer: Promise<OpenDiffResult>; readonly right: vscode.Uri }> => {
    const answer = daemon.ask("gemini/openDiff", { path: file, newContent: proposed }) as Promise<OpenDiffResult>; // its type is the contract
    const input = await patiently("a diff editor is shown", () => {
      const shown = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      return shown instanceof vscode.TabInputTextDiff ? shown : undefined;
    });
    const right = await vscode.workspace.openTextDocument(input.modified);
    assert.equal(right.getText(), proposed);
    return { answer, right: input.modified };
  };
  checks.check("a proposed change that is accepted as it is", async () => {
    const { answer } = await propose();
    await vscode.commands.executeCommand("geminiCompanion.acceptDiff");
    const { outcome, content } = await answer;
    assert.equal(outcome, "accepted");
    assert.ok(content === undefined || content === null || content === proposed);
    assert.ok(!(await textOf(path)).includes("return {}"), "the extension does not write: the daemon's caller does");
  });
  checks.check("a proposed change that was edited first", async () => {
    const { answer, right } = await propose();
    const edit = new vscode.WorkspaceEdit();
    edit.insert(right, new vscode.Position(0, 0), "# mine\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await vscode.commands.executeCommand("geminiCompanion.acceptDiff");
    assert.deepEqual(await answer, { outcome: "accepted", content: `# mine\n${proposed}` });
  });
  checks.check("a proposed change that is rejected", async () => {
    const { answer } = await propose();
    await vscode.commands.executeCommand("geminiCompanion.rejectDiff");
    assert.equal((await answer).outcome, "rejected");
  });
  checks.check("closing the diff rejects it", async () => {
    const { answer } = await propose();
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    assert.equal((await answer).outcome, "rejected");
  });
  checks.check("a file that does not exist yet is compared with nothing", async () => {
    const { answer } = await propose(join(folder().fsPath, "src/new.py"));
    await vscode.commands.executeCommand("geminiCompanion.rejectDiff");
    assert.equal((await answer).outcome, "rejected");
  });
}

function aboutTools(checks: Checks, daemon: ScriptedDaemon): void {
  checks.check("a question of a tool that the daemon takes back is no yes", async () => {
    const source = new vscode.CancellationTokenSource();
    const question = {
      sessionId: "s",
      turnId: "t",
      toolCallId: "c",
      name: "run_shell_command",
      title: "Run make test",
      risk: "command",
      args: { command: "make test" },
    };
    const answer = daemon.ask("gemini/confirmTool", question, source.token);
    source.cancel();
    assert.deepEqual(await answer, { outcome: "reject" });
  });
  checks.check(
    "the problems that the editor reports, with those of a file that nobody looks at as old ones",
    async () => {
      const editor = await show("src/report.py");
      const { uri } = editor.document;
      const collection = vscode.languages.createDiagnosticCollection("checks");
      const problem = new vscode.Diagnostic(new vscode.Range(1, 0, 1, 4), "is not defined");
      problem.source = "checks";
      problem.code = { value: "E1", target: uri };
      const other = join(folder().fsPath, "src/parser.py");
      const answer = daemon.ask("gemini/diagnostics", { paths: [uri.fsPath, other], waitMs: 1_000 });
      collection.set(uri, [problem]);
      assert.deepEqual(await answer, {
        files: [
          {
            path: uri.fsPath,
            diagnostics: [{ line: 2, severity: "error", message: "is not defined", source: "checks", code: "E1" }],
            isCurrent: true,
          },
          { path: other, diagnostics: [], isCurrent: false },
        ],
      });
      await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "# newer\n"));
      const { files } = (await daemon.ask("gemini/diagnostics", { paths: [uri.fsPath] })) as DiagnosticsResult; // its type is the contract
      assert.equal(files[0]?.isCurrent, false, "the text is newer than its problems");
      collection.dispose();
      await vscode.commands.executeCommand("undo");
    },
  );
  checks.check("an edit of an open document, and none of an older version of it", async () => {
    const { document } = await show("src/report.py");
    const edit = (version: number, text: string): unknown => ({
      edit: {
        documentChanges: [
          {
            textDocument: { uri: document.uri.toString(), version },
            edits: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, newText: text }],
          },
        ],
      },
    });
    const { version } = document;
    assert.deepEqual(await daemon.ask("workspace/applyEdit", edit(version, "# by a tool\n")), { applied: true });
    assert.ok(document.getText().startsWith("# by a tool\n"));
    assert.deepEqual(await daemon.ask("workspace/applyEdit", edit(version, "# late\n")), { applied: false });
    await vscode.commands.executeCommand("undo");
  });
}

function aboutCrashes(checks: Checks, daemon: ScriptedDaemon): void {
  checks.check("after a crash it is started again, and told what the editor shows", async () => {
    const editor = await show("src/tokenizer.py");
    const seen = daemon.received.length;
    daemon.crash();
    await daemon.isStarted(2);
    await daemon.receives(
      "gemini/ideContext/didChange",
      (params) => JSON.stringify(params).includes(editor.document.uri.toString()),
      seen,
    );
    await daemon.receives(
      "textDocument/didOpen",
      (params) => JSON.stringify(params).includes(editor.document.uri.toString()),
      seen,
    );
  });
}

function folder(): vscode.Uri {
  const first = vscode.workspace.workspaceFolders?.[0];
  if (first === undefined) throw new Error("No folder is open.");
  return first.uri;
}

async function show(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(vscode.Uri.joinPath(folder(), path), { preview: false });
}

async function textOf(path: string): Promise<string> {
  return Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.file(path))).toString("utf8");
}

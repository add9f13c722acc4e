/** The pieces of the editor's API that are plain code, from the library that the editor shares them with. Nothing else is pretended. */
export { CancellationTokenSource, Emitter as EventEmitter } from "vscode-jsonrpc";

/** As the editor's own, as far as a test needs it. */
export class Disposable {
  constructor(readonly dispose: () => unknown) {}
}

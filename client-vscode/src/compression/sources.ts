/** Where the lines of a snapshot come from: each line of its document that has a source leads to the turns that it folds. */
import {
  DocumentLink,
  Position,
  Range,
  Uri,
  commands,
  languages,
  window,
  type Disposable,
  type DocumentLinkProvider,
  type TextDocument,
} from "vscode";
import type { NamedPlace } from "../chat/places.js";
import type { Translate } from "../chat/pure/words.js";
import type { DaemonPort } from "../daemon/port.js";
import type { CompressionSources } from "../protocol.gen.js";
import { TextViews, VIEW_SCHEME } from "./documents.js";
import { inform } from "../toasts.js";

const COMMAND = "geminiCompanion.showSource";

type SourcedLine = CompressionSources["lines"][number];

interface Sourced {
  readonly sessionId: string;
  /** By line, from 0. */
  readonly lines: ReadonlyMap<number, SourcedLine>;
}

export interface SourceNeeds {
  readonly daemon: DaemonPort;
  readonly show: (place: NamedPlace) => Promise<void>;
  /** What a turn is called: how its prompt begins. */
  readonly nameOf: (turnId: string) => string | undefined;
  readonly t: Translate;
}

export class SnapshotSources implements DocumentLinkProvider, Disposable {
  readonly #documents = new Map<string, Sourced>();
  readonly #registrations: readonly Disposable[];

  constructor(private readonly needs: SourceNeeds) {
    this.#registrations = [
      languages.registerDocumentLinkProvider({ scheme: VIEW_SCHEME }, this),
      commands.registerCommand(COMMAND, (...args: unknown[]) => this.#open(args)),
    ];
  }

  /** Asks where the lines of a snapshot come from, for the document that is about to show it. Rejects with `DaemonFault`. */
  async learn(path: string, sessionId: string, compressionId: string): Promise<void> {
    const { lines } = await this.needs.daemon.request("gemini/compression/sources", { sessionId, compressionId });
    this.#documents.set(TextViews.uri(path).toString(), {
      sessionId,
      lines: new Map(lines.map((line) => [line.line, line])),
    });
  }

  /** The document shows something else than what the daemon knows. */
  forget(path: string): void {
    this.#documents.delete(TextViews.uri(path).toString());
  }

  provideDocumentLinks(document: TextDocument): DocumentLink[] {
    const sourced = this.#documents.get(document.uri.toString());
    if (sourced === undefined) return [];
    return [...sourced.lines.keys()].flatMap((line) => {
      if (line >= document.lineCount) return [];
      const { text, firstNonWhitespaceCharacterIndex: start } = document.lineAt(line);
      if (text.trim() === "") return [];
      const range = new Range(new Position(line, start), new Position(line, text.trimEnd().length));
      const link = new DocumentLink(range, commandUri(document.uri, line));
      link.tooltip = this.needs.t("Show where this comes from");
      return [link];
    });
  }

  dispose(): void {
    for (const registration of this.#registrations) registration.dispose();
  }

  /** By a click on a link, or from the palette for the line of the cursor. */
  async #open([named, at]: readonly unknown[]): Promise<void> {
    const editor = window.activeTextEditor;
    const uri = typeof named === "string" ? named : editor?.document.uri.toString();
    const line = typeof at === "number" ? at : editor?.selection.active.line;
    const { t } = this.needs;
    const sourced = uri === undefined ? undefined : this.#documents.get(uri);
    const source = line === undefined ? undefined : sourced?.lines.get(line);
    if (sourced === undefined || source === undefined) {
      void inform(t("No source is known for this line."));
      return;
    }
    const document = window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri)?.document;
    const hasLine = document !== undefined && source.line < document.lineCount; // it may be shorter by now
    const words = hasLine ? document.lineAt(source.line).text : "";
    const place = await this.#choose(source);
    if (place !== undefined) await this.needs.show({ ...place, sessionId: sourced.sessionId, words });
  }

  /** The place of a line that has one source, else the one that the person picks. */
  async #choose({ turnIds, entryIds }: SourcedLine): Promise<Pick<NamedPlace, "turnId" | "entryId"> | undefined> {
    const { t, nameOf } = this.needs;
    const [first] = turnIds;
    if (turnIds.length <= 1) return first === undefined ? { entryId: entryIds[0] } : { turnId: first };
    const items = turnIds.map((turnId) => ({ label: nameOf(turnId) ?? turnId, turnId }));
    const chosen = await window.showQuickPick(items, { title: t("This line comes from several turns") });
    return chosen && { turnId: chosen.turnId };
  }
}

function commandUri(document: Uri, line: number): Uri {
  return Uri.parse(`command:${COMMAND}?${encodeURIComponent(JSON.stringify([document.toString(), line]))}`);
}

export interface CollectedTexts {
  readonly texts: string[];
  /** Calls whose text nobody can tell by reading. */
  readonly unknown: string[];
}

export declare function textsOf(name: string, source: string): CollectedTexts;

export declare function collect(): { readonly bundle: string; readonly unknown: string[] };

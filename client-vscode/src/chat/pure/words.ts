/** How interface texts are made: `t("{0} files", 3)`. The real one is `vscode.l10n.t`. */
export type Translate = (text: string, ...args: (string | number)[]) => string;

/** English, with the placeholders filled in. */
export const english: Translate = (text, ...args) =>
  text.replace(/\{(\d+)\}/g, (whole, index: string) => String(args[Number(index)] ?? whole));

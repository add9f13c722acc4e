/** Every regular expression of the extension and of the panel's page, found in the sources. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join, relative } from "node:path";
import ts from "typescript";

export interface Expression {
  /** The file and the line. */
  readonly where: string;
  readonly expression: RegExp;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Files that make expressions at run time: how many calls, and an example of each kind of expression that comes of them. */
const BUILT: Readonly<Record<string, { readonly calls: number; readonly examples: readonly RegExp[] }>> = {
  "src/chat/pure/finding.ts": { calls: 1, examples: [/aab/gu, /é1/giu] },
  "src/daemon/pure/fileLocation.ts": {
    calls: 2,
    examples: [
      /^(?<place>(?:\/|[A-Za-z]:[\\/]|\\\\)[^\r\n]*?:\d{1,9}:\d{1,9}): /,
      /^(?<place>(?:\/|[A-Za-z]:[\\/]|\\\\)[^\r\n]*?[\\/]settings\.json): /,
    ],
  },
  "webview/transcript/markdown/bidi.ts": { calls: 1, examples: [/([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/g] },
  "webview/transcript/markdown/cutter.ts": { calls: 1, examples: [/^ {0,3}```[~`]* *$/, /^ {0,3}~~~[~`]* *$/] },
};

/** All literals, and the examples of those that are made at run time. Throws for a file with some that are not listed. */
export function expressions(): Expression[] {
  return ["src", "webview"].flatMap((folder) => filesIn(join(ROOT, folder))).flatMap((file) => expressionsIn(file));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function expressionsIn(file: string): Expression[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const short = relative(ROOT, file);
  const found: Expression[] = [];
  let calls = 0;
  const visit = (node: ts.Node): void => {
    const where = `${short}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) {
      const [, body = "", flags = ""] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? [];
      found.push({ where, expression: new RegExp(body, flags) });
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "RegExp") {
      calls++;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const built = BUILT[short];
  if (calls !== (built?.calls ?? 0)) throw new Error(`the expressions that ${short} makes at run time are not listed`);
  return [...found, ...(built?.examples ?? []).map((expression) => ({ where: `${short} (made)`, expression }))];
}

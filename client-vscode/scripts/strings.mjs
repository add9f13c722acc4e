// The texts of the interface: node scripts/strings.mjs [--check]
// Writes l10n/bundle.l10n.json, from which translations are made; with --check it only compares. The texts of package.json stand in
// package.nls.json.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "l10n", "bundle.l10n.json");

/** Texts that stand in a table and are translated where they are shown: the constant's name, and the properties that are texts (all, if none is named). */
const TABLES = {
  ANSWER_STATES: ["line", "lineIfEmpty", "lineIfLong", "announcement"],
  ANSWERING: ["announcement"],
  PROMPT_OUTCOMES: [],
  TOOL_STATES: ["note", "announcement"],
  TOOLS: ["title"],
  MODES: ["label", "short", "description", "announcement"],
  RULE_DECISIONS: [],
  RULE_SOURCES: [],
  AGENT_SOURCES: [],
  SETTING_LAYERS: [],
  HOOK_STATES: ["label"],
  HOOK_LAYERS: [],
  HOOK_OUTCOMES: [],
  SUBJECTS: [],
  NARROWED: [],
  TASK_STATES: [],
  NOTICE_LEVELS: [],
  COMPRESSION_ACTIONS: [],
  COMPRESSION_PHASES: [],
  DIVIDER_STATES: ["title", "titleIfAuto", "titleIfBackground", "sentence", "announcement", "announcementWithSize"],
  KEEP: ["label"],
  RULE_STANDINGS: ["label", "announcement"],
  FACT_KINDS: [],
  STRATEGIES: [],
  LABELS: [],
  partLabels: [],
  PURPOSES: [],
  slashCommands: ["argument", "description"],
};
/** Where a variable is translated: what it holds comes from a table above, or from a caller that is looked at itself. */
const PASSED_ON =
  /^(?:text|message|label|title|note|announcement|argument|description|one|other|partLabels\[name\]|TASK_STATES\[task\.status\]|command\.(?:argument|description)|(?:look|\w+Look\([^)]*\)|[A-Z_]+\[[\w.]+\])\.\w+)$/;

/**
 * What a source translates: the first argument of `t(…)`, `l10n.t(…)`, `chat.t(…)`, both texts of `plural(…)`, and the tables.
 *
 * @returns {{texts: string[], unknown: string[]}} `unknown`: calls whose text nobody can tell by reading
 */
export function textsOf(name, source) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const texts = [];
  const unknown = [];
  const take = (node) => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    else if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(take);
    else if (ts.isParenthesizedExpression(node)) take(node.expression);
    else if (!PASSED_ON.test(node.getText(file))) unknown.push(`${name}: ${node.getText(file)}`);
  };
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const callee = ts.isPropertyAccessExpression(node.expression)
        ? node.expression.name.text
        : node.expression.getText(file);
      if (callee === "t" && node.arguments[0]) take(node.arguments[0]);
      if (callee === "plural") node.arguments.slice(1, 3).forEach(take);
    }
    if (
      ts.isVariableDeclaration(node) &&
      ts.isIdentifier(node.name) &&
      Object.hasOwn(TABLES, node.name.text) &&
      node.initializer
    )
      texts.push(...tableTexts(node.initializer, TABLES[node.name.text]));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { texts, unknown };
}

/** Without named properties: every value of an object, and of a pair of a key and a text the text. */
function tableTexts(table, properties) {
  const found = [];
  const visit = (node) => {
    if (ts.isPropertyAssignment(node)) {
      const isText = properties.length === 0 || properties.includes(node.name.getText());
      if (ts.isStringLiteralLike(node.initializer)) {
        if (isText && node.initializer.text !== "") found.push(node.initializer.text);
        return;
      }
    }
    if (
      properties.length === 0 &&
      ts.isArrayLiteralExpression(node) &&
      node.elements.length === 2 &&
      node.elements.every(ts.isStringLiteralLike)
    )
      found.push(node.elements[1].text);
    else ts.forEachChild(node, visit);
  };
  visit(table);
  return found;
}

/** The bundle's text, and the calls that it cannot cover. */
export function collect() {
  const files = ["src", "webview"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => join(root, folder, file)),
  );
  const read = files
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => textsOf(relative(root, file), readFileSync(file, "utf8")));
  const texts = [...new Set(read.flatMap((one) => one.texts))].sort();
  return {
    bundle: `${JSON.stringify(Object.fromEntries(texts.map((text) => [text, text])), undefined, 2)}\n`,
    unknown: read.flatMap((one) => one.unknown),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { bundle, unknown } = collect();
  const isStale = !existsSync(target) || readFileSync(target, "utf8") !== bundle;
  if (unknown.length > 0) process.stderr.write(`Texts that cannot be collected:\n${unknown.join("\n")}\n`);
  if (!process.argv.includes("--check")) writeFileSync(target, bundle);
  else if (isStale)
    process.stderr.write("l10n/bundle.l10n.json is out of date: node scripts/strings.mjs in client-vscode\n");
  if (unknown.length > 0 || (isStale && process.argv.includes("--check"))) process.exitCode = 1;
}

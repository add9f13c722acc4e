import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["**/*.d.mts", "**/*.d.cts", "*.cjs", "out/", "node_modules/", "artifacts/", "server/", "src/*.gen.ts"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ["vitest.config.ts"] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-dynamic-delete": "off",
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off", // the editor takes anything that can be disposed of
      "no-console": "error",
      "no-restricted-properties": ["error", { object: "document", property: "write", message: "Build nodes." }],
      "no-restricted-syntax": [
        "error",
        {
          selector: "AssignmentExpression[left.property.name=/^(innerHTML|outerHTML)$/]",
          message: "Only webview/transcript/sanitise.ts makes nodes from markup.",
        },
      ],
    },
  },
  {
    files: ["src/**"],
    ignores: ["src/toasts.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        ...["showInformationMessage", "showWarningMessage", "showErrorMessage"].map((property) => ({
          object: "window",
          property,
          message: "Use src/toasts.ts: VS Code makes links of commands in messages.",
        })),
      ],
    },
  },
  {
    // What is pure stays testable without an editor: no `vscode` outside the files that wire.
    files: ["src/**/pure/**", "src/panel/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: ["vscode"], allowTypeImports: true, message: "Pure: take what you need as an argument." },
          ],
        },
      ],
    },
  },
  {
    files: ["**/*.mjs"],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { projectService: false, program: null },
      globals: { process: "readonly", console: "readonly", URL: "readonly", fetch: "readonly", window: "readonly" },
    },
  },
  { files: ["test/browser/*.mjs"], rules: { "no-console": "off" } }, // they print what they measured
);

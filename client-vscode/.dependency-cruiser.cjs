// Which module may import which; types count too.
module.exports = {
  forbidden: [
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    {
      name: "page-knows-only-the-contract",
      comment: "The page and the host are two processes: they share messages, statuses and the protocol's types.",
      severity: "error",
      from: { path: "^webview/" },
      to: { path: "^src/", pathNot: "^src/(panel/|protocol\\.(schemas\\.)?gen\\.ts$)" },
    },
    { name: "host-knows-no-page", severity: "error", from: { path: "^src/" }, to: { path: "^webview/" } },
    { name: "no-tests", severity: "error", from: { path: "^(src|webview)/" }, to: { path: "^test/" } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
  },
};

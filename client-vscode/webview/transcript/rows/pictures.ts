/** The pictures of a prompt that was sent: small, with name and size; a click opens one in an editor. */
import type { Picture } from "../../../src/panel/pictures.js";
import { button, element } from "../element.js";
import { bytesText } from "../texts.js";
import type { RowContext } from "./rowView.js";

export function pictureList(pictures: readonly Picture[], { host, language }: RowContext): HTMLElement {
  const { t, locale } = language;
  return element(
    "ul",
    { class: "sent-pictures", "aria-label": t("Pictures") },
    ...pictures.map(({ digest, name, type, bytes }) => {
      const title = name === "" ? t("{0} picture", type.slice("image/".length).toUpperCase()) : name;
      const open = button("", () => host.send({ type: "openPicture", digest }), { title: t("Open {0}", title) });
      open.append(element("span", {}, title), " ", element("span", { class: "row-note" }, bytesText(bytes, locale)));
      void host.thumbnail(digest).then((address) => {
        if (address !== undefined) open.prepend(element("img", { src: address, alt: "" }));
      });
      return element("li", {}, open);
    }),
  );
}

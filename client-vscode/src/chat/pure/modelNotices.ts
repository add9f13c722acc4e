/** What is said of another model that answers. */
import type { ModelChanged } from "../../protocol.gen.js";
import type { Translate } from "./words.js";

export function changedModel(t: Translate, { to, reason }: ModelChanged): string {
  // That a person named it needs no explanation.
  return reason === "" || reason === "named in the request"
    ? t("{0} answers from here on.", to)
    : t("{0} answers from here on: {1}.", to, reason);
}

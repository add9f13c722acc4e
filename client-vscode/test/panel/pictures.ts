/** A picture for tests: a window with four lines, as a screenshot has them. */
import type { Picture } from "../../src/panel/pictures.js";

export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAGAAAABACAIAAABqVuVZAAAAlElEQVR42u3QMQ2AMBAAwCphYEQCUphQwFwRCCGdmZkRgRgMkI6k" +
  "31xyCi7N60FFUiBIkCBBggQJEsRn0DBOVAgSJEiQoIhB+d6bJUiQoP6DECRIkCBBcYOec+mSIEGCYgQhSJAgQYLiBt1b/pkgQYIE" +
  "IUiQIEGCeggq5QpKkCBBPQQhSJAgQYIECRIkCEGCBAlq1AuYtUXPiLeu2QAAAABJRU5ErkJggg==";

export const screenshot: Picture = {
  digest: "3599251dec7ecd73da363ce77af019fc851931b9223e503ee6a95cc7f9a9492f",
  name: "screenshot.png",
  type: "image/png",
  bytes: 205,
};

/** The same bytes under names that are harder to show. */
export const photo: Picture = {
  ...screenshot,
  digest: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
  name: "the-error-that-the-build-shows-since-yesterday-evening.heic",
  type: "image/heic",
  bytes: 2_345_678,
};

/** In base64, as the host tells it. */
export const shownAs = { type: screenshot.type, data: PNG };

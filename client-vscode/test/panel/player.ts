/** The bar above the played panel: which state, which theme, how wide. Rebuilt files are shown at once. */
import { fixtures } from "./fixtures.js";

const form = document.querySelector<HTMLFormElement>("#player");
const frame = document.querySelector("iframe");
if (form === null || frame === null) throw new Error("The page has no player.");
const { state, theme, width } = {
  state: form.elements.namedItem("state"),
  theme: form.elements.namedItem("theme"),
  width: form.elements.namedItem("width"),
};
if (
  !(state instanceof HTMLSelectElement) ||
  !(theme instanceof HTMLSelectElement) ||
  !(width instanceof HTMLInputElement)
)
  throw new Error("The player has no controls.");

for (const name of Object.keys(fixtures)) state.append(new Option(name));
const chosen = new URLSearchParams(location.hash.slice(1));
state.value = chosen.get("state") ?? "idle";
theme.value = chosen.get("theme") ?? "dark";

const show = (): void => {
  const parameters = new URLSearchParams({ state: state.value, theme: theme.value }).toString();
  location.hash = parameters;
  frame.src = `/panel.html?${parameters}`;
};
const resize = (): void => {
  frame.style.width = `${width.value}px`;
};
state.addEventListener("change", show);
theme.addEventListener("change", show);
width.addEventListener("input", resize);
new EventSource("/esbuild").addEventListener("change", show);
resize();
show();

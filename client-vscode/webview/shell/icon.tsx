import { iconPaths, type IconName } from "../icons.js";

/** An icon of ours. Never alone: what it stands for is in a text or in the name of its button. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={iconPaths[name]} />
    </svg>
  );
}

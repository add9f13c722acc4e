import type { ButtonHTMLAttributes } from "preact";
import type { IconName } from "../icons.js";
import { Icon } from "./icon.js";

interface IconButtonProps extends Omit<ButtonHTMLAttributes, "class" | "icon" | "label" | "title"> {
  readonly icon: IconName;
  /** What it does, for those who do not see it. */
  readonly label: string;
  /** The same for those who point at it, if there is more or less to say. */
  readonly title?: string;
}

/** A button that shows an icon alone. */
export function IconButton({ icon, label, title = label, ...others }: IconButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={title} {...others}>
      <Icon name={icon} />
    </button>
  );
}

import { useRef } from "preact/hooks";
import type { IconName } from "../icons.js";
import { Icon } from "./icon.js";
import { rovingIndex } from "./keymap.js";
import { Popup } from "./popup.js";
import { useShell, type PopupName } from "./shell.js";

export interface MenuItem {
  readonly label: string;
  /** A second line, smaller. */
  readonly detail?: string;
  readonly icon?: IconName;
  readonly disabled?: boolean;
  /** Why it is not possible now, if that is not plain. */
  readonly hindrance?: string | undefined;
  /** Makes it one of several to choose from. */
  readonly checked?: boolean;
  /** A line above it. */
  readonly separated?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  readonly name: PopupName;
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly class?: string;
}

/** A menu: arrows, Home, End and first letters move, Enter chooses. What is not possible now can be reached and read, but not chosen. */
export function Menu({ name, label, items, class: className = "" }: MenuProps) {
  const shell = useShell();
  const list = useRef<HTMLDivElement>(null);
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];

  const onKeyDown = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.findIndex((entry) => entry === document.activeElement);
    const next = rovingIndex(event.key, at, all.length) ?? letterIndex(event, all, at);
    if (next === undefined) return;
    event.preventDefault();
    all[next]?.focus();
  };

  const chosen = items.findIndex((item) => item.checked === true);
  return (
    <Popup name={name} label={label} role="menu" class={`menu ${className}`}>
      <div ref={list} role="presentation" onKeyDown={onKeyDown}>
        {items.map((item, index) => (
          <div key={item.label} role="presentation" class={item.separated === true ? "menu-separated" : ""}>
            <button
              type="button"
              class="menu-item"
              role={item.checked === undefined ? "menuitem" : "menuitemradio"}
              tabIndex={-1}
              {...(item.checked === undefined ? {} : { "aria-checked": item.checked })}
              {...(isPossible(item) ? {} : { "aria-disabled": true })}
              {...(item.hindrance === undefined ? {} : { title: item.hindrance })}
              {...(index === Math.max(0, chosen) ? { "data-first": true } : {})}
              onClick={() => {
                if (!isPossible(item)) return;
                shell.closePopup(name);
                item.run();
              }}
            >
              {item.checked === undefined ? null : (
                <span class="menu-check">{item.checked ? <Icon name="check" /> : null}</span>
              )}
              {item.icon === undefined ? null : <Icon name={item.icon} />}
              <span class="menu-text">
                <span>{item.label}</span>
                {item.detail === undefined ? null : <span class="menu-detail">{item.detail}</span>}
              </span>
            </button>
          </div>
        ))}
      </div>
    </Popup>
  );
}

function isPossible({ disabled, hindrance }: MenuItem): boolean {
  return disabled !== true && hindrance === undefined;
}

/** The next entry that begins with the letter. */
function letterIndex(event: KeyboardEvent, entries: readonly HTMLElement[], from: number): number | undefined {
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey || event.key === " ") return undefined;
  const letter = event.key.toLowerCase();
  for (let step = 1; step <= entries.length; step += 1) {
    const index = (from + step) % entries.length;
    if (entries[index]?.textContent.trim().toLowerCase().startsWith(letter) === true) return index;
  }
  return undefined;
}

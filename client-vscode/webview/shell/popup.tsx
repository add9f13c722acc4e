import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { FocusKeeper } from "./focusKeeper.js";
import { isComposing } from "./keymap.js";
import { useShell, type PopupName } from "./shell.js";

interface PopupProps {
  readonly name: PopupName;
  readonly label: string;
  readonly role?: "dialog" | "menu";
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** What takes the focus when a pop-up opens: what is marked, else the first thing that can. */
const firstStop = "[data-first], input, button, [tabindex='0']";

/**
 * A pop-up over the panel, shown while it is the open one. Esc, a click outside and leaving with Tab close it; the focus goes back to
 * where it came from, unless the person put it elsewhere. Not modal: Tab leads on into the workbench, as everywhere in the panel.
 */
export function Popup(props: PopupProps) {
  const shell = useShell();
  return shell.popup.value === props.name ? <OpenPopup {...props} /> : null;
}

function OpenPopup({ name, label, role = "dialog", class: className = "", children }: PopupProps) {
  const shell = useShell();
  const box = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const opener = document.activeElement;
    element.querySelector<HTMLElement>(firstStop)?.focus();
    // The button that opened it toggles it: closing here as well would open it again. A question asked from the pop-up belongs to it.
    const isOurs = (target: EventTarget | null) =>
      target instanceof Element &&
      (element.contains(target) || target.closest(`[data-opens="${name}"], [role=alertdialog]`) !== null);
    const onPointer = (event: Event) => {
      if (!isOurs(event.target)) shell.closePopup(name);
    };
    const onFocus = (event: FocusEvent) => {
      // Without a target the whole panel lost the focus: the pop-up stays as it was.
      if (event.relatedTarget !== null && !isOurs(event.relatedTarget)) shell.closePopup(name);
    };
    const keeper = new FocusKeeper(element);
    document.addEventListener("pointerdown", onPointer, true);
    element.addEventListener("focusout", onFocus);
    return () => {
      keeper.dispose();
      document.removeEventListener("pointerdown", onPointer, true);
      element.removeEventListener("focusout", onFocus);
      const active = document.activeElement;
      const strayed = active === null || active === document.body || element.contains(active);
      if (!strayed) return;
      if (opener instanceof HTMLElement && opener.isConnected && opener !== document.body) opener.focus();
      else if (shell.popup.peek() === undefined) shell.focusComposer(); // else another one opens in its place, and has it
    };
  }, [name, shell]);

  return (
    <div
      ref={box}
      id={popupId(name)}
      class={`popup ${className}`}
      role={role}
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposing(event)) return;
        event.preventDefault();
        event.stopPropagation();
        shell.closePopup(name);
      }}
    >
      {children}
    </div>
  );
}

function popupId(name: PopupName): string {
  return `popup-${name}`;
}

/** The attributes of a button that opens a pop-up. */
export function opens(shell: ReturnType<typeof useShell>, name: PopupName, kind: "dialog" | "menu" = "dialog") {
  const open = shell.popup.value === name;
  return {
    "data-opens": name,
    "aria-haspopup": kind,
    "aria-expanded": open,
    ...(open ? { "aria-controls": popupId(name) } : {}),
    onClick: () => shell.togglePopup(name),
  } as const;
}

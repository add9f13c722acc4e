import { useState } from "preact/hooks";
import { t } from "../strings.js";
import { Icon } from "./icon.js";
import { IconButton } from "./iconButton.js";
import { Menu, type MenuItem } from "./menu.js";
import type { Paste } from "./pastes.js";
import { sizeText, type Pasting } from "./pasting.js";
import { opens } from "./popup.js";
import { useShell } from "./shell.js";

interface PasteChipsProps {
  /** As it stands in the composer. */
  readonly text: string;
  readonly pasting: Pasting;
  readonly locale: string;
}

/** The long texts that stand in the prompt as markers: to be read, to be put into the text, to be taken out. */
export function PasteChips({ text, pasting, locale }: PasteChipsProps) {
  const shell = useShell();
  const [chosen, setChosen] = useState<string>();
  const pastes = [...new Set(shell.pastes.placed(text).map(({ paste }) => paste))];
  if (pastes.length === 0) return null;
  const menu = opens(shell, "pasted", "menu");
  const open = pastes.find(({ marker }) => marker === chosen);
  const remove = (paste: Paste) => pasting.remove(paste);
  const items = (paste: Paste): readonly MenuItem[] => [
    {
      label: t("Open"),
      detail: t("To read, in an editor"),
      icon: "file",
      run: () => shell.line.send({ type: "read", name: `${paste.name}.txt`, text: paste.text }),
    },
    { label: t("Insert as Text"), icon: "edit", run: () => pasting.insertAsText(paste) },
    { label: t("Take Out"), icon: "close", run: () => remove(paste) },
  ];
  return (
    <div class="pastes">
      <ul class="chips" aria-label={t("Pasted texts")}>
        {pastes.map((paste) => (
          <li key={paste.marker} class="paste">
            <button
              type="button"
              class="chip"
              title={paste.text.slice(0, 300).trimEnd()}
              {...menu}
              aria-expanded={menu["aria-expanded"] && paste === open}
              onClick={() => {
                if (menu["aria-expanded"] && paste !== open) setChosen(paste.marker);
                else {
                  setChosen(paste.marker);
                  menu.onClick();
                }
              }}
            >
              <Icon name="tasks" />
              <span class="chip-label">{paste.name}</span>
              <span class="chip-reason">{sizeText(paste, locale)}</span>
            </button>
            <IconButton icon="close" label={t("Take {0} out", paste.name)} onClick={() => remove(paste)} />
          </li>
        ))}
      </ul>
      {open === undefined ? null : (
        <Menu key={open.marker} name="pasted" label={open.name} items={items(open)} class="popup-footer" />
      )}
    </div>
  );
}

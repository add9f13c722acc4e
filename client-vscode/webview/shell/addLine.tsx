import { useRef, useState } from "preact/hooks";
import { t } from "../strings.js";
import { isComposing } from "./keymap.js";

interface AddLineProps {
  readonly label: string;
  readonly placeholder: string;
  readonly maxLength: number;
  /** Whether it was added; else the text stays. */
  readonly add: (text: string) => Promise<boolean>;
}

/** A line to be written and added to a list. Not a form: where VS Code shows the page, forms are not sent. */
export function AddLine({ label, placeholder, maxLength, add }: AddLineProps) {
  const [text, setText] = useState("");
  const isAdding = useRef(false);
  const submit = async () => {
    if (text.trim() === "" || isAdding.current) return;
    isAdding.current = true;
    const isAdded = await add(text.trim());
    isAdding.current = false;
    if (isAdded) setText((now) => (now === text ? "" : now)); // it may have been written on meanwhile
  };
  return (
    <div class="rule-new">
      <input
        type="text"
        class="input"
        aria-label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || isComposing(event)) return;
          event.preventDefault();
          void submit();
        }}
      />
      <button type="button" class="button secondary" aria-disabled={text.trim() === ""} onClick={() => void submit()}>
        {t("Add")}
      </button>
    </div>
  );
}

/** Pictures in the composer: pasted, dropped, shown as chips. What cannot go along is said at once, with what to do. */
import { useEffect, useState } from "preact/hooks";
import { MOST_PICTURES, PICTURES_BYTES, pictureType, type Picture } from "../../src/panel/pictures.js";
import { t } from "../strings.js";
import { Icon } from "./icon.js";
import { IconButton } from "./iconButton.js";
import { formatBytes } from "./numbers.js";
import { useShell, type Shell } from "./shell.js";

/** What it is called where it came without a name. */
function titleOf({ name, type }: Picture): string {
  return name === "" ? t("{0} picture", type.slice("image/".length).toUpperCase()) : name;
}

/** Attach files to the prompt that is being written. */
export async function attachFiles(shell: Shell, files: readonly File[]): Promise<void> {
  const draft = shell.draftNumber;
  shell.attaching += 1;
  try {
    for (const file of files) {
      const hindrance = await hindranceOf(shell, file);
      if (hindrance !== undefined) {
        refuse(shell, hindrance);
        return;
      }
      const picture = await shell.line.call({ do: "addPicture", name: file.name, data: await base64Of(file) });
      if (draft !== shell.draftNumber) return; // another chat is shown: it was not pasted there
      const before = shell.pictures.peek();
      if (before.some(({ digest }) => digest === picture.digest)) continue;
      shell.pictures.value = [...before, picture];
      const size = formatBytes(picture.bytes, localeOf(shell));
      shell.announce(t("Attached: {0}, {1}", titleOf(picture), size));
    }
  } catch (error) {
    shell.show(error);
  } finally {
    shell.attaching -= 1;
  }
}

interface Hindrance {
  readonly message: string;
  readonly hint: string;
}

async function hindranceOf(shell: Shell, file: File): Promise<Hindrance | undefined> {
  const attached = shell.pictures.peek();
  const locale = localeOf(shell);
  if (pictureType(new Uint8Array(await file.slice(0, 16).arrayBuffer())) === undefined)
    return {
      message: t("{0} is no picture that Gemini takes.", file.name),
      hint: t("Save it as PNG, JPEG, WebP, HEIC or HEIF. Any other file of the workspace can be named with @."),
    };
  if (attached.length >= MOST_PICTURES)
    return {
      message: t("{0} is one too many: a prompt takes {1} pictures.", file.name, MOST_PICTURES),
      hint: t("Send it with another prompt."),
    };
  const others = attached.reduce((sum, { bytes }) => sum + bytes, 0);
  if (others + file.size <= PICTURES_BYTES) return undefined;
  return {
    message: t(
      "{0} is too large ({1}): the pictures of a prompt take {2} in all.",
      file.name,
      formatBytes(file.size, locale),
      formatBytes(PICTURES_BYTES, locale),
    ),
    hint: others === 0 ? t("Make it smaller.") : t("Make it smaller, or send it with another prompt."),
  };
}

function refuse(shell: Shell, { message, hint }: Hindrance): void {
  shell.note.value = { kind: "picture", message, hint, retryable: false, actions: [] };
  shell.announce(`${message} ${hint}`, true);
}

function localeOf(shell: Shell): string {
  return shell.panel.peek()?.settings.locale ?? "en";
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = typeof reader.result === "string" ? reader.result : "";
      resolve(url.slice(url.indexOf(",") + 1));
    };
    reader.onerror = () => reject(reader.error ?? new Error("A file could not be read."));
    reader.readAsDataURL(file);
  });
}

interface PictureChipsProps {
  readonly pictures: readonly Picture[];
  readonly locale: string;
  /** Takes one out; without it they are only shown. */
  readonly remove?: (picture: Picture) => void;
}

/** The pictures that go along with a prompt: to be looked at, to be taken out. */
export function PictureChips({ pictures, locale, remove }: PictureChipsProps) {
  const shell = useShell();
  if (pictures.length === 0) return null;
  return (
    <ul class="chips pictures" aria-label={t("Pictures")}>
      {pictures.map((picture) => {
        const title = titleOf(picture);
        return (
          <li key={picture.digest} class="paste">
            <button
              type="button"
              class="chip picture"
              title={t("Open {0}", title)}
              onClick={() => shell.line.send({ type: "openPicture", digest: picture.digest })}
            >
              <Thumbnail digest={picture.digest} />
              <span class="chip-label">{title}</span>
              <span class="chip-reason">{formatBytes(picture.bytes, locale)}</span>
            </button>
            {remove === undefined ? null : (
              <IconButton icon="close" label={t("Take {0} out", title)} onClick={() => remove(picture)} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Thumbnail({ digest }: { readonly digest: string }) {
  const shell = useShell();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let isShown = true;
    void shell.thumbnails.of(digest).then((made) => isShown && setAddress(made));
    return () => void (isShown = false);
  }, [digest]);
  return address === undefined ? <Icon name="file" /> : <img src={address} alt="" />;
}

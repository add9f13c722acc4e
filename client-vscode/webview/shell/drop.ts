/** Files dragged from the explorer or from outside. VS Code hands them over when Shift is held. */

const uriTypes = ["application/vnd.code.uri-list", "text/uri-list"] as const;

export function carriesFiles(transfer: Pick<DataTransfer, "types"> | null): boolean {
  return transfer !== null && uriTypes.some((type) => transfer.types.includes(type));
}

/** Whether files come as bytes: a screenshot, or something dragged from outside of VS Code. */
export function carriesBytes(transfer: Pick<DataTransfer, "types"> | null): boolean {
  return transfer?.types.includes("Files") === true && !transfer.types.includes(uriTypes[0]);
}

/** What of a drop goes along as bytes: pictures; anything else, too, where it has no place that could be named. */
export function droppedFiles(transfer: Pick<DataTransfer, "types" | "files">): readonly File[] {
  if (!carriesBytes(transfer)) return [];
  return [...transfer.files].filter(({ type }) => type.startsWith("image/") || !carriesFiles(transfer));
}

/** Whether what is dragged is text over a place where it can be written: that is the browser's business. */
export function takesText({ target, dataTransfer }: Pick<DragEvent, "target" | "dataTransfer">): boolean {
  return (
    target instanceof HTMLTextAreaElement &&
    dataTransfer?.types.includes("text/plain") === true &&
    !carriesFiles(dataTransfer)
  );
}

/** The URIs of a drop, each once; comments of the list are left out. Whether they may be read is for the host to say. */
export function droppedUris(transfer: Pick<DataTransfer, "types" | "getData">): readonly string[] {
  const type = uriTypes.find((candidate) => transfer.types.includes(candidate));
  if (type === undefined) return [];
  const lines = transfer.getData(type).split(/\r?\n/);
  return [...new Set(lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#")))];
}

/** The files of a diff: a proposal that may be edited, and what is only shown beside it. */
import { Uri } from "vscode";
import { MemoryFiles } from "./memoryFiles.js";

/** Of proposals: the person may edit them before accepting. */
export const PROPOSAL_SCHEME = "gemini-proposal";
/** Of what is only shown. */
export const SHOWN_SCHEME = "gemini-shown";

export class ProposalFiles extends MemoryFiles {
  #count = 0;

  constructor() {
    super({ [PROPOSAL_SCHEME]: { isReadonly: false }, [SHOWN_SCHEME]: { isReadonly: true } });
  }

  /** @param name the last part of the path, from which the editor takes the language */
  add(scheme: typeof PROPOSAL_SCHEME | typeof SHOWN_SCHEME, name: string, text: string): Uri {
    const uri = Uri.from({ scheme, path: `/${++this.#count}/${name.replace(/[\\/\0]/g, "_") || "text"}` });
    this.put(uri, text);
    return uri;
  }
}

/** Opens places that something names: what was recalled, the prompt of a rule, the source of a snapshot's line. */
import type { PageCommand } from "../panel/contract.js";
import type { Chat } from "./chat.js";
import { unlessGone } from "./session.js";
import { placeIn, type WantedPlace } from "./pure/places.js";

/** A place in a chat; without a session it is in the open one, or wherever its turn is. */
export interface NamedPlace extends WantedPlace {
  readonly sessionId?: string | undefined;
}

export class Places {
  constructor(
    private readonly chat: Chat,
    private readonly command: (command: PageCommand) => Promise<void>,
    /** Tell the person something. */
    private readonly say: (text: string) => void,
  ) {}

  /** Shows the place, in its chat; says so if it is nowhere. Rejects with `DaemonFault`. */
  async show(place: NamedPlace): Promise<void> {
    const { chat } = this;
    const isOfOpen = place.sessionId === undefined || place.sessionId === chat.info?.sessionId;
    const isHere = isOfOpen && placeIn(chat.conversation, place) !== undefined;
    const sessionId = isHere ? chat.info?.sessionId : (place.sessionId ?? (await this.#sessionOf(place)));
    if (sessionId !== undefined && sessionId !== chat.info?.sessionId) await unlessGone(chat.open(sessionId));
    else if (!isHere) await chat.ready(); // of a chat that is being opened only the newest turns may be here
    const found = sessionId === chat.info?.sessionId ? placeIn(chat.conversation, place) : undefined;
    if (found === undefined) {
      this.say(chat.t("This place is in no chat any more."));
      return;
    }
    await this.command({ do: "showPlace", ...found });
  }

  /** The session that a turn of the project is in. */
  async #sessionOf({ turnId, entryId }: NamedPlace): Promise<string | undefined> {
    const asked = entryId === undefined ? (turnId === undefined ? undefined : { turnId }) : { entryId };
    if (asked === undefined) return undefined;
    const { hits } = await this.chat.daemon.request("gemini/recall", { ...asked, limit: 1 });
    return hits[0]?.sessionId;
  }
}

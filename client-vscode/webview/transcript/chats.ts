/** Tells chats apart, by numbers: rows of two may have the same ids, and one that is not begun has no session yet. */
export class Chats {
  readonly #numbers = new Map<string, number>();
  #session: string | undefined;
  #newest = 0;
  #current = 0;
  #shown = 0;

  /** The chat whose rows are shown. */
  get shown(): number {
    return this.#shown;
  }

  /** The session of the chat that is open now; its rows may still be to come. One that gets its session stays the same chat. */
  note(session: string | undefined): void {
    if (session === this.#session) return;
    const isBegun = this.#session === undefined;
    this.#session = session;
    const known = session === undefined ? undefined : this.#numbers.get(session);
    this.#current = known ?? (isBegun ? this.#current : (this.#newest += 1));
    if (session !== undefined) this.#numbers.set(session, this.#current);
  }

  /** The rows of the open chat come. Whether it is another one than before. */
  turn(): boolean {
    const isAnother = this.#current !== this.#shown;
    this.#shown = this.#current;
    return isAnother;
  }
}

/** A runner that is small enough to live inside the extension host: checks in order, each with a name and a limit. */
export interface Outcome {
  readonly name: string;
  /** Stack of what went wrong; absent if it passed. */
  readonly error?: string;
}

const LIMIT_MS = 20_000;

export class Checks {
  readonly #checks: { readonly name: string; readonly run: () => Promise<void> }[] = [];

  check(name: string, run: () => Promise<void>): void {
    this.#checks.push({ name, run });
  }

  async run(): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { name, run } of this.#checks) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`Not done after ${LIMIT_MS} ms`)), LIMIT_MS);
      });
      try {
        await Promise.race([run(), late]);
        outcomes.push({ name });
      } catch (error) {
        outcomes.push({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      } finally {
        clearTimeout(timer);
      }
    }
    return outcomes;
  }
}

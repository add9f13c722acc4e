/** An event with the editor's shape that needs no editor: what uses it runs in a unit test as it runs in the extension. */
import type { Disposable, Event } from "vscode";

export class Signal<T> {
  readonly #listeners = new Set<{ readonly call: (value: T) => unknown }>();

  /** Called in the order of subscription. */
  readonly event: Event<T> = (listener, thisArgs, disposables) => {
    const entry = { call: (value: T): unknown => listener.call(thisArgs, value) };
    this.#listeners.add(entry);
    const subscription: Disposable = { dispose: () => this.#listeners.delete(entry) };
    disposables?.push(subscription);
    return subscription;
  };

  /** A listener that throws does not keep the others from being notified; `onFault` gets what it threw. */
  constructor(private readonly onFault: (error: unknown) => void = () => undefined) {}

  fire(value: T): void {
    for (const { call } of [...this.#listeners]) {
      try {
        call(value);
      } catch (error) {
        this.onFault(error);
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

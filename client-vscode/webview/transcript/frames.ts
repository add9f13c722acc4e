/** Runs what is to be shown once per frame, however often it is asked for. */
export class Frames {
  readonly #render: () => void;
  #asked: number | undefined;

  constructor(render: () => void) {
    this.#render = render;
  }

  request(): void {
    this.#asked ??= requestAnimationFrame(() => {
      this.#asked = undefined;
      this.#render();
    });
  }

  dispose(): void {
    if (this.#asked !== undefined) cancelAnimationFrame(this.#asked);
    this.#asked = undefined;
  }
}

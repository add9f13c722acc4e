/**
 * The window on the list: mounts the items that are in sight, places them, and keeps the reader's place. The place is one thing, either
 * the end or a distance below the top of an item, and it is restored after every change of the layout, whatever the change was: rows that
 * came above, a height that was guessed wrong, text that streams in, a new width.
 */
import { Virtualizer, type Rect } from "@tanstack/virtual-core";

/** Nearer to the end than this, px, counts as being there. */
export const NEAR_END = 48;
/** Above a prompt that was just sent, px. */
const TOP_GAP = 8;
/** Items beyond both edges that are mounted in advance. */
const OVERSCAN = 3;
/** Mounting changes heights, and with them what is in sight; it settles at once but for pathological guesses. */
const MOST_ROUNDS = 8;

const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);
/** Nearer than this, px, two places are one: browsers round them in their own ways. */
const SAME = 1.5;

/** What is listed. Items are known by keys that outlive their index. */
export interface ViewportSource {
  readonly length: number;
  keyAt(index: number): string;
  indexOfKey(key: string): number;
  /** A guess, px, for an item that was never mounted. */
  estimate(index: number, width: number): number;
  elementAt(index: number): HTMLElement;
  /** Items that stay mounted wherever the window is. */
  pinned(): Iterable<number>;
  /** The items in sight changed, or new ones were mounted; both ends included. */
  shown(first: number, last: number, mountedNew: boolean): void;
}

/** Where the reader is. */
export type ScrollPosition = "end" | { readonly key: string; readonly offset: number };

export class Viewport {
  readonly #scroller: HTMLElement;
  readonly #sizer: HTMLElement;
  readonly #source: ViewportSource;
  readonly #virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  readonly #resizes: ResizeObserver | undefined;
  readonly #mounted = new Map<string, HTMLElement>();
  #notifyOffset: (offset: number, isScrolling: boolean) => void = () => undefined;
  #notifyRect: (rect: Rect) => void = () => undefined;
  #place: ScrollPosition = "end";
  #scrollTop = 0;
  /** The prompt that was sent last: there is room below it to stand at the top. */
  #topKey: string | undefined;
  #layingOut = false;
  /** A pointer or a finger is down in the list: the scrollbar may be dragged. */
  #held = false;
  /** Counts presses and releases, so that a late release ends no later press. */
  #holds = 0;
  /** A question that somebody scrolls in: nothing that comes below it takes it out of sight while it waits. */
  #read: Element | undefined;
  /** The heights that the last layout left: of the window, and of all that scrolls in it. */
  #heights: readonly [number, number] = [0, 0];

  constructor(scroller: HTMLElement, sizer: HTMLElement, source: ViewportSource) {
    this.#scroller = scroller;
    this.#sizer = sizer;
    this.#source = source;
    this.#virtualizer = new Virtualizer(this.#options());
    this.#virtualizer.shouldAdjustScrollPositionOnItemSizeChange = () => false;
    this.#virtualizer._willUpdate();
    this.#resizes =
      typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver((entries) => this.#resized(entries));
    this.#resizes?.observe(scroller);
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    // Before the browser has scrolled: else the next text that streams in would take the reader back.
    scroller.addEventListener("wheel", (event) => event.deltaY < 0 && this.stopFollowing(), { passive: true });
    scroller.addEventListener("keydown", (event) => {
      if (UPWARDS.has(event.key) || (event.key === " " && event.shiftKey)) this.stopFollowing();
    });
    // What scrolls within the list tells nobody but those who listen on the way to it.
    const reads = ({ target }: Event): void => {
      if (target instanceof Element && target !== scroller) this.#read = target.closest("[data-question]") ?? undefined;
    };
    scroller.addEventListener("scroll", reads, { passive: true, capture: true });
    const hold = (): void => {
      this.#holds++;
      this.#held = true;
    };
    for (const type of ["pointerdown", "touchstart"]) scroller.addEventListener(type, hold, { passive: true });
    for (const type of ["pointerup", "touchend", "touchcancel"])
      window.addEventListener(type, this.#release, { passive: true });
  }

  get place(): ScrollPosition {
    return this.#place;
  }

  get following(): boolean {
    return this.#place === "end";
  }

  /** Px from the lower edge of the window to the end of the last item; negative if there is room below. */
  get distanceToEnd(): number {
    return this.#virtualizer.getTotalSize() - this.#scrollTop - this.#height();
  }

  /** The element of an item, if it is mounted. */
  mounted(index: number): HTMLElement | undefined {
    return index < 0 || index >= this.#source.length ? undefined : this.#mounted.get(this.#source.keyAt(index));
  }

  /** Items were added, taken away or changed their keys. */
  listChanged(): void {
    this.#virtualizer.setOptions(this.#options());
    if (this.#topKey !== undefined && this.#source.indexOfKey(this.#topKey) === -1) this.#topKey = undefined;
    this.layout();
  }

  /** Goes to a place and stays there. */
  goTo(place: ScrollPosition): void {
    this.#place = place;
    this.#read = undefined;
    this.layout();
  }

  /** Stays at what is in sight now. */
  stopFollowing(): void {
    if (this.#place === "end" && this.#scrollTop > 0) this.#place = this.#inSight();
  }

  /** Puts an item near the top, with room below it that what follows will fill, and follows the end. */
  putAtTop(key: string): void {
    this.#topKey = key;
    this.goTo("end");
  }

  forgetTop(): void {
    this.#topKey = undefined;
  }

  /** Moves as little as needed to have an item in sight, or a part of it from `top` to `bottom`, px below its top. */
  reveal(index: number, part?: { readonly top: number; readonly bottom: number }): void {
    const element = this.mounted(index);
    const start = this.#virtualizer.measurementsCache[index]?.start;
    if (element === undefined || start === undefined) return;
    const top = start + (part?.top ?? 0);
    const bottom = start + (part?.bottom ?? element.offsetHeight);
    const height = this.#height();
    const margin = part === undefined ? TOP_GAP : height / 4;
    if (top >= this.#scrollTop && bottom <= this.#scrollTop + height) return;
    const below = bottom + margin - height;
    const target = top < this.#scrollTop || bottom - top > height ? top - margin : below;
    this.goTo({ key: this.#source.keyAt(index), offset: target - start });
  }

  /** Brings the page in line with the list and the place. */
  layout(): void {
    if (this.#layingOut) return;
    this.#layingOut = true;
    try {
      let mountedNew = false;
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const added = this.#mountWanted();
        this.#arrange();
        const moved = this.#restorePlace();
        mountedNew ||= added;
        if (!added && !moved) break;
      }
      const range = this.#virtualizer.calculateRange();
      if (range !== null) this.#source.shown(range.startIndex, range.endIndex, mountedNew);
      this.#heights = [this.#scroller.clientHeight, this.#scroller.scrollHeight];
    } finally {
      this.#layingOut = false;
    }
  }

  dispose(): void {
    for (const type of ["pointerup", "touchend", "touchcancel"]) window.removeEventListener(type, this.#release);
    this.#resizes?.disconnect();
    this.#virtualizer._didMount()();
  }

  /** What was scrolled with it is heard of in the frames after it. */
  readonly #release = (): void => {
    const holds = ++this.#holds;
    requestAnimationFrame(() => requestAnimationFrame(() => (this.#held &&= this.#holds !== holds)));
  };

  #options(): ConstructorParameters<typeof Virtualizer<HTMLElement, HTMLElement>>[0] {
    return {
      count: this.#source.length,
      getScrollElement: () => this.#scroller,
      // A new function each time: the virtualizer takes it as the sign that keys may have changed.
      getItemKey: (index) => this.#source.keyAt(index),
      estimateSize: (index) => this.#source.estimate(index, this.#scroller.clientWidth),
      overscan: OVERSCAN,
      observeElementRect: (_instance, notify) => {
        this.#notifyRect = notify;
        notify({ width: this.#scroller.clientWidth, height: this.#height() });
      },
      observeElementOffset: (_instance, notify) => {
        this.#notifyOffset = notify;
      },
      // Places are restored here, all of them in one way.
      scrollToFn: () => undefined,
    };
  }

  /** Mounts what is in sight or pinned and removes the rest. Whether anything was added. */
  #mountWanted(): boolean {
    this.#notifyOffset(this.#scrollTop, false);
    const wanted = new Set(this.#virtualizer.getVirtualIndexes());
    for (const index of this.#source.pinned()) if (index >= 0 && index < this.#source.length) wanted.add(index);
    const indexes = [...wanted].sort((one, other) => one - other);
    const keys = new Set(indexes.map((index) => this.#source.keyAt(index)));
    for (const [key, element] of this.#mounted) {
      if (keys.has(key)) continue;
      this.#unmount(key, element);
    }
    const added: { readonly index: number; readonly element: HTMLElement }[] = [];
    let before: ChildNode | null = this.#sizer.firstChild;
    for (const index of indexes) {
      const key = this.#source.keyAt(index);
      const element = this.#source.elementAt(index);
      const old = this.#mounted.get(key);
      element.dataset["index"] = String(index);
      if (old === element) {
        before = element.nextSibling;
        continue;
      }
      if (old !== undefined) {
        if (before === old) before = old.nextSibling;
        this.#unmount(key, old);
      }
      this.#sizer.insertBefore(element, before);
      this.#mounted.set(key, element);
      this.#resizes?.observe(element);
      added.push({ index, element });
    }
    // All heights are read before anything is placed: one layout for all of them.
    for (const { index, element } of added) this.#measured(index, element.offsetHeight);
    return added.length > 0;
  }

  #unmount(key: string, element: HTMLElement): void {
    this.#resizes?.unobserve(element);
    this.#mounted.delete(key);
    element.remove();
  }

  #arrange(): void {
    const total = this.#virtualizer.getTotalSize();
    for (const [key, element] of this.#mounted) {
      const start = this.#virtualizer.measurementsCache[this.#source.indexOfKey(key)]?.start ?? 0;
      setStyle(element, "transform", `translateY(${start}px)`);
    }
    setStyle(this.#sizer, "height", `${Math.max(total, this.#topStart() + this.#height())}px`);
  }

  /** Where the window begins when the prompt that was sent last stands at its top. */
  #topStart(): number {
    const index = this.#topKey === undefined ? -1 : this.#source.indexOfKey(this.#topKey);
    const start = index === -1 ? undefined : this.#virtualizer.measurementsCache[index]?.start;
    return start === undefined ? -Infinity : Math.max(0, start - TOP_GAP);
  }

  /** Scrolls to where the place is now. Whether that moved anything. */
  #restorePlace(): boolean {
    if (this.#place === "end") {
      // What became smaller may have clamped it already, or the scrollbar have been dragged: no event has told of that yet.
      const top = this.#scroller.scrollTop;
      const isDragged = this.#held && top < this.#scrollTop - SAME;
      this.#scrollTop = top;
      if (isDragged) this.#place = this.#inSight();
    }
    if (this.#place === "end" && this.#read?.isConnected === true && this.#read.matches("[data-question]"))
      return false;
    const target = this.#targetTop();
    if (Math.abs(target - this.#scrollTop) < 1) return false;
    this.#scroller.scrollTop = target;
    const reached = this.#scroller.scrollTop;
    const moved = Math.abs(reached - this.#scrollTop) >= 1;
    this.#scrollTop = reached;
    return moved;
  }

  #targetTop(): number {
    const end = Math.max(0, this.#virtualizer.getTotalSize() - this.#height(), this.#topStart());
    if (this.#place === "end") return end;
    const index = this.#source.indexOfKey(this.#place.key);
    const start = index === -1 ? undefined : this.#virtualizer.measurementsCache[index]?.start;
    return start === undefined
      ? Math.min(this.#scrollTop, end)
      : Math.min(end, Math.max(0, start + this.#place.offset));
  }

  #scrolled(): void {
    const top = this.#scroller.scrollTop;
    const up = top < this.#scrollTop;
    // Our own writes come back as events too.
    if (Math.abs(top - this.#scrollTop) < 1) return;
    this.#scrollTop = top;
    if (!up || !this.#isMovedByLayout()) this.#place = !up && this.distanceToEnd <= NEAR_END ? "end" : this.#inSight();
    this.layout();
  }

  /**
   * Whether nobody scrolled up: the window grew or its content shrank, and the browser had to move to the new end, which it does without
   * a word. Whoever scrolls by hand ends above the end, or holds something.
   */
  #isMovedByLayout(): boolean {
    if (this.#held) return false;
    const { clientHeight, scrollHeight, scrollTop } = this.#scroller;
    const [height, content] = this.#heights;
    const changed = height !== clientHeight || content !== scrollHeight;
    return changed && (this.#place === "end" || scrollTop + clientHeight >= scrollHeight - SAME);
  }

  /** The first item in sight, and how far the window has gone past its top. */
  #inSight(): ScrollPosition {
    const item = this.#virtualizer.getVirtualItemForOffset(this.#scrollTop);
    return item === undefined ? "end" : { key: String(item.key), offset: this.#scrollTop - item.start };
  }

  #resized(entries: readonly ResizeObserverEntry[]): void {
    for (const { target } of entries) {
      if (!(target instanceof HTMLElement) || !target.isConnected) continue;
      if (target === this.#scroller) this.#notifyRect({ width: target.clientWidth, height: this.#height() });
      else this.#measured(Number(target.dataset["index"]), target.offsetHeight);
    }
    this.layout();
  }

  #measured(index: number, height: number): void {
    // Nothing has a height while the page is not laid out.
    if (height > 0) this.#virtualizer.resizeItem(index, height);
  }

  /** The window's height; that of the page while the list has none, so that there is something to see as soon as it has. */
  #height(): number {
    return this.#scroller.clientHeight || window.innerHeight;
  }
}

function setStyle(element: HTMLElement, property: "transform" | "height", value: string): void {
  if (element.style[property] !== value) element.style[property] = value;
}

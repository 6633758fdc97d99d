// Event, CustomEvent and EventTarget, of a platform without a tree: an event has one target, and no other phase.

import { tag } from "./define.ts";

export interface EventInit {
  readonly bubbles?: boolean;
  readonly cancelable?: boolean;
  readonly composed?: boolean;
}

const AT_TARGET = 2;

export class Event {
  static readonly NONE = 0;
  static readonly CAPTURING_PHASE = 1;
  static readonly AT_TARGET: number = AT_TARGET;
  static readonly BUBBLING_PHASE = 3;
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly isTrusted: boolean = false;
  readonly timeStamp: number = performance.now();
  /** @internal */ _target: EventTarget | null = null;
  /** @internal */ _isDispatched = false;
  /** @internal */ _isStopped = false;
  /** @internal */ _inPassive = false;
  #isPrevented = false;
  #isPropagationStopped = false;

  constructor(type: string, init: EventInit = {}) {
    if (arguments.length === 0) throw new TypeError("Event needs a type");
    this.type = String(type);
    this.bubbles = init?.bubbles === true;
    this.cancelable = init?.cancelable === true;
    this.composed = init?.composed === true;
  }

  get target(): EventTarget | null {
    return this._target;
  }
  get srcElement(): EventTarget | null {
    return this._target;
  }
  get currentTarget(): EventTarget | null {
    return this._isDispatched ? this._target : null;
  }
  get eventPhase(): number {
    return this._isDispatched ? AT_TARGET : 0;
  }
  get defaultPrevented(): boolean {
    return this.#isPrevented;
  }
  get returnValue(): boolean {
    return !this.#isPrevented;
  }
  get cancelBubble(): boolean {
    return this.#isPropagationStopped;
  }
  set cancelBubble(stop: boolean) {
    if (stop) this.#isPropagationStopped = true;
  }
  composedPath(): EventTarget[] {
    return this._isDispatched && this._target !== null ? [this._target] : [];
  }
  preventDefault(): void {
    if (this.cancelable && !this._inPassive) this.#isPrevented = true;
  }
  stopPropagation(): void {
    this.#isPropagationStopped = true;
  }
  stopImmediatePropagation(): void {
    this.#isPropagationStopped = true;
    this._isStopped = true;
  }
}

export class CustomEvent extends Event {
  readonly detail: unknown;
  constructor(type: string, init: EventInit & { readonly detail?: unknown } = {}) {
    super(type, init);
    this.detail = init?.detail ?? null;
  }
}

export type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };

interface ListenerOptions {
  readonly capture?: boolean;
  readonly once?: boolean;
  readonly passive?: boolean;
  readonly signal?: {
    readonly aborted: boolean;
    addEventListener(type: "abort", listener: () => void, options?: ListenerOptions): void;
  };
}

interface Registered {
  readonly listener: Listener;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  isRemoved: boolean;
}

export class EventTarget {
  readonly #listeners: Map<string, Registered[]> = new Map();

  addEventListener(type: string, listener: Listener | null, options?: ListenerOptions | boolean): void {
    const { capture, once, passive, signal } = readOptions(options);
    if (listener === null || listener === undefined || signal?.aborted === true) return;
    const known = this.#listeners.get(String(type)) ?? [];
    if (known.some((one) => one.listener === listener && one.capture === capture)) return;
    const registered: Registered = { listener, capture, once, passive, isRemoved: false };
    this.#listeners.set(String(type), [...known, registered]);
    signal?.addEventListener("abort", () => this.#remove(String(type), registered), { once: true });
  }

  removeEventListener(type: string, listener: Listener | null, options?: ListenerOptions | boolean): void {
    const { capture } = readOptions(options);
    const found = this.#listeners
      .get(String(type))
      ?.find((one) => one.listener === listener && one.capture === capture);
    if (found !== undefined) this.#remove(String(type), found);
  }

  dispatchEvent(event: Event): boolean {
    if (!(event instanceof Event)) throw new TypeError("dispatchEvent takes an Event");
    if (event._isDispatched) throw new TypeError("the event is being dispatched");
    event._target = this;
    event._isDispatched = true;
    for (const registered of this.#listeners.get(event.type) ?? []) {
      if (event._isStopped) break;
      if (registered.isRemoved) continue;
      if (registered.once) this.#remove(event.type, registered);
      event._inPassive = registered.passive;
      call(registered.listener, this, event);
      event._inPassive = false;
    }
    event._isDispatched = false;
    return !event.defaultPrevented;
  }

  #remove(type: string, registered: Registered): void {
    registered.isRemoved = true;
    const left = (this.#listeners.get(type) ?? []).filter((one) => one !== registered);
    if (left.length === 0) this.#listeners.delete(type);
    else this.#listeners.set(type, left);
  }
}

/** What a listener throws is told, and keeps the others from nothing. */
function call(listener: Listener, target: EventTarget, event: Event): void {
  try {
    if (typeof listener === "function") listener.call(target, event);
    else listener.handleEvent(event);
  } catch (error) {
    console.error(error);
  }
}

function readOptions(
  options: ListenerOptions | boolean | undefined,
): Required<Omit<ListenerOptions, "signal">> & Pick<ListenerOptions, "signal"> {
  if (typeof options !== "object" || options === null)
    return { capture: options === true, once: false, passive: false };
  const { capture = false, once = false, passive = false, signal } = options;
  return { capture, once, passive, ...(signal === undefined ? {} : { signal }) };
}

declare const console: { error(...values: unknown[]): void };
declare const performance: { now(): number };

tag(Event, "Event");
tag(CustomEvent, "CustomEvent");
tag(EventTarget, "EventTarget");

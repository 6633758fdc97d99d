// The keyboard: what is pressed, and which command that is
// ========================================================
//   idle ─▶ prefix (a `g` was pressed: the next key decides) ─▶ idle
//
// H1. Nothing happens while the viewer writes in a field, but for chords with Ctrl or ⌘.
// H2. Of several commands with the same keys, the one that was bound last is meant: a page's come before the shell's, and
//     a dialog's before the page's.

/** `j`, `shift+j` is written `J`, `mod+k` is Ctrl-K or ⌘-K, `g r` is one after the other. */
export type Keys = string;

export interface Hotkey {
  readonly keys: Keys;
  readonly label: string;
  readonly group: "anywhere" | "here";
  readonly run: () => void;
}

export interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly isInField: boolean;
}

const PREFIX_MS = 1_500;

export class Hotkeys {
  #layers: readonly { readonly hotkeys: readonly Hotkey[] }[] = [];
  #prefix: { readonly key: string; readonly at: number } | null = null;
  readonly #listeners = new Set<() => void>();

  bind(hotkeys: readonly Hotkey[]): () => void {
    const layer = { hotkeys };
    this.#layers = [...this.#layers, layer];
    this.#tell();
    return () => {
      this.#layers = this.#layers.filter((other) => other !== layer);
      this.#tell();
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly layers = (): readonly { readonly hotkeys: readonly Hotkey[] }[] => this.#layers;

  /** Whether it was a command, or may become one. */
  press(pressed: Pressed, now: number): boolean {
    const hasModifier = pressed.ctrlKey || pressed.metaKey;
    if (pressed.altKey || (pressed.isInField && !hasModifier)) return false;
    const key = hasModifier ? `mod+${pressed.key.toLowerCase()}` : pressed.key;
    const prefix = this.#prefix !== null && now - this.#prefix.at < PREFIX_MS ? `${this.#prefix.key} ` : "";
    this.#prefix = null;
    const found = this.#find(prefix + key) ?? (prefix === "" ? undefined : this.#find(key));
    if (found !== undefined) {
      found.run();
      return true;
    }
    if (!this.#isPrefix(key)) return false;
    this.#prefix = { key, at: now };
    return true;
  }

  #find(keys: Keys): Hotkey | undefined {
    for (const { hotkeys } of this.#layers.toReversed()) {
      const found = hotkeys.find((hotkey) => hotkey.keys === keys);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #isPrefix(key: string): boolean {
    return this.#layers.some(({ hotkeys }) => hotkeys.some((hotkey) => hotkey.keys.startsWith(`${key} `)));
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const FIELDS = "input, textarea, select, [contenteditable=true]";
/** In these a letter chooses an entry, and arrows move in it. */
const OWN_KEYS = '[role="menu"], [role="listbox"], [role="dialog"], [role="alertdialog"]';

/** Listens to a document; the answer ends it. */
export function listenToKeys(hotkeys: Hotkeys, target: Document): () => void {
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const element = event.target instanceof Element ? event.target : null;
    const isInField = element !== null && (element.matches(FIELDS) || element.closest(OWN_KEYS) !== null);
    const { key, ctrlKey, metaKey, altKey } = event;
    // Enter alone is the link's or the button's own.
    const isPlain = !ctrlKey && !metaKey;
    if (key === "Enter" && isPlain && element !== null && element.closest("a, button") !== null) return;
    if (hotkeys.press({ key, ctrlKey, metaKey, altKey, isInField }, event.timeStamp)) event.preventDefault();
  };
  target.addEventListener("keydown", onKey);
  return () => target.removeEventListener("keydown", onKey);
}

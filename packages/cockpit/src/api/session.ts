// The token of a server that asks for one
// =======================================
//   unknown ─▶ open (no token is needed, or the one we have is good)
//       └────▶ closed (a token is missing or wrong: the sign-in page) ─▶ open
//
// The token stays in this tab: memory, and sessionStorage so that a reload does not ask again. It travels in a header only,
// never in an address, where logs and histories would keep it.

import { createSignal, type Signal } from "./signal.ts";

export type SessionState =
  | { readonly kind: "unknown" }
  | { readonly kind: "open" }
  /** `refused`: a token was sent, and it is not the server's. */
  | { readonly kind: "closed"; readonly refused: boolean };

const STORED_AS = "perdure.token";

export class Session {
  readonly state: Signal<SessionState> = createSignal<SessionState>({ kind: "unknown" });
  readonly #storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  #token: string | null;

  constructor(storage: Pick<Storage, "getItem" | "setItem" | "removeItem">) {
    this.#storage = storage;
    this.#token = storage.getItem(STORED_AS);
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
  }

  get hasToken(): boolean {
    return this.#token !== null;
  }

  signIn(token: string): void {
    this.#token = token;
    this.#storage.setItem(STORED_AS, token);
    this.state.set({ kind: "unknown" });
  }

  signOut(): void {
    this.#forget();
    this.state.set({ kind: "closed", refused: false });
  }

  /** The server took what we sent. */
  accepted(): void {
    if (this.state.get().kind !== "open") this.state.set({ kind: "open" });
  }

  /** The server answered 401. */
  refused(): void {
    const refused = this.hasToken;
    this.#forget();
    this.state.set({ kind: "closed", refused: refused || wasRefused(this.state.get()) });
  }

  #forget(): void {
    this.#token = null;
    this.#storage.removeItem(STORED_AS);
  }
}

/** Several requests are refused at once: the later ones do not know that a token had been sent. */
function wasRefused(state: SessionState): boolean {
  return state.kind === "closed" && state.refused;
}

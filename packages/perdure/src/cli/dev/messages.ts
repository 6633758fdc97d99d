// What the supervisor of `dev` and the process that serves tell each other.
//
//   supervisor                      child
//       │ ── load(options) ─────────▶ │  loads the files
//       │ ◀── loaded | failed ─────── │
//       │ ── serve(ports) ──────────▶ │  opens the store and listens
//       │ ◀── listening | failed ──── │
//       │ ◀── file ────────────────── │  another file was loaded (any time)
//       │ ── stop(graceMs) ─────────▶ │  drains and ends
//
// A child whose supervisor is gone drains and ends by itself.

import type { Served, ServeOptions } from "../serve.ts";

/** The command that `dev` starts its child with. Not for people, and not in --help. */
export const CHILD_COMMAND = "dev-child";

export type ToChild =
  | { readonly type: "load"; readonly options: ServeOptions }
  | { readonly type: "serve"; readonly port: number; readonly adminPort: number }
  | { readonly type: "stop"; readonly graceMs: number };

/** An error, as far as it can be shown elsewhere. */
export interface ShownError {
  readonly message: string;
  readonly code: string | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly stack: string | undefined;
}

export type FromChild =
  | { readonly type: "loaded" }
  | { readonly type: "failed"; readonly error: ShownError }
  | { readonly type: "listening"; readonly served: Served }
  | { readonly type: "file"; readonly file: string };

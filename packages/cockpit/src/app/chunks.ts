// The parts of the page that are loaded when they are needed
// ==========================================================
// P1. Once the page is live, and has nothing better to do, the others are loaded too: a view that was never looked at opens
//     also while the server is away.
// P2. A part that could not be loaded is a ChunkLostError. A browser does not ask for a module twice that it failed to load,
//     and after an update the server has others: the page is loaded again as soon as somebody answers (`ChunkLost`).

/** P2. The server was away just then, or has been updated. */
export class ChunkLostError extends Error {
  override readonly name = "ChunkLostError";
}

/** Stands in the browser's own timeline, for whoever measures. */
const ALL_LOADED = "perdure: all parts are loaded";

const parts: (() => Promise<unknown>)[] = [];

/** What is given to `lazy` and to routes, in the place of a bare `() => import(…)`. */
export function chunk<Module>(load: () => Promise<Module>): () => Promise<Module> {
  parts.push(load);
  return () =>
    load().catch((cause: unknown) => {
      throw new ChunkLostError("a part of this page could not be loaded", { cause });
    });
}

/** P1. One after the other, between other work; not for somebody who saves data. */
export async function loadOtherChunks(): Promise<void> {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } };
  if (connection?.saveData === true) return;
  for (const load of parts) {
    await idle();
    await load().catch(() => undefined); // Whoever goes there is told.
  }
  performance.mark(ALL_LOADED);
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 5_000 });
    else setTimeout(resolve, 200); // Safari.
  });
}

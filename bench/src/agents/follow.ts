// One follower of a stream by server-sent events, from the beginning; `until` finds the next item that fits, counted from the
// last one that was found.

export interface StreamItem {
  readonly type: string;
  readonly text?: string;
  readonly approval?: string;
  readonly part?: { readonly type: string };
}

export interface Follower {
  /** @returns when it came, by `performance.now()`. */
  until(fits: (item: StreamItem) => boolean): Promise<number>;
  close(): void;
}

export async function follow(url: string): Promise<Follower> {
  const leave = new AbortController();
  const { ok, status, body } = await fetch(url, { headers: { accept: "text/event-stream" }, signal: leave.signal });
  if (!ok || body === null) throw new Error(`${url}: ${status}`);
  const waiting = new Set<{ readonly fits: (item: StreamItem) => boolean; readonly found: (at: number) => void }>();
  const read = async (): Promise<void> => {
    let rest = "";
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const at = performance.now();
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const { item } = JSON.parse(line.slice(6)) as { readonly item?: StreamItem };
        if (item === undefined) continue;
        for (const one of waiting) {
          if (!one.fits(item)) continue;
          waiting.delete(one);
          one.found(at);
        }
      }
    }
  };
  read().catch((error: unknown) => {
    if (!leave.signal.aborted) throw error;
  });
  return {
    until: (fits) => new Promise((found) => void waiting.add({ fits, found })),
    close: () => leave.abort(),
  };
}

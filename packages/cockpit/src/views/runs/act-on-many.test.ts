import { describe, expect, test } from "vitest";
import type { RunSummary } from "@perdure/protocol";
import { aRun, runId } from "../../testing/samples.ts";
import { actOnMany, countChosen, type Progress } from "./act-on-many.ts";

/** What was asked, and answers by path. */
function recording(answers: Readonly<Record<string, (body: unknown) => unknown>> = {}) {
  const asked: string[] = [];
  const answer = async <T>(method: string, path: string, body: unknown): Promise<T> => {
    asked.push(`${method} ${path}`);
    return (answers[path]?.(body) ?? {}) as T;
  };
  return {
    asked,
    api: {
      get: <T>(path: string, options: unknown = {}): Promise<T> => answer<T>("GET", path, options),
      post: <T>(path: string, body?: unknown): Promise<T> => answer<T>("POST", path, body),
    },
  };
}

const ids = [1, 2, 3].map(runId);
const never = new AbortController().signal;

describe("one action on many runs", () => {
  test("A1: each for itself, with progress; a failure is a line", async () => {
    const refuse = (): never => {
      throw new Error("it has ended");
    };
    const { api, asked } = recording({ [`/runs/${runId(2)}/cancel`]: refuse });
    const seen: Progress[] = [];
    const result = await actOnMany(
      api,
      "cancel",
      { kind: "ids", ids },
      { onProgress: (one) => seen.push(one), signal: never },
    );
    expect(result).toEqual({ done: 2, total: 3, failed: [{ runId: runId(2), message: "it has ended" }], isOver: true });
    expect(asked).toHaveLength(3);
    expect(seen.map(({ isOver }) => isOver)).toEqual([false, false, false, true]);
  });

  test("a filter is one request where the API acts in bulk", async () => {
    const filter = { status: ["paused"] } as const;
    const { api, asked } = recording({
      "/runs/resume": (body) => {
        expect(body).toEqual({ filter, all: true });
        return { dryRun: false, matched: 5, done: 5, failed: [], runs: [] };
      },
    });
    const result = await actOnMany(
      api,
      "resume",
      { kind: "filter", filter },
      { onProgress: () => undefined, signal: never },
    );
    expect([result.done, result.total, asked]).toEqual([5, 5, ["POST /runs/resume"]]);
  });

  test("what the API cannot do in bulk goes page by page, and run by run", async () => {
    const { api, asked } = recording({
      "/runs": (options) =>
        JSON.stringify(options).includes('"cursor":1')
          ? { runs: [aRun(2)], nextCursor: null }
          : { runs: [aRun(1)], nextCursor: 1 },
    });
    const result = await actOnMany(
      api,
      "purge",
      { kind: "filter", filter: {} },
      { onProgress: () => undefined, signal: never },
    );
    expect(result.done).toBe(2);
    expect(asked).toEqual(["GET /runs", "GET /runs", `POST /runs/${runId(1)}/purge`, `POST /runs/${runId(2)}/purge`]);
  });

  test("A2: it can be stopped between two runs", async () => {
    const stop = new AbortController();
    const many = Array.from({ length: 100 }, (_, at) => runId(at));
    const { api, asked } = recording();
    await actOnMany(api, "pause", { kind: "ids", ids: many }, { onProgress: () => stop.abort(), signal: stop.signal });
    expect(asked.length).toBeLessThan(20);
  });

  test("what would be done is counted without doing it", async () => {
    const { api, asked } = recording({
      "/runs/kill": (body) => ({ matched: (body as { dryRun: boolean }).dryRun ? 4 : -1 }),
      "/runs": () => ({ runs: [aRun(1), aRun(2)], nextCursor: null }),
    });
    expect(await countChosen(api, "kill", { kind: "filter", filter: {} }, never)).toBe(4);
    expect(await countChosen(api, "purge", { kind: "filter", filter: {} }, never)).toBe(2);
    expect(await countChosen(api, "purge", { kind: "ids", ids }, never)).toBe(3);
    expect(asked).toEqual(["POST /runs/kill", "GET /runs"]);
  });

  test("A3: what the page leaves out is not acted on, and no status in which the action means nothing is asked for", async () => {
    let status: unknown;
    const { api, asked } = recording({
      "/runs": (options) => {
        status = (options as { query: { status: unknown } }).query.status;
        return { runs: [aRun(1), aRun(2, { service: "perdure.budgets" })], nextCursor: null };
      },
    });
    const filter = { status: ["paused", "failed"] } as const;
    const accepts = ({ service }: RunSummary): boolean => service === "mailer";
    await actOnMany(api, "resume", { kind: "filter", filter, accepts }, { onProgress: () => undefined, signal: never });
    expect(status).toEqual(["paused"]);
    expect(asked).toEqual(["GET /runs", `POST /runs/${runId(1)}/resume`]);
    await actOnMany(
      api,
      "purge",
      { kind: "filter", filter: { status: ["running"] } },
      { onProgress: () => undefined, signal: never },
    );
    expect(asked).toHaveLength(2);
  });
});

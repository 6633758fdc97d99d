// Forks: who the code is while it meets what another run has made, and after.

import {
  type AttemptOrigin,
  type AttemptStart,
  encodeRunId,
  parseAwakeableId,
  type RunId,
  VOID,
} from "@perdure/protocol";
import { describe, expect, it } from "vitest";

import { completion, Conversation, step } from "../../test/conversation.ts";
import { RUN_ID, START_TIME } from "../../test/fake-engine.ts";
import type { Context, ObjectContext } from "../context/context.ts";
import { object, service } from "../definitions/service.ts";
import { Identity, IdentityRandom } from "./identity.ts";
import { ReplayableRandom } from "./prng.ts";

const idOf = (first: number): RunId => encodeRunId(new Uint8Array(24).fill(first));
const [ORIGIN, FIRST] = [idOf(1), idOf(2)];
const origin = (until: number, more: Partial<AttemptOrigin> = {}): AttemptOrigin => ({
  run: ORIGIN,
  key: null,
  until,
  origin: null,
  ...more,
});
const signal = { kind: "signal", signal: "go", payload: VOID } as const;
const sleep = { kind: "command", id: 1, command: { type: "sleep", wakeAt: START_TIME } } as const;

/** Runs the code over a journal and gives what it noted. */
async function noted(
  run: (ctx: Context, note: (what: string) => void) => Promise<unknown>,
  entries: NonNullable<ConstructorParameters<typeof Conversation>[1]>["entries"],
  from: AttemptOrigin,
): Promise<readonly string[]> {
  const notes: string[] = [];
  const definition = service("s", { go: (ctx) => run(ctx, (what) => void notes.push(what)) });
  const talk = new Conversation(definition, { entries: entries ?? [], origin: from });
  await talk.heard();
  return notes;
}

const who = (ctx: Context): string => (ctx.runId === ORIGIN ? "origin" : ctx.runId === RUN_ID ? "itself" : "another");

describe("S1: the code of a fork", () => {
  it("is its origin until it has met what the origin made, and then itself", async () => {
    const code = async (ctx: Context, note: (what: string) => void): Promise<void> => {
      note(who(ctx));
      await ctx.step("a", () => 1);
      note(who(ctx));
      await ctx.step("b", () => 2);
      note(who(ctx));
      await ctx.signal("go");
      note(who(ctx));
    };
    const journal = [step(1, "a", 1), step(2, "b", 2), signal];
    expect(await noted(code, journal, origin(2))).toEqual(["origin", "origin", "itself", "itself"]);
    expect(await noted(code, journal, origin(1))).toEqual(["origin", "itself", "itself", "itself"]);
    expect(await noted(code, journal, origin(3))).toEqual(["origin", "origin", "origin", "itself"]);
    // The same when the fork has come further by itself: what it is depends on what it has met alone.
    expect(await noted(code, journal.slice(0, 1), origin(1))).toEqual(["origin", "itself"]);
  });

  it("draws the origin's numbers for what is recorded, and others for what is new", async () => {
    const drawn: string[] = [];
    const code = async (ctx: Context, note: (what: string) => void): Promise<void> => {
      drawn.push(ctx.uuid());
      await ctx.step("a", () => 1);
      drawn.push(ctx.uuid());
      note(ctx.uuid());
    };
    await noted(code, [step(1, "a", 1)], origin(1));
    const [origins, own] = [new ReplayableRandom(ORIGIN), new ReplayableRandom(RUN_ID)];
    expect(drawn).toEqual([origins.uuid(), own.uuid()]);
    drawn.length = 0;
    await noted(code, [step(1, "a", 1), step(2, "later", 2)], origin(2));
    const again = new ReplayableRandom(ORIGIN);
    expect(drawn).toEqual([again.uuid(), again.uuid()]);
  });

  it("S2: is itself as soon as it has asked for the last of it, where that brings nothing", async () => {
    const code = async (ctx: Context, note: (what: string) => void): Promise<void> => {
      note(who(ctx));
      const slept = ctx.sleep(5); // Nobody tells it where that stands.
      note(who(ctx));
      await slept;
    };
    expect(await noted(code, [sleep], origin(1))).toEqual(["origin", "itself"]);
    expect(await noted(code, [sleep, completion(1, undefined)], origin(2))).toEqual(["origin", "origin"]);
  });

  it("gives its awakeables the origin's name where they are recorded, and its own after", async () => {
    const names: string[] = [];
    const code = async (ctx: Context): Promise<void> => {
      names.push(parseAwakeableId(ctx.awakeable().id)?.run ?? "");
      await ctx.step("a", () => 1);
      names.push(parseAwakeableId(ctx.awakeable().id)?.run ?? "");
    };
    await noted(code, [step(1, "a", 1)], origin(1));
    expect(names).toEqual([ORIGIN, RUN_ID]);
  });

  it("knows its origin's key: what it asks for under it is what is recorded", async () => {
    const keys: string[] = [];
    const definition = object("o", {
      go: async (ctx: ObjectContext) => {
        keys.push(ctx.key);
        await ctx.step(`of ${ctx.key}`, () => 1);
        keys.push(ctx.key);
        await ctx.step(`of ${ctx.key}`, () => 2);
      },
    });
    const talk = new Conversation(definition, {
      key: "k~1",
      entries: [step(1, "of k", 1)],
      origin: origin(1, { key: "k" }),
    });
    expect(await talk.heard()).toEqual([
      ["command", 2, "step of k~1"],
      ["propose", 2, 2],
    ]);
    expect(keys).toEqual(["k", "k~1"]);
  });

  it("is each of those that its entries came from, one after the other", async () => {
    const seen: RunId[] = [];
    const code = async (ctx: Context): Promise<void> => {
      for (const name of ["a", "b", "c"]) {
        await ctx.step(name, () => 1);
        seen.push(ctx.runId);
      }
    };
    const chain = origin(2, { run: FIRST, origin: origin(1) });
    await noted(code, [step(1, "a", 1), step(2, "b", 2), step(3, "c", 3)], chain);
    expect(seen).toEqual([FIRST, RUN_ID, RUN_ID]);
  });
});

describe("an image that is put back for a fork", () => {
  const start = (over: Partial<AttemptStart>): AttemptStart => ({
    run: ORIGIN,
    service: "s",
    handler: "go",
    key: null,
    mode: "service",
    input: null,
    headers: {},
    idempotencyKey: null,
    generation: 0,
    createdAt: START_TIME,
    deployment: null,
    image: null,
    entries: [],
    state: null,
    origin: null,
    migrated: null,
    tries: 0,
    ...over,
  });

  it("is the origin for what is left of its entries, and goes on with the numbers that it had drawn from", () => {
    let progress = { issued: 0, met: 0 };
    const identity = new Identity(start({}), () => progress);
    const random = new IdentityRandom(identity);
    const origins = new ReplayableRandom(ORIGIN);
    expect(random.uuid()).toBe(origins.uuid());
    progress = { issued: 2, met: 4 };
    const recorded = { kind: "signal", index: 5, at: 0, signal: "go", payload: VOID } as const;
    identity.resume(start({ run: FIRST, entries: [recorded], origin: origin(5) }));
    expect([identity.run, random.uuid()]).toEqual([ORIGIN, origins.uuid()]);
    progress = { issued: 2, met: 5 };
    expect([identity.run, random.uuid()]).toEqual([FIRST, new ReplayableRandom(FIRST).uuid()]);
    // And one that has nothing left to meet.
    identity.resume(start({ run: RUN_ID, origin: origin(4) }));
    expect(identity.run).toBe(RUN_ID);
  });
});

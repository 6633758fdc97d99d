// Schedules, on the real engine and a clock that skips time: each time starts one run, whatever crashes.

import {
  schedule,
  schedules,
  type ScheduleRecord,
  type ScheduleSpec,
  type ScheduleStart,
  type ScheduleView,
} from "@perdure/agents";
import { openMemoryStore } from "@perdure/engine";
import { object, service, shared, TerminalError, workflow, type ObjectContext, type Servable } from "@perdure/sdk";
import { describe, expect, test } from "vitest";
import { crashAtEveryEntry, createTestMemory, TestWorld, type TestMemory } from "../../src/testing.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Writes down what it was started for. `release` ends those that hold. */
const diary = object("diary", {
  async note(ctx: ObjectContext, text: string) {
    const line = `${ctx.headers["perdure-scheduled-for"]?.slice(5, 16)} ${ctx.headers["perdure-schedule"]} ${text}`;
    ctx.set("lines", [...((await ctx.get<string[]>("lines")) ?? []), line]);
  },
  read: shared(async (ctx) => (await ctx.get<string[]>("lines")) ?? []),
});

const slow = service("slow", {
  async work(ctx, hours: number) {
    await ctx.sleep(hours * HOUR);
    return hours;
  },
  async fail() {
    throw new TerminalError("not today");
  },
});

const report = workflow("report", { run: async (ctx) => ctx.key });

const DAILY = { cron: "0 3 * * *", timeZone: "Europe/Berlin" } as const;
const NOTE = { service: "diary", key: "d", handler: "note" };

class Life {
  readonly memory: TestMemory = createTestMemory();
  readonly services: readonly Servable[];
  world: TestWorld;
  #asked = 0;

  constructor(services: readonly Servable[]) {
    this.services = services;
    this.world = new TestWorld({ services, memory: this.memory });
  }

  static async begin(services: readonly Servable[] = [schedules, diary, slow, report]): Promise<Life> {
    const life = new Life(services);
    await life.world.open();
    await life.world.settle();
    return life;
  }

  /** Calls a handler of the schedule `s` and gives what it answers. */
  async ask<T>(handler: string, input?: unknown, key = "s"): Promise<T> {
    const run = await this.world.submit(
      { service: "perdure.schedules", key, handler },
      input,
      `ask ${(this.#asked += 1)}`,
    );
    await this.world.settle();
    const result = (await this.world.run(run))?.result;
    if (result?.kind === "failure") throw Object.assign(new Error(result.failure.message), result.failure);
    return (result?.kind === "value" ? JSON.parse(String(result.value)) : undefined) as T;
  }

  put(spec: Partial<ScheduleSpec>): Promise<unknown> {
    return this.ask("put", { ...DAILY, target: NOTE, input: "hello", ...spec });
  }

  /** The host is away for that long. */
  async down(ms: number, services: readonly Servable[] = this.services): Promise<void> {
    this.world.crash();
    this.memory.now += ms;
    this.world = new TestWorld({ services, memory: this.memory });
    await this.world.open();
    await this.world.advance(0); // What is overdue, too.
  }

  async lines(): Promise<string[]> {
    return (await this.#state<string[]>("diary", "d", "lines")) ?? [];
  }

  record(): Promise<ScheduleRecord | undefined> {
    return this.#state("perdure.schedules", "s", "schedule");
  }

  async history(): Promise<readonly ScheduleStart[]> {
    return (await this.#state<readonly ScheduleStart[]>("perdure.schedules", "s", "history")) ?? [];
  }

  async #state<T>(name: string, key: string, value: string): Promise<T | undefined> {
    const state = await openMemoryStore(this.memory.storage).reader.state({ service: name, key });
    const payload = state.get(value);
    return payload === undefined ? undefined : (JSON.parse(String(payload)) as T);
  }

  /** Ticks that have not ended. */
  async pendingTicks(): Promise<number> {
    return (await this.world.runs()).filter(({ handler, status }) => handler === "tick" && status === "scheduled")
      .length;
  }

  async started(handler: string): Promise<readonly { readonly at: string; readonly status: string }[]> {
    const runs = await this.world.runs();
    return runs
      .filter((run) => run.handler === handler)
      .map(({ createdAt, status }) => ({ at: new Date(createdAt).toISOString().slice(5, 16), status }));
  }
}

describe("a schedule", () => {
  test("starts its target at each of its times, with the headers that say so", async () => {
    const life = await Life.begin();
    await life.put({});
    await life.world.advance(3 * DAY);
    expect(await life.lines()).toEqual(["01-01T02:00 s hello", "01-02T02:00 s hello", "01-03T02:00 s hello"]);
    expect(await life.pendingTicks()).toBe(1);
    const notes = (await life.world.runs()).filter((run) => run.handler === "note");
    expect(notes[0]?.idempotencyKey).toBe("perdure.schedules/s/2026-01-01T02:00:00.000Z");
    const shown = await life.ask<ScheduleView>("show");
    expect(shown.next.map(({ at }) => new Date(at).toISOString().slice(0, 16))).toEqual(
      [4, 5, 6, 7, 8].map((day) => `2026-01-0${day}T02:00`),
    );
    expect(shown.history.map(({ outcome, status }) => [outcome, status])).toEqual(
      [1, 2, 3].map(() => ["started", "succeeded"]),
    );
  });

  test("does not drift: intervals stay on their marks, however late its ticks are", async () => {
    const life = await Life.begin();
    await life.world.advance(7 * 60_000);
    await life.ask("put", { every: "1h", target: NOTE, input: "poll" });
    await life.world.advance(HOUR);
    await life.down(90 * 60_000);
    await life.world.advance(HOUR);
    expect(await life.lines()).toEqual(["01-01T01:00 s poll", "01-01T02:00 s poll", "01-01T03:00 s poll"]);
  });

  test("D2: arms its next tick before it starts anything", async () => {
    const life = await Life.begin();
    await life.put({});
    const tick = (await life.record())?.next?.tick;
    await life.world.advance(DAY);
    const sent = (tick === undefined ? [] : await life.world.journal(tick)).flatMap((entry) =>
      entry.kind === "command" && entry.command.type === "send" ? [entry.command.target.handler] : [],
    );
    expect(sent).toEqual(["tick", "note"]);
  });

  test("waits for its jitter, and says in the header what it was due for", async () => {
    const life = await Life.begin();
    await life.put({ jitter: "2h" });
    const { next } = (await life.record()) ?? {};
    const wait = (next?.at ?? 0) - (next?.scheduledFor ?? 0);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThan(2 * HOUR);
    await life.world.advance(2 * HOUR + wait - 1);
    expect(await life.lines()).toEqual([]);
    await life.world.advance(1);
    expect(await life.lines()).toEqual(["01-01T02:00 s hello"]);
  });

  test("gives every start of a workflow a key of its own", async () => {
    const life = await Life.begin([schedule("s", { ...DAILY, target: report, handler: "run" })]);
    await life.world.advance(2 * DAY);
    const keys = (await life.world.runs()).filter((run) => run.service === "report").map(({ key }) => key);
    expect(keys).toEqual(["s/2026-01-01T02:00:00.000Z", "s/2026-01-02T02:00:00.000Z"]);
  });

  test("goes on where its target is not served, and says so", async () => {
    const life = await Life.begin();
    await life.put({ target: { service: "gone", handler: "x" } });
    await life.world.advance(2 * DAY);
    expect((await life.history()).map(({ outcome }) => outcome)).toEqual([
      expect.stringContaining('failed: there is no service "gone"'),
      expect.stringContaining('failed: there is no service "gone"'),
    ]);
    expect(await life.pendingTicks()).toBe(1);
  });

  test("refuses a spec that cannot be meant", async () => {
    const life = await Life.begin();
    await expect(life.put({ cron: "0 3 * *" })).rejects.toMatchObject({
      errorCode: "P0021",
      message: expect.stringContaining("five fields"),
    });
    await expect(life.put({ every: "1h" })).rejects.toThrow("either cron or every");
    expect(await life.record()).toBeUndefined();
  });
});

describe("S1: crashed at every entry", () => {
  const driver = service("driver", {
    async run(ctx, spec: Partial<ScheduleSpec>) {
      const kept = ctx.call(schedules, "s");
      await kept.put({ every: "6h", target: NOTE, input: "hello", ...spec });
      await ctx.sleep("13h");
      await kept.trigger();
      await ctx.sleep("6h");
      const { history } = await kept.show();
      await kept.remove();
      await ctx.sleep("1d"); // What was started ends; nothing more is started.
      return {
        lines: await ctx.call(diary, "d").read(),
        history: history.map(({ outcome, status }) => [outcome, status]),
      };
    },
  });
  const drive = (spec: Partial<ScheduleSpec>) =>
    crashAtEveryEntry({
      services: [driver, schedules, diary, slow],
      target: { service: "driver", handler: "run" },
      input: spec,
    });

  test("each time starts one run", async () => {
    const { result, crashes } = await drive({ jitter: "30m" });
    expect(crashes).toBeGreaterThan(80);
    expect(result.kind === "value" && JSON.parse(String(result.value))).toEqual({
      lines: ["01-01T06:00", "01-01T12:00", "01-01T13:00", "01-01T18:00"].map((time) => `${time} s hello`),
      history: [1, 2, 3, 4].map(() => ["started", "succeeded"]),
    });
  });

  test("each time starts one run, of a schedule that is put again at every start", async () => {
    const idle = service("idle", {
      async until(ctx) {
        await ctx.sleep("3d");
        return ctx.call(diary, "d").read();
      },
    });
    const nightly = schedule("s", {
      ...DAILY,
      target: diary,
      key: "d",
      handler: "note",
      input: "x",
      overlap: "cancel",
    });
    const { result } = await crashAtEveryEntry({
      services: [idle, nightly],
      target: { service: "idle", handler: "until" },
    });
    expect(result.kind === "value" && JSON.parse(String(result.value))).toEqual(
      ["01-01", "01-02", "01-03"].map((day) => `${day}T02:00 s x`),
    );
  });

  test("each time starts one run, through changes and pauses", async () => {
    const changing = service("changing", {
      async run(ctx) {
        const kept = ctx.call(schedules, "s");
        const spec = { target: NOTE, input: "x", catchUp: "all" as const };
        await kept.put({ ...spec, every: "2h" });
        await ctx.sleep("3h");
        await kept.put({ ...spec, every: "90m" });
        await ctx.sleep("2h");
        await kept.pause();
        await ctx.sleep("3h");
        await kept.resume();
        await ctx.sleep("2h");
        return ctx.call(diary, "d").read();
      },
    });
    const { result } = await crashAtEveryEntry({
      services: [changing, schedules, diary],
      target: { service: "changing", handler: "run" },
    });
    expect(result.kind === "value" && JSON.parse(String(result.value))).toEqual(
      ["02:00", "04:30", "06:00", "07:30", "09:00"].map((time) => `01-01T${time} s x`),
    );
  });

  test("each time starts one run, through the queue", async () => {
    const { result } = await drive({ overlap: "queue", target: { service: "slow", handler: "work" }, input: 8 });
    expect(result.kind === "value" && JSON.parse(String(result.value))).toMatchObject({
      history: [
        ["queued", null],
        ["queued", null],
        ["started", "going"],
        ["started", "succeeded"],
      ],
    });
  });
});

describe("catching up after days", () => {
  const afterDays = async (spec: Partial<ScheduleSpec>): Promise<Life> => {
    const life = await Life.begin();
    await life.put({ overlap: "parallel", ...spec });
    await life.world.advance(DAY);
    await life.down(3 * DAY + 5 * HOUR);
    await life.world.advance(DAY);
    return life;
  };
  const days = async (life: Life): Promise<readonly string[]> => (await life.lines()).map((line) => line.slice(0, 5));

  test("none: what was missed is left out", async () => {
    const life = await afterDays({ catchUp: "none" });
    expect(await days(life)).toEqual(["01-01", "01-06"]);
    expect((await life.history())[1]?.outcome).toBe('skipped: 4 times passed while nothing ran (catchUp is "none")');
  });

  test("latest: one start makes up for all", async () => {
    const life = await afterDays({ catchUp: "latest" });
    expect(await days(life)).toEqual(["01-01", "01-05", "01-06"]);
    expect((await life.history())[2]?.outcome).toBe('skipped: 3 times passed while nothing ran (catchUp is "latest")');
  });

  test("all: each is made up for, in order", async () => {
    expect(await days(await afterDays({ catchUp: "all" }))).toEqual(
      ["01", "02", "03", "04", "05", "06"].map((d) => `01-${d}`),
    );
  });

  test("all, and more than the maximum: the latest hundred", async () => {
    const life = await Life.begin();
    await life.ask("put", { every: "1h", target: NOTE, input: "x", catchUp: "all", overlap: "parallel" });
    await life.down(150 * HOUR);
    expect(await life.lines()).toHaveLength(100);
    expect(await life.history()).toHaveLength(20);
  });
});

describe("pause, resume, trigger, remove", () => {
  test("a pause holds; a resume makes up for it as catchUp says", async () => {
    for (const [catchUp, lines] of [
      ["none", ["01-01", "01-05"]],
      ["latest", ["01-01", "01-04", "01-05"]],
    ] as const) {
      const life = await Life.begin();
      await life.put({ catchUp });
      await life.world.advance(DAY);
      expect(await life.ask("pause")).toEqual({ name: "s", paused: true, next: null });
      expect(await life.pendingTicks()).toBe(0);
      await life.world.advance(2 * DAY + 2 * HOUR + 10_000); // Ten seconds behind a time: it was paused all the same.
      await life.down(HOUR);
      expect(await life.ask("show")).toMatchObject({ paused: true, next: [] });
      expect(await life.ask("resume")).toMatchObject({ paused: false });
      expect(await life.ask("resume")).toMatchObject({ paused: false });
      await life.world.advance(DAY);
      expect((await life.lines()).map((line) => line.slice(0, 5))).toEqual(lines);
      expect(await life.pendingTicks()).toBe(1);
    }
  });

  test("none: a time that passed just before the resume was paused, not late", async () => {
    const life = await Life.begin();
    await life.put({ catchUp: "none", paused: true });
    await life.world.advance(2 * HOUR + 10_000);
    await life.ask("resume");
    expect(await life.lines()).toEqual([]);
  });

  test("a trigger starts now, also while it is paused, and moves nothing", async () => {
    const life = await Life.begin();
    await life.put({ paused: true });
    await life.world.advance(DAY);
    expect(await life.ask("trigger")).toMatchObject({ outcome: "started" });
    expect(await life.lines()).toEqual(["01-02T00:00 s hello"]);
    await life.ask("resume");
    await life.ask("trigger");
    const { next } = (await life.record()) ?? {};
    expect(new Date(next?.at ?? 0).toISOString()).toBe("2026-01-02T02:00:00.000Z");
    expect(await life.lines()).toHaveLength(3); // With the time that was missed in the pause.
  });

  test("remove ends it, and what waits in its queue; put begins anew", async () => {
    const life = await Life.begin();
    await life.ask("put", { every: "1h", overlap: "queue", target: { service: "slow", handler: "work" }, input: 10 });
    await life.world.advance(3 * HOUR);
    expect((await life.record())?.waiting).toHaveLength(2);
    await life.ask("remove");
    expect(await life.pendingTicks()).toBe(0);
    await life.world.advance(DAY);
    expect(await life.started("work")).toEqual([{ at: "01-01T01:00", status: "succeeded" }]);
    expect(await life.pendingTicks()).toBe(0);
    expect(await life.record()).toBeUndefined();
    await life.put({});
    expect(await life.pendingTicks()).toBe(1);
  });

  test.each(["pause", "resume", "trigger", "remove", "show"])("%s of what is not there is 404", async (handler) => {
    await expect((await Life.begin()).ask(handler)).rejects.toMatchObject({ code: 404 });
  });
});

describe("S2: putting it again", () => {
  test("unchanged, it changes nothing; changed, it holds from the next tick", async () => {
    const life = await Life.begin();
    await life.put({});
    const { next } = (await life.record()) ?? {};
    await life.world.advance(HOUR);
    await life.put({ overlap: "skip", catchUp: "latest", jitter: 0 }); // What is left out is the default.
    expect((await life.record())?.next).toEqual(next);
    await life.put({ input: "changed" });
    expect(await life.pendingTicks()).toBe(1);
    await life.world.advance(2 * HOUR);
    expect(await life.lines()).toEqual(["01-01T02:00 s changed"]);
    await life.ask("put", { every: "6h", target: NOTE, input: "often" });
    await life.world.advance(12 * HOUR);
    expect((await life.lines()).slice(1)).toEqual(["01-01T06:00 s often", "01-01T12:00 s often"]);
    expect(await life.pendingTicks()).toBe(1);
  });

  test("a pause by hand outlives a deploy; a changed `paused` does what it says", async () => {
    const life = await Life.begin();
    await life.put({});
    await life.ask("pause");
    await life.put({ input: "changed" });
    expect((await life.record())?.paused).toBe(true);
    await life.put({ input: "changed", paused: true });
    await life.ask("resume");
    await life.put({ input: "again", paused: true });
    expect(await life.record()).toMatchObject({ paused: false });
    await life.put({ input: "again", paused: false });
    await life.put({ input: "again", paused: true });
    expect(await life.record()).toMatchObject({ paused: true, next: null });
    await life.put({ input: "again" });
    expect(await life.record()).toMatchObject({ paused: false, next: { scheduledFor: expect.any(Number) } });
  });

  test("a timing that is new owes nothing for the time before it, paused or not", async () => {
    const life = await Life.begin();
    await life.put({ paused: true });
    await life.world.advance(5 * HOUR);
    await life.ask("put", { every: "1h", target: NOTE, input: "x", paused: true });
    await life.ask("resume");
    await life.ask("put", { every: "2h", target: NOTE, input: "x", paused: true });
    await life.world.advance(10_000);
    await life.ask("put", { every: "30m", target: NOTE, input: "x" });
    expect(await life.lines()).toEqual([]);
    await life.world.advance(HOUR - 10_000);
    await life.ask("put", { every: "1m", target: NOTE, input: "x", paused: true });
    await life.ask("resume");
    expect((await life.lines()).map((line) => line.slice(6, 11))).toEqual(["05:30", "06:00"]);
  });

  test("times that the old timing owed are made up for first", async () => {
    const nightly = (cron: string) =>
      schedule("s", { cron, timeZone: "Europe/Berlin", target: diary, key: "d", handler: "note", input: cron });
    const life = await Life.begin([nightly("0 3 * * *"), diary]);
    await life.down(3 * HOUR, [nightly("0 12 * * *"), diary]);
    await life.world.advance(DAY);
    expect((await life.lines()).map((line) => line.slice(0, 11))).toEqual(["01-01T02:00", "01-01T11:00"]);
  });

  test("a tick that was cancelled or killed is put on its way again", async () => {
    const life = await Life.begin();
    for (const end of ["cancel", "kill"] as const) {
      await life.put({});
      const tick = (await life.record())?.next?.tick;
      if (tick !== undefined) await life.world[end](tick);
      expect(await life.pendingTicks()).toBe(0);
      await life.put({});
      expect(await life.pendingTicks()).toBe(1);
    }
    await life.world.advance(DAY);
    expect(await life.lines()).toHaveLength(1);
  });

  test("D1: a tick of a former life does nothing", async () => {
    const life = await Life.begin();
    await life.put({});
    for (const paused of [false, true]) {
      if (paused) await life.ask("pause");
      const before = await life.record();
      await life.ask("tick");
      expect(await life.record()).toEqual(before);
      expect(await life.pendingTicks()).toBe(paused ? 0 : 1);
    }
  });
});

describe("overlap", () => {
  const overlapping = async (spec: Partial<ScheduleSpec>): Promise<Life> => {
    const life = await Life.begin();
    await life.ask("put", { every: "2h", target: { service: "slow", handler: "work" }, input: 3, ...spec });
    await life.world.advance(7 * HOUR); // Times at 2, 4 and 6 hours.
    return life;
  };

  test("skip: a time at which the run before has not ended is left out, and noted", async () => {
    const life = await overlapping({ overlap: "skip" });
    expect(await life.started("work")).toEqual([
      { at: "01-01T02:00", status: "succeeded" },
      { at: "01-01T06:00", status: expect.stringMatching(/running|suspended/) },
    ]);
    expect((await life.history())[1]?.outcome).toMatch(/^skipped: run_\w+ has not ended$/);
  });

  test("skip: a run that failed has ended", async () => {
    const life = await Life.begin();
    await life.ask("put", { every: "1h", target: { service: "slow", handler: "fail" } });
    await life.world.advance(HOUR);
    await life.world.advance(HOUR);
    const { history } = await life.ask<ScheduleView>("show");
    expect(history.map(({ outcome, status }) => [outcome, status])).toEqual([
      ["started", "failed"],
      ["started", "failed"],
    ]);
  });

  test("parallel: it starts beside the one before", async () => {
    const life = await overlapping({ overlap: "parallel" });
    expect((await life.started("work")).map(({ at }) => at)).toEqual(["01-01T02:00", "01-01T04:00", "01-01T06:00"]);
  });

  test("cancel: the one before is cancelled", async () => {
    const life = await overlapping({ overlap: "cancel" });
    expect((await life.started("work")).map(({ status }) => status)).toEqual([
      "cancelled",
      "cancelled",
      expect.stringMatching(/running|suspended/),
    ]);
  });

  test("queue: it starts when the one before has ended, however that was; the key is free meanwhile (S3)", async () => {
    const life = await overlapping({ overlap: "queue" });
    expect((await life.started("work")).map(({ at }) => at)).toEqual(["01-01T02:00", "01-01T05:00"]);
    expect((await life.record())?.waiting).toHaveLength(1);
    const shown = await life.ask<ScheduleView>("show");
    expect(shown.history.map(({ outcome, status }) => [outcome, status])).toEqual([
      ["queued", null],
      ["started", "going"],
      ["started", "succeeded"],
    ]);
    const going = shown.history[1]?.run;
    if (going != null) await life.world.kill(going);
    await life.world.settle();
    expect((await life.started("start")).map(({ status }) => status)).toEqual(["succeeded", "succeeded", "running"]);
    expect((await life.started("work")).map(({ at }) => at)).toEqual(["01-01T02:00", "01-01T05:00", "01-01T07:00"]);
    expect((await life.record())?.waiting).toEqual([]);
  });

  test("queue: a hundred wait at most, those that were cancelled not counted", async () => {
    const life = await Life.begin();
    await life.ask("put", {
      every: "1h",
      overlap: "queue",
      target: { service: "slow", handler: "work" },
      input: 1_000,
    });
    await life.world.advance(102 * HOUR);
    expect((await life.history())[0]?.outcome).toBe("skipped: 100 starts wait already");
    const [oldest] = (await life.record())?.waiting ?? [];
    if (oldest !== undefined) await life.world.cancel(oldest.lane);
    await life.world.advance(HOUR);
    expect((await life.history())[0]?.outcome).toBe("queued");
    expect((await life.record())?.waiting).toHaveLength(100);
  });
});

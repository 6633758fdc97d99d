// Commands that act on runs and answer them, against a real server.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openActingWorld, perdure, type ActingWorld } from "./acting-world.ts";

let world: ActingWorld;
beforeAll(async () => {
  world = await openActingWorld();
});
afterAll(() => world.close());

const NOBODY = "run_1000000000000000000000000000000000";

async function listening(): Promise<string> {
  const run = await world.start("worker/listen", "go");
  await world.settled(run);
  return run;
}

async function finished(): Promise<string> {
  const run = await world.start("worker/echo", 1);
  await world.settled(run, "succeeded");
  return run;
}

describe("cancel, kill, pause, resume, purge of named runs", () => {
  it("cancel ends a run, by the end of its id", async () => {
    const run = await listening();
    const { exit, stdout } = await world.ask(["cancel", run.slice(-10)]);
    expect({ exit, stdout: stdout.slice(0, run.length) }).toEqual({ exit: 0, stdout: run });
    expect((await world.settled(run, "cancelled")).run.status).toBe("cancelled");
  });

  it("kill takes several", async () => {
    const runs = [await listening(), await listening()];
    const { exit, stdout } = await world.ask(["kill", ...runs]);
    expect(exit).toBe(0);
    expect(stdout).toBe(runs.map((run) => `${run}  killed\n`).join(""));
  });

  it("pause and resume, as JSON", async () => {
    const run = await listening();
    const paused = await world.ask(["pause", run, "--json"]);
    expect(JSON.parse(paused.stdout)).toEqual({ done: [{ runId: run, status: "paused" }], failed: [] });
    expect((await world.ask(["resume", run])).exit).toBe(0);
    expect((await world.detail(run)).run.status).not.toBe("paused");
  });

  it("purge deletes what has finished, and nothing else", async () => {
    const run = await finished();
    expect(await world.ask(["purge", run])).toMatchObject({ exit: 0, stdout: `${run}  deleted\n` });
    expect(await world.ask(["purge", await listening()])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("P0033"),
    });
  });

  it("one that fails does not stop the others, and is the exit code", async () => {
    const run = await listening();
    const { exit, stdout } = await world.ask(["cancel", NOBODY, run, "--json"]);
    expect(exit).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({
      done: [{ runId: run }],
      failed: [{ run: NOBODY, error: { code: "P0031" } }],
    });
  });

  it.each([
    ["no run", ["cancel"]],
    ["no id", ["cancel", "x/y"]],
    ["runs and a filter", ["cancel", NOBODY, "--service", "worker"]],
    ["runs and --dry-run", ["cancel", NOBODY, "--dry-run"]],
    ["no status", ["cancel", "--status", "asleep"]],
    ["no option", ["cancel", "--frobnicate"]],
    ["no address", ["cancel", NOBODY, "--admin", "nonsense"]],
  ])("refuses %s", async (_, words) => {
    const { exit, stdout, stderr } = await (words.includes("--admin") ? perdure(words) : world.ask(words));
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toMatch(/^perdure: |error/);
  });
});

describe("cancel, kill, pause, resume, purge by a filter", () => {
  it("lists under --dry-run, asks for --yes, then does it", async () => {
    const runs = await Promise.all(["a", "b"].map((key) => world.start(`box/${key}/hold`)));
    for (const run of runs) await world.settled(run);
    const filter = ["--service", "box", "--handler", "hold"];
    const dry = await world.ask(["cancel", ...filter, "--dry-run"]);
    expect(dry.stdout.trim().split("\n").sort()).toEqual([...runs].sort());
    expect(dry).toMatchObject({ exit: 0, stderr: "this would cancel 2 runs\n" });
    expect(await world.ask(["cancel", ...filter])).toMatchObject({ exit: 2, stderr: expect.stringContaining("--yes") });
    const one = await world.ask(["pause", ...filter, "--key", "a", "--yes", "--json"]);
    expect(JSON.parse(one.stdout)).toMatchObject({ matched: 1, done: 1, failed: [] });
    expect(await world.ask(["resume", "--status", "paused", ...filter, "--yes"])).toMatchObject({
      exit: 0,
      stdout: "resume: 1 run\n",
    });
    expect(await world.ask(["cancel", ...filter, "--yes"])).toMatchObject({ exit: 0, stdout: "cancel: 2 runs\n" });
    for (const run of runs) await world.settled(run, "cancelled");
  });

  it("purges what has finished", async () => {
    await finished();
    const filter = ["--service", "worker", "--handler", "echo"];
    const dry = JSON.parse((await world.ask(["purge", ...filter, "--dry-run", "--json"])).stdout) as {
      matched: number;
      runs: string[];
    };
    expect(dry).toMatchObject({ dryRun: true, matched: dry.runs.length });
    expect(dry.matched).toBeGreaterThan(0);
    const purged = await world.ask(["purge", ...filter, "--yes", "--json"]);
    expect(JSON.parse(purged.stdout)).toMatchObject({ matched: dry.matched, done: dry.matched });
    expect(await world.ask(["purge", ...filter, "--yes"])).toMatchObject({ exit: 0, stdout: "purge: 0 runs\n" });
  });
});

describe("restart", () => {
  it("goes on from an entry", async () => {
    const run = await world.start("worker/steps", 3);
    await world.settled(run, "succeeded");
    expect(await world.ask(["restart", run, "--from", "2"])).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining(run),
    });
    expect((await world.settled(run, "succeeded")).run.generation).toBe(1);
    expect((await world.ask(["restart", run, "--from", "99"])).exit).toBe(5);
    expect(JSON.parse((await world.ask(["restart", run, "--from", "1", "--json"])).stdout)).toMatchObject({
      runId: run,
    });
  });

  it("wants an entry and a run", async () => {
    for (const words of [
      ["restart", NOBODY],
      ["restart", NOBODY, "--from", "0"],
      ["restart", "--from", "1"],
    ])
      expect((await world.ask(words)).exit).toBe(2);
    expect((await world.ask(["restart", NOBODY, "--from", "1"])).exit).toBe(4);
  });
});

describe("fork and rewind", () => {
  const steps = async (): Promise<string> => {
    const run = await world.start("worker/steps", 3);
    await world.settled(run, "succeeded");
    return run;
  };

  it("forks at an entry, with a note, or anew with another input", async () => {
    const run = await steps();
    const at = JSON.parse((await world.ask(["fork", run, "--at", "2", "--note", "{}", "--json"])).stdout) as {
      runId: string;
    };
    expect(await world.settled(at.runId, "succeeded")).toMatchObject({ run: { forkedFrom: { runId: run, entry: 2 } } });
    expect((await world.ask(["show", at.runId])).stdout).toContain(`${run}, at entry 2`);
    const anew = await world.ask(["fork", run, "--at", "0", "--input", "-", "--json"], { stdin: "1" });
    const { runId } = JSON.parse(anew.stdout) as { runId: string };
    expect(await world.settled(runId, "succeeded")).toMatchObject({ run: { result: { value: 1 } } });
    expect(await world.ask(["fork", run, "--at", "1", "--input", "1"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("give a note"),
    });
    expect(await world.ask(["fork", run, "--at", "the beginning"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("none of its moments has a name"),
    });
    expect((await world.ask(["fork", run, "--input", "{"])).exit).toBe(2);
    expect((await world.ask(["fork", NOBODY])).exit).toBe(4);
  });

  it("rewinds, and says where it kept what was", async () => {
    const run = await steps();
    const rewound = await world.ask(["rewind", run, "--to", "1"]);
    expect(rewound).toMatchObject({ exit: 0, stdout: expect.stringContaining(run) });
    expect(rewound.stderr).toMatch(/^what it was: perdure show run_1/);
    expect((await world.settled(run, "succeeded")).run.generation).toBe(1);
    const answer = JSON.parse((await world.ask(["rewind", run, "--to", "0", "--json"])).stdout) as { branch: string };
    expect((await world.detail(answer.branch)).run.forkedFrom).toMatchObject({ runId: run });
    expect((await world.ask(["rewind", run])).exit).toBe(2);
    expect((await world.ask(["rewind", run, "--to", "99"])).exit).toBe(5);
  });

  it("lists moments, and names those that there are", async () => {
    const run = await steps();
    const listed = await world.ask(["moments", run], { tty: true });
    expect(listed).toMatchObject({ exit: 0, stderr: expect.stringContaining("no moments") });
    expect(JSON.parse((await world.ask(["moments", run, "--json"])).stdout)).toEqual({ moments: [] });
    expect(await world.ask(["moments", "name", run, "2", "here"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("there is no image at entry 2"),
    });
  });
});

describe("settle", () => {
  const unknown = async (): Promise<string> => {
    const run = await world.start("worker/once");
    await world.settled(run, "paused");
    return run;
  };

  it("takes a result, nothing, or standard input", async () => {
    const settle = async (words: readonly string[], stdin?: string): Promise<unknown> => {
      const run = await unknown();
      const { exit } = await world.ask(["settle", run, "1", ...words], stdin === undefined ? {} : { stdin });
      expect(exit).toBe(0);
      return (await world.settled(run, "succeeded")).run.result;
    };
    expect(await settle(["--happened", '{"paid":5}'])).toEqual({ kind: "value", value: { paid: 5 } });
    expect(await settle(["--happened", "-"], "[1]")).toEqual({ kind: "value", value: [1] });
    expect(await settle(["--happened"])).toEqual({ kind: "void" });
  });

  it("takes a failure, and runs it again", async () => {
    const run = await unknown();
    const again = await world.ask(["settle", run, "1", "--not-happened", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ runId: run });
    await world.settled(run, "paused");
    expect((await world.ask(["settle", run, "1", "--failed", "declined"])).exit).toBe(0);
    expect((await world.settled(run, "failed")).run.failure?.message).toBe("declined");
  });

  it("wants exactly one outcome, and a command that waits for it", async () => {
    const run = await unknown();
    for (const words of [[], ["--happened", "--not-happened"], ["--happened", "five"], ["--failed"]])
      expect((await world.ask(["settle", run, "1", ...words])).exit).toBe(2);
    expect((await world.ask(["settle", run, "one", "--happened"])).exit).toBe(2);
    expect((await world.ask(["settle", run, "9", "--happened"])).exit).toBe(5);
  });
});

describe("signal, resolve, reject", () => {
  it("a signal carries JSON, standard input, or nothing", async () => {
    const signal = async (words: readonly string[], stdin = ""): Promise<unknown> => {
      const run = await listening();
      expect((await world.ask(["signal", run, "go", ...words], { stdin })).exit).toBe(0);
      const { result } = (await world.settled(run, "succeeded")).run;
      return result?.kind === "value" ? result.value : result?.kind;
    };
    expect(await signal(['{"a":1}'])).toEqual({ a: 1 });
    expect(await signal(["-"], '"typed"\n')).toBe("typed");
    expect(await signal([])).toBe("void");
  });

  const awakeable = async (): Promise<{ run: string; id: string }> => {
    const run = await world.start("worker/wait");
    const { waits } = await world.settled(run);
    return { run, id: (waits[0] as { id: string }).id };
  };

  it("resolve answers, reject lets it fail", async () => {
    const first = await awakeable();
    const resolved = await world.ask(["resolve", first.id, '"yes"', "--json"]);
    expect(JSON.parse(resolved.stdout)).toEqual({ runId: first.run, status: null });
    expect((await world.settled(first.run, "succeeded")).run.result).toEqual({ kind: "value", value: "yes" });
    const second = await awakeable();
    expect(await world.ask(["reject", second.id, "not today"])).toMatchObject({ exit: 0, stdout: `${second.run}\n` });
    expect((await world.settled(second.run, "failed")).run.failure?.message).toBe("not today");
  });

  it("what is no JSON is refused, with a hint on quotes", async () => {
    const run = await listening();
    const { exit, stderr } = await world.ask(["signal", run, "go", "yes"]);
    expect({ exit, hint: stderr.includes(`'"yes"'`) }).toEqual({ exit: 2, hint: true });
    const { id } = await awakeable();
    expect((await world.ask(["resolve", id, "{a:1}"])).exit).toBe(2);
    expect((await world.ask(["resolve", id, "-"], { stdin: "{a" })).exit).toBe(2);
    expect((await world.ask(["reject", id])).exit).toBe(2);
    expect((await world.ask(["resolve", "sign_1nonsense", "1"])).exit).not.toBe(0);
  });
});

it("without a runtime: exit code 3, as JSON where asked", async () => {
  const { exit, stderr } = await perdure(["cancel", NOBODY, "--admin", "http://127.0.0.1:9", "--json"]);
  expect(exit).toBe(3);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "P0053", exit: 3 } });
});

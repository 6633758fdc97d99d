// Commands that look: runs, show, tail, result, services. Each as a person types it, as a pipe and as JSON.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LookWorld, until } from "./look-world.ts";

let world: LookWorld;
beforeAll(async () => {
  world = await LookWorld.open();
});
afterAll(() => world.close());

const ABSENT = `run_1${"0".repeat(33)}`;
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b/;

const lines = (text: string): readonly string[] => text.trimEnd().split("\n");
const documents = (text: string): readonly Record<string, unknown>[] =>
  lines(text).map((line) => JSON.parse(line) as Record<string, unknown>);

describe("runs", () => {
  it("is a table with whole ids in a pipe, and short ones that fit on a terminal", async () => {
    const run = await world.begin("inbox/ada/add", "milk", "succeeded");
    const piped = await world.run("runs", "--service", "inbox");
    expect(piped).toMatchObject({ code: 0, err: "" });
    expect(lines(piped.out)[0]).toMatch(/^RUN +STATUS +TARGET/);
    expect(lines(piped.out).slice(1)).toEqual([expect.stringMatching(new RegExp(`^${run}  succeeded  inbox/ada/add`))]);
    expect(piped.out).not.toMatch(ESCAPES);
    const seen = await world.type(["runs", "--service", "inbox"], { terminal: 70 }).done;
    expect(seen.out).toContain(run.slice(-10));
    expect(seen.out).not.toContain(run);
    for (const line of lines(seen.out)) expect(line.length).toBeLessThanOrEqual(70);
  });

  it("colours on a terminal only", async () => {
    const env = { NO_COLOR: "" };
    expect((await world.type(["runs"], { env, terminal: 100 }).done).out).toMatch(ESCAPES);
    expect((await world.type(["runs"], { env }).done).out).not.toMatch(ESCAPES);
  });

  it("filters by status, service, handler, key, time and parent", async () => {
    const failed = await world.begin("worker/fail", undefined, "failed");
    const ids = async (...words: readonly string[]): Promise<readonly string[]> => {
      const { code, out } = await world.run("runs", "--json", ...words);
      expect(code).toBe(0);
      return (JSON.parse(out) as { runs: { id: string }[] }).runs.map(({ id }) => id);
    };
    expect(await ids("--status", "failed")).toContain(failed);
    expect(await ids("--status", "failed,killed", "--handler", "fail", "--since", "1h")).toEqual([failed]);
    expect(await ids("--status", "succeeded", "--handler", "fail")).toEqual([]);
    expect(await ids("--service", "inbox", "--key", "nobody")).toEqual([]);
    expect(await ids("--since", "2999-01-01")).toEqual([]);
    const parent = await world.begin("worker/family", undefined, "suspended");
    expect(await ids("--parent", parent.slice(-12))).toHaveLength(2);
  });

  it("pages: a limit and where it goes on, or all", async () => {
    for (const key of ["p1", "p2", "p3"]) await world.begin(`inbox/${key}/add`, "x", "succeeded");
    const first = JSON.parse((await world.run("runs", "--service", "inbox", "--limit", "2", "--json")).out) as {
      runs: { key: string }[];
      nextCursor: number;
    };
    expect(first.runs.map(({ key }) => key)).toEqual(["p3", "p2"]);
    const next = await world.run(
      "runs",
      "--service",
      "inbox",
      "-n",
      "1",
      "--cursor",
      String(first.nextCursor),
      "--json",
    );
    expect((JSON.parse(next.out) as typeof first).runs.map(({ key }) => key)).toEqual(["p1"]);
    const all = await world.run("runs", "--service", "inbox", "--all", "--json");
    expect(documents(all.out).map(({ key }) => key)).toEqual(["p3", "p2", "p1", "ada"]);
    const table = await world.run("runs", "--service", "inbox", "--all");
    expect(lines(table.out)).toHaveLength(5);
  });

  it("refuses what makes no sense", async () => {
    expect(await world.run("runs", "--status", "sleeping")).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("suspended"),
    });
    expect(await world.run("runs", "--since", "yore")).toMatchObject({ code: 2, err: expect.stringContaining("15m") });
    expect(await world.run("runs", "--limit", "0")).toMatchObject({ code: 2 });
    expect(await world.run("runs", "--watch", "--all")).toMatchObject({ code: 2 });
    expect(await world.run("runs", "--parent", "no such id!")).toMatchObject({ code: 2 });
    expect(await world.run("runs", "--admin", "http://127.0.0.1:1")).toMatchObject({ code: 3, out: "" });
  });

  it("--watch prints a line for each change in a pipe, until Ctrl-C", async () => {
    const plain = world.type(["runs", "--watch", "--handler", "nothing"]);
    const json = world.type(["runs", "--watch", "--handler", "nothing", "--json"]);
    let run = "";
    await until("a change", async () => {
      run = await world.begin("worker/nothing", undefined, "succeeded");
      return plain.out() !== "" && json.out() !== "";
    });
    await until("its end", () => plain.out().includes("succeeded") && json.out().includes('"succeeded"'));
    plain.interrupt();
    json.interrupt();
    const [text, documentLines] = [await plain.done, await json.done];
    expect(text.code).toBe(130);
    expect(text.out).toContain(`${run}  worker/nothing`);
    expect(text.out).not.toMatch(ESCAPES);
    for (const event of documents(documentLines.out))
      expect(event).toMatchObject({ type: "run", run: { handler: "nothing" } });
  });

  it("--watch is a table that follows on a terminal, and leaves the last one there", async () => {
    const watch = world.type(["runs", "--watch", "--handler", "echo"], { terminal: 100 });
    await until("the table", () => watch.out().includes("live"));
    const run = await world.begin("worker/echo", 1, "succeeded");
    await until("the run", () => watch.out().includes(run.slice(-10)));
    watch.interrupt();
    const { code, out } = await watch.done;
    expect(code).toBe(130);
    const left = out.slice(out.lastIndexOf("\u001b[?1049l"));
    expect(left).toContain(run.slice(-10));
  });
});

describe("show", () => {
  it("tells what a run did and returned", async () => {
    const run = await world.begin("inbox/show/add", "bread", "succeeded");
    const { code, out, err } = await world.run("show", run);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`${run}  inbox/show/add`);
    expect(out).toMatch(/status +succeeded/);
    expect(out).toMatch(/input +"bread"/);
    expect(out).toMatch(/result +"show: bread"/);
    expect(out).not.toMatch(ESCAPES);
  });

  it("offers the command that answers an awakeable, and that command's words are right", async () => {
    const run = await world.begin("worker/approve", undefined, "suspended");
    const { out } = await world.run("show", run);
    const id = /perdure resolve (sign_1[\w-]+) '<json>'/.exec(out)?.[1];
    expect(id).toBeDefined();
    expect(out).toContain(`perdure reject ${id}`);
    expect(out).toMatch(/\+\d+(\.\d)?m?s .*step "announce" = "sign_1/);
    await world.post(`/awakeables/${id}/resolve`, { ok: true });
    await world.reaches(run, "succeeded");
    expect((await world.run("show", run)).out).toContain('{"ok":true}');
  });

  it("offers the command for a signal, quoted where it has to be", async () => {
    const run = await world.begin("worker/listen", "go on", "suspended");
    expect((await world.run("show", run)).out).toContain(`perdure signal ${run} 'go on' '<json>'`);
  });

  it("says until when a timer runs, and which", async () => {
    const run = await world.begin("worker/nap", 3_600_000, "suspended");
    const { out } = await world.run("show", run);
    expect(out).toMatch(/waits for\n +sleep #1 "nap" until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/);
  });

  it("shows retries with their error and the next time", async () => {
    const flaky = await world.begin("worker/flaky", undefined, "suspended");
    const step = (await world.run("show", flaky)).out;
    expect(step).toMatch(/\+\d+ms .*try 1 of #1 failed: 500 the post office is closed; next try at \d{4}-/);
    expect(step).toMatch(/waits for\n +the next try of #1 at .* \(in \d+[hm]/);
    const shaky = await world.begin("worker/shaky", undefined, "retrying");
    const handling = (await world.run("show", shaky)).out;
    expect(handling).toMatch(/failed 1 time: 500 the floor trembles; next try in \d+/);
    expect(handling).toContain(`perdure resume ${shaky}`);
    const nextTry = async (): Promise<string | undefined> => {
      const { run } = JSON.parse((await world.run("show", shaky, "--json")).out) as {
        run: { retry: { at: string } | null };
      };
      return run.retry?.at;
    };
    const before = await nextTry();
    expect(before).toBeDefined();
    await world.post(`/runs/${shaky}/resume`, {});
    // As the offer says: it is tried at once. It fails again, and waits for another hour from then on.
    await until("another try", async () => ![undefined, before].includes(await nextTry()));
  });

  it("says why a run is paused and what can be done", async () => {
    const tired = await world.begin("worker/tired", undefined, "paused");
    const { out } = await world.run("show", tired);
    expect(out).toMatch(/paused: .*nobody there/);
    expect(out).toContain(`perdure resume ${tired}`);
    expect(out).toContain(`perdure cancel ${tired}`);
    const charge = await world.begin("worker/charge", undefined, "paused");
    const unknown = (await world.run("show", charge)).out;
    expect(unknown).toContain("P0011");
    expect(unknown).toContain(`perdure settle ${charge} 1 --happened`);
    expect(unknown).toContain(`perdure settle ${charge} 1 --not-happened`);
  });

  it("lists children, or all of them below each other", async () => {
    const run = await world.begin("worker/family", undefined, "suspended");
    await until(
      "the grandchild",
      async () =>
        (await world.run("show", run, "--tree")).out.includes("worker/approve\n") ||
        (await world.run("show", run, "--tree")).out.includes("worker/approve  "),
    );
    await until("the child that has an end", async () =>
      /succeeded +worker\/echo/.test((await world.run("show", run, "--tree")).out),
    );
    const plain = await world.run("show", run);
    expect(plain.out).toMatch(/2 children, 1 of them not finished/);
    const tree = await world.run("show", run, "--tree");
    expect(tree.out).toMatch(/├─ .*worker\/approveTwice.*\n.*│ {2}└─ .*worker\/approve .*\n.*└─ .*worker\/echo/);
    const { tree: json } = JSON.parse((await world.run("show", run, "--tree", "--json")).out) as {
      tree: { run: { id: string }; children: { children: unknown[] }[] };
    };
    expect(json.run.id).toBe(run);
    expect(json.children.map(({ children }) => children.length)).toEqual([1, 0]);
  });

  it("says in a list why a run is where it is, on one line", async () => {
    const run = await world.begin("worker/charge", undefined, "paused");
    const row = lines((await world.run("runs", "--status", "paused")).out).find((line) => line.startsWith(run));
    expect(row).toMatch(/P0011 The effect of step "charge"/);
    expect(row).not.toContain("\\n");
  });

  it("shortens what is long, and shows all of it with --full", async () => {
    const run = await world.begin("worker/large", undefined, "succeeded");
    const short = (await world.run("show", run)).out;
    expect(short).not.toContain("x".repeat(500));
    expect((await world.run("show", run, "--full")).out).toContain("x".repeat(9_000));
  });

  it("gives the API's document as JSON", async () => {
    const run = await world.begin("worker/fail", undefined, "failed");
    const document = JSON.parse((await world.run("show", run, "--json")).out) as Record<string, unknown>;
    expect(document).toMatchObject({
      run: { id: run, status: "failed", failure: { code: 418, message: "no stamps left" } },
      live: false,
      waits: [],
      children: { runs: [] },
      journal: { entries: [], nextAfter: null },
    });
  });

  it("takes abbreviated ids, and says what is wrong with others", async () => {
    const run = await world.begin("worker/echo", "abbreviated", "succeeded");
    expect((await world.run("show", run.slice(-10))).out).toContain(run);
    expect((await world.run("show", run.slice(0, 24))).out).toContain(run);
    expect(await world.run("show", ABSENT)).toMatchObject({ code: 4, out: "", err: expect.stringContaining("P0031") });
    expect(await world.run("show", "ZZZZZZZZZZZZ")).toMatchObject({ code: 4, out: "" });
    expect(await world.run("show", "what?")).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("not a run id"),
    });
    expect(await world.run("show")).toMatchObject({ code: 2 });
    const json = await world.run("show", ABSENT, "--json");
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: "P0031", exit: 4 } });
  });

  it("names the candidates where an abbreviation is not enough", async () => {
    const runs = [
      await world.begin("inbox/same/add", "1", "succeeded"),
      await world.begin("inbox/same/add", "2", "succeeded"),
    ];
    // Runs of one key share the first part of their ids.
    const { code, err } = await world.run("show", (runs[0] ?? "").slice(0, 16));
    expect(code).toBe(2);
    for (const run of runs) expect(err).toContain(run);
  });
});

describe("tail", () => {
  it("follows one run to its end, whose outcome is the exit code", async () => {
    const run = await world.begin("worker/approve", undefined, "suspended");
    const tail = world.type(["tail", run]);
    const json = world.type(["tail", run, "--json"]);
    await until("both to listen", () => tail.out() !== "" && json.out() !== "");
    const awakeable = /sign_1[\w-]+/.exec((await world.run("show", run)).out)?.[0] ?? "";
    await world.post(`/awakeables/${awakeable}/resolve`, "yes");
    const [text, documentLines] = [await tail.done, await json.done];
    expect(text).toMatchObject({ code: 0, out: expect.stringContaining("succeeded") });
    expect(text.out).not.toMatch(ESCAPES);
    const events = documents(documentLines.out);
    expect(events.map(({ type }) => type)).toContain("entry");
    expect(events.at(-1)).toMatchObject({ type: "run", run: { id: run, status: "succeeded" } });
  });

  it("ends with 1 where the run did not succeed, also where that is long ago", async () => {
    const failed = await world.begin("worker/fail", undefined, "failed");
    expect(await world.run("tail", failed)).toMatchObject({ code: 1, out: expect.stringContaining("no stamps left") });
    const napping = await world.begin("worker/nap", 3_600_000, "suspended");
    const tail = world.type(["tail", napping]);
    await until("it to listen", () => tail.out() !== "");
    await world.post(`/runs/${napping}/kill`, {});
    expect(await tail.done).toMatchObject({ code: 1, out: expect.stringContaining("killed") });
    const done = await world.begin("worker/echo", 1, "succeeded");
    expect(await world.run("tail", done)).toMatchObject({ code: 0 });
  });

  it("ends where the run is deleted", async () => {
    const run = await world.begin("worker/nap", 3_600_000, "suspended");
    const tail = world.type(["tail", run]);
    await until("it to listen", () => tail.out() !== "");
    await world.post(`/runs/${run}/kill`, {});
    await world.post(`/runs/${run}/purge`, {});
    expect((await tail.done).code).toBe(1);
  });

  it("follows everything until Ctrl-C, or one service", async () => {
    const all = world.type(["tail"]);
    const one = world.type(["tail", "--service", "inbox", "--json"]);
    await until("both to see something", async () => {
      await world.begin("worker/echo", "seen", "succeeded");
      await world.begin("inbox/tail/add", "seen", "succeeded");
      return all.out().includes("worker/echo") && one.out().includes('"inbox"');
    });
    all.interrupt();
    one.interrupt();
    expect((await all.done).code).toBe(130);
    expect(documents((await one.done).out).filter(({ type }) => type === "run")).toSatisfy(
      (events: { run: { service: string } }[]) => events.every(({ run }) => run.service === "inbox"),
    );
  });

  it("says that there is no such run", async () => {
    expect(await world.run("tail", ABSENT)).toMatchObject({ code: 4, out: "" });
    expect(await world.run("tail", "?")).toMatchObject({ code: 2 });
    expect(await world.run("tail", "--admin", "http://127.0.0.1:1")).toMatchObject({ code: 3 });
  });
});

describe("result", () => {
  it("prints the JSON that the handler returned", async () => {
    const run = await world.begin("worker/echo", { a: [1, "two"] }, "succeeded");
    expect(await world.run("result", run)).toEqual({ code: 0, out: '{"a":[1,"two"]}\n', err: "" });
    expect(await world.run("result", run.slice(-12))).toMatchObject({ code: 0, out: '{"a":[1,"two"]}\n' });
    expect(JSON.parse((await world.run("result", run, "--json")).out)).toMatchObject({
      runId: run,
      result: { a: [1, "two"] },
    });
    const nothing = await world.begin("worker/nothing", undefined, "succeeded");
    expect(await world.run("result", nothing)).toEqual({ code: 0, out: "", err: "" });
  });

  it("exits with 1 and says why where the run failed", async () => {
    const run = await world.begin("worker/fail", undefined, "failed");
    expect(await world.run("result", run)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("no stamps left"),
    });
    const json = await world.run("result", run, "--json");
    expect(json.code).toBe(1);
    expect(json.out + json.err).toContain("no stamps left");
  });

  it("tells a run that has no result yet from one that failed with the same status", async () => {
    const early = await world.begin("worker/early", undefined, "failed");
    expect(await world.run("result", early)).toMatchObject({ code: 1, err: expect.stringContaining("too early") });
    const napping = await world.begin("worker/nap", 3_600_000, "suspended");
    expect(await world.run("result", napping)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("--wait"),
    });
  });

  it("--wait waits, and Ctrl-C ends the waiting only", async () => {
    const run = await world.begin("worker/nap", 400);
    expect(await world.run("result", run, "--wait")).toEqual({ code: 0, out: '"rested"\n', err: "" });
    const long = await world.begin("worker/nap", 3_600_000, "suspended");
    const waiting = world.type(["result", long, "--wait"]);
    setTimeout(() => waiting.interrupt(), 100);
    expect(await waiting.done).toMatchObject({ code: 130, out: "" });
    await world.reaches(long, "suspended");
  });

  it("says that there is no such run", async () => {
    expect(await world.run("result", ABSENT)).toMatchObject({
      code: 4,
      out: "",
      err: expect.stringContaining("P0031"),
    });
    expect(await world.run("result", ABSENT, "--wait")).toMatchObject({ code: 4, out: "" });
    expect(await world.run("result", "bad id")).toMatchObject({ code: 2 });
  });
});

describe("services", () => {
  it("lists every handler as it is called", async () => {
    const { code, out, err } = await world.run("services");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^worker\/nothing +service .*Does nothing at all$/m);
    expect(out).toMatch(/^inbox\/<key>\/add +object +exclusive$/m);
    expect(out).not.toMatch(ESCAPES);
  });

  it("gives the whole manifests as JSON", async () => {
    const { services } = JSON.parse((await world.run("services", "--json")).out) as {
      services: { name: string; handlers: { name: string }[] }[];
    };
    expect(services.map(({ name }) => name).toSorted()).toEqual(["inbox", "worker"]);
  });

  it("says where no runtime answers, in JSON under --json", async () => {
    const refused = await world.run("services", "--admin", "http://127.0.0.1:1", "--json");
    expect(refused).toMatchObject({ code: 3, out: "" });
    expect(JSON.parse(refused.err)).toMatchObject({ error: { code: "P0053" } });
    expect(await world.run("services", "--admin", "nonsense")).toMatchObject({ code: 2 });
  });
});

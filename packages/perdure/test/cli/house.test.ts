// perdure doctor, export and completions; and the command on a Node that is too old.

import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openActingWorld, perdure, type ActingWorld } from "./acting-world.ts";

const NOWHERE = "http://127.0.0.1:9";
let world: ActingWorld;
/** The directory as a crash would leave it. */
let crashed: string;
let scratch: string;

beforeAll(async () => {
  world = await openActingWorld();
  scratch = mkdtempSync(join(tmpdir(), "perdure-house-"));
  crashed = join(scratch, "crashed");
  for (let n = 0; n < 40; n += 1)
    await world.settled(await world.start(`box/k${n}/put`, "x".repeat(2_000)), "succeeded");
  mkdirSync(crashed);
  for (const name of ["perdure.db", "perdure.db-wal", "perdure.owner.json"])
    copyFileSync(join(world.data, name), join(crashed, name));
  const owner = JSON.parse(readFileSync(join(crashed, "perdure.owner.json"), "utf8")) as object;
  writeFileSync(join(crashed, "perdure.owner.json"), JSON.stringify({ ...owner, pid: 1 }));
});
afterAll(async () => {
  rmSync(scratch, { recursive: true, force: true });
  await world.close();
});

interface Report {
  readonly status: string;
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly do?: string;
  }[];
}

async function doctor(
  ...words: readonly string[]
): Promise<Report & { readonly exit: number; check(name: string): object | undefined }> {
  const { exit, stdout } = await perdure(["doctor", "--json", ...words]);
  const report = JSON.parse(stdout) as Report;
  return { ...report, exit, check: (name) => report.checks.find((check) => check.name === name) };
}

describe("doctor", () => {
  it("with a runtime: its version, and the directory that it has open", async () => {
    const found = await doctor(
      "--admin",
      world.server.adminUrl,
      "--url",
      world.server.ingressUrl,
      "--data",
      world.data,
    );
    expect(found.exit).toBe(0);
    expect(found.check("node")).toMatchObject({ status: "ok", message: process.versions.node });
    expect(found.check("runtime")).toMatchObject({
      status: "ok",
      message: expect.stringContaining("serves 2 services"),
    });
    expect(found.check("lock")).toMatchObject({
      status: "ok",
      message: expect.stringContaining(`open in process ${process.pid}`),
    });
    expect(found.check("integrity")).toMatchObject({ message: "not looked at while it is in use" });
  });

  it("a directory that is open although nobody answers is a warning", async () => {
    const found = await doctor("--admin", NOWHERE, "--data", world.data);
    expect(found).toMatchObject({ exit: 0, status: "warn" });
    expect(found.check("lock")).toMatchObject({ status: "warn" });
  });

  it("after a crash: nobody has it open, whoever has the number of its process now, and it is whole", async () => {
    const found = await doctor("--admin", NOWHERE, "--data", crashed);
    expect(found.check("lock")).toMatchObject({ status: "ok", message: expect.stringContaining("process 1 ended") });
    expect(found.check("integrity")).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/^the database is whole; 40 runs; so is the log that is left beside it$/),
    });
    expect(found.exit).toBe(0);
  });

  it("a log that is gone, a cut database and a file in place of the directory fail, and say what to do", async () => {
    const broken = join(scratch, "broken");
    mkdirSync(broken);
    for (const name of ["perdure.db", "perdure.owner.json"]) copyFileSync(join(crashed, name), join(broken, name));
    const gone = await doctor("--admin", NOWHERE, "--data", broken);
    expect(gone.exit).toBe(1);
    expect(gone.check("integrity")).toMatchObject({
      status: "fail",
      message: expect.stringContaining("-wal is missing"),
      do: expect.stringContaining("export"),
    });
    rmSync(join(broken, "perdure.owner.json"));
    truncateSync(join(broken, "perdure.db"), 50);
    expect((await doctor("--admin", NOWHERE, "--data", broken)).check("integrity")).toMatchObject({ status: "fail" });
    expect((await doctor("--admin", NOWHERE, "--data", join(broken, "perdure.db"))).exit).toBe(1);
  });

  it("names who holds a port", async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    const { port } = other.address() as AddressInfo;
    // It hangs up at once: it is no runtime.
    other.on("connection", (socket) => socket.destroy());
    const found = await doctor(
      "--admin",
      `http://127.0.0.1:${port}`,
      "--url",
      NOWHERE,
      "--data",
      join(scratch, "none"),
    );
    other.close();
    expect(found.check("admin port")).toMatchObject({
      status: "warn",
      message: expect.stringContaining(`port ${port} is taken`),
    });
    if (process.platform === "linux")
      expect(found.check("admin port")).toMatchObject({ message: expect.stringContaining(`process ${process.pid}`) });
  });

  it("as text", async () => {
    const { exit, stdout } = await perdure(["doctor", "--admin", NOWHERE, "--data", join(scratch, "none")]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^ok {4}node/);
    expect(stdout).toMatch(/^warn {2}runtime/m);
  });
});

describe("export", () => {
  const linesOf = (text: string): readonly Record<string, unknown>[] =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const count = (lines: readonly Record<string, unknown>[], type: string): number =>
    lines.filter((line) => line["type"] === type).length;

  it("writes runs, entries and state, also while it is open elsewhere", async () => {
    for (const data of [world.data, crashed]) {
      const { exit, stdout } = await perdure(["export", "--data", data]);
      const lines = linesOf(stdout);
      expect({ exit, runs: count(lines, "run"), state: count(lines, "state") }).toEqual({
        exit: 0,
        runs: 40,
        state: 40,
      });
      expect(count(lines, "entry")).toBeGreaterThanOrEqual(40);
      expect(lines[0]).toMatchObject({ type: "header", format: 1 });
      expect(lines.at(-1)).toMatchObject({ type: "end", runs: 40, keys: 40, unreadable: [] });
    }
  });

  it("leaves out what cannot be read, and says so", async () => {
    const damaged = join(scratch, "damaged");
    await closedCopy(damaged);
    const file = join(damaged, "perdure.db");
    const bytes = readFileSync(file);
    // All but the first pages, so that the tables are known but much of them is not there.
    bytes.fill(0x5a, 4_096 * 34);
    writeFileSync(file, bytes);
    const { exit, stdout, stderr } = await perdure(["export", "--data", damaged]);
    const lines = linesOf(stdout);
    expect({ exit, header: lines[0]?.["type"], end: lines.at(-1)?.["type"] }).toEqual({
      exit: 1,
      header: "header",
      end: "end",
    });
    expect(lines.at(-1)?.["unreadable"]).not.toEqual([]);
    expect(stderr).toContain("could not be read");
  });

  it("to a file, which must be new", async () => {
    const file = join(scratch, "out.jsonl");
    const { exit, stdout } = await perdure(["export", "--data", crashed, "--out", file, "--json"]);
    expect({ exit, ...(JSON.parse(stdout) as object) }).toMatchObject({ exit: 0, runs: 40 });
    expect(count(linesOf(readFileSync(file, "utf8")), "run")).toBe(40);
    expect((await perdure(["export", "--data", crashed, "--out", file])).exit).toBe(2);
  });

  it("of no directory, and of one that cannot be opened", async () => {
    expect((await perdure(["export", "--data", join(scratch, "none")])).exit).toBe(4);
    expect(await perdure(["export", "--data", scratch])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("P0041"),
    });
  });

  /** As it is after it was closed in order: everything in the database. */
  async function closedCopy(to: string): Promise<void> {
    mkdirSync(to);
    for (const name of ["perdure.db", "perdure.db-wal"]) copyFileSync(join(world.data, name), join(to, name));
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(join(to, "perdure.db"));
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
  }
});

describe("completions", () => {
  const has = (shell: string): boolean => spawnSync(shell, ["--version"]).error === undefined;

  it.each(["bash", "zsh", "fish"])("know the commands and options: %s", async (shell) => {
    const { exit, stdout } = await perdure(["completions", shell]);
    expect(exit).toBe(0);
    for (const word of ["cancel", "doctor", "completions", "idempotency-key", "dry-run"])
      expect(stdout).toContain(word);
    expect(stdout).not.toContain("dev-child");
    expect(JSON.parse((await perdure(["completions", shell, "--json"])).stdout)).toEqual({ shell, script: stdout });
  });

  it("are a script that bash reads, and that completes", async (context) => {
    if (!has("bash")) context.skip("no bash here");
    const file = join(scratch, "completions.bash");
    writeFileSync(file, (await perdure(["completions", "bash"])).stdout);
    execFileSync("bash", ["-n", file]);
    const complete = (...words: readonly string[]): string => {
      const script = `source ${file}; COMP_WORDS=(perdure ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _perdure; echo "\${COMPREPLY[*]}"`;
      return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim();
    };
    expect(complete("canc")).toBe("cancel");
    expect(complete("cancel", "--dry")).toBe("--dry-run");
    expect(complete("state", "s")).toBe("set");
    expect(complete("state", "set", "--fo")).toBe("--force");
  });

  it("are a script that zsh reads", async (context) => {
    if (!has("zsh")) context.skip("no zsh here");
    const file = join(scratch, "completions.zsh");
    writeFileSync(file, (await perdure(["completions", "zsh"])).stdout);
    execFileSync("zsh", ["-n", file]);
  });

  it("are a script that fish reads", async (context) => {
    if (!has("fish")) context.skip("no fish here");
    const file = join(scratch, "completions.fish");
    writeFileSync(file, (await perdure(["completions", "fish"])).stdout);
    execFileSync("fish", ["-n", file]);
  });

  it("refuse another shell", async () => {
    expect((await perdure(["completions", "tcsh"])).exit).toBe(2);
    expect((await perdure(["completions"])).exit).toBe(2);
  });
});

describe("a Node that is too old", () => {
  it("gets one clear line and exit code 6", (context) => {
    const node = "/usr/bin/node";
    const major = existsSync(node)
      ? Number.parseInt(execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }), 10)
      : undefined;
    if (major === undefined || major >= 24)
      context.skip(`${node} is ${major === undefined ? "not there" : `Node ${major}, which is new enough`}`);
    const bin = fileURLToPath(new URL("../../bin/perdure.mjs", import.meta.url));
    const { status, stdout, stderr } = spawnSync(node, [bin, "runs"], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
    expect(stderr).toMatch(/^perdure: needs Node 24 or newer, and this is Node \d+[^\n]*\n$/);
  });
});

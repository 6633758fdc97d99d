// start, dev, call and send as processes: what is printed, how they end, what they leave to the next start.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { BIN, findOldNode, Project, takePort, typeHere, type Running } from "./typed-process.ts";

const GREETER = `
import { service } from "perdure";
export const greeter = service("greeter", {
  async hello(ctx, name: string) { return "hello " + name; },
  async slow(ctx) { return ctx.step("work", () => new Promise((done) => setTimeout(() => done("worked"), 1500))); },
  async nap(ctx) { await ctx.sleep("2s"); return "rested"; },
});
`;

const ANY = ["--port", "0", "--admin-port", "0"];

let project: Project;
afterEach(() => project.close());

interface Addresses {
  readonly url: string;
  readonly admin: string;
}

async function addressesOf(server: Running): Promise<Addresses> {
  const url = (await server.prints(/ingress +(http:\S+)/))[1] ?? "";
  const admin = (await server.prints(/admin +(http:\S+)/))[1] ?? "";
  await server.prints(/runs --watch/);
  return { url, admin };
}

/** What it says of the cockpit, and that a browser is led there. */
async function expectCockpit(server: Running, admin: string): Promise<void> {
  expect(server.out).toMatch(/\n {2}admin +http:\S+ +opens the cockpit in a browser\n/);
  const answer = await fetch(admin, { headers: { accept: "text/html" }, redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/ui/"]);
}

describe("start", () => {
  it("serves TypeScript, prints where and what to try without colours, and ends in order at SIGTERM", async () => {
    project = new Project({ "src/greeter.ts": GREETER });
    const server = project.start("start", "src/greeter.ts", ...ANY);
    const { url, admin } = await addressesOf(server);
    expect(server.out).toMatch(/service +greeter +hello, slow, nap/);
    await expectCockpit(server, admin);
    expect(server.out).not.toContain("\u001b");
    const called = await project.run("call", "greeter/hello", '"ada"', "--url", url);
    expect(called).toEqual({ code: 0, out: '"hello ada"\n', err: "" });
    const sent = await project.run("send", "greeter/hello", '"bob"', "--url", url);
    expect(sent.code).toBe(0);
    const result = await project.run("result", sent.out.trim(), "--wait", "--url", url, "--admin", admin);
    expect(result.out).toBe('"hello bob"\n');
    server.signal("SIGTERM");
    expect((await server.ended).code).toBe(0);
  });

  it("prints JSON lines under --json and nothing under --quiet", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const server = project.start("start", "greeter.ts", "--json", ...ANY);
    await server.prints(/\n/);
    const listening = JSON.parse(server.out.split("\n")[0] ?? "") as { type: string; services: { name: string }[] };
    expect(listening).toMatchObject({ type: "listening", services: [{ name: "greeter" }] });
    server.signal("SIGINT");
    expect((await server.ended).code).toBe(0);
    const quiet = project.start(
      "start",
      "greeter.ts",
      "--quiet",
      "--port",
      "0",
      "--admin-port",
      "0",
      "--data",
      "other",
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    quiet.signal("SIGINT");
    expect(await quiet.ended).toEqual({ code: 0, out: "", err: "" });
  });

  it("lets a running step finish, unless it is asked a second time", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const first = project.start("start", "greeter.ts", ...ANY);
    const { url } = await addressesOf(first);
    await project.run("send", "greeter/slow", "--url", url);
    first.signal("SIGTERM");
    expect((await first.ended).code).toBe(0);
    const second = project.start("start", "greeter.ts", ...ANY);
    const addresses = await addressesOf(second);
    const list = await project.run("runs", "--json", "--admin", addresses.admin);
    const [run] = (JSON.parse(list.out) as { runs: { id: string }[] }).runs;
    const shown = await project.run("show", run?.id ?? "", "--admin", addresses.admin);
    expect(shown.out).toContain('#1 step "work" = "worked"');
    await project.run("send", "greeter/slow", "--url", addresses.url);
    second.signal("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 700));
    second.signal("SIGINT");
    expect((await second.ended).code).toBe(130);
  });

  it("names who holds the port or the data directory, and ends with 7", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const taken = await takePort();
    const refused = await project.run("start", "greeter.ts", "--port", String(taken.port), "--admin-port", "0");
    expect(refused).toMatchObject({ code: 7, out: "" });
    expect(refused.err).toMatch(/^perdure: P0050 port \d+ on 127\.0\.0\.1 is taken by/);
    if (process.platform === "linux") expect(refused.err).toContain(String(process.pid));
    expect(refused.err).toContain("docs/errors/P0050.md");
    await taken.close();
    const server = project.start("start", "greeter.ts", ...ANY);
    await addressesOf(server);
    const locked = await project.run("start", "greeter.ts", ...ANY);
    expect(locked).toMatchObject({ code: 7, out: "" });
    expect(locked.err).toMatch(new RegExp(`P0040 .* is open in process ${server.pid} `));
    expect(locked.err).toContain("--data");
  });

  it("refuses to listen for others without a token", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const refused = await project.run("start", "greeter.ts", "--host", "0.0.0.0", ...ANY);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("P0051");
    const server = project.start("start", "greeter.ts", "--token", "secret", ...ANY);
    const { url } = await addressesOf(server);
    const without = await project.run("call", "greeter/hello", '"ada"', "--url", url);
    expect(without).toMatchObject({ code: 5, out: "" });
    expect(without.err).toContain("PERDURE_TOKEN");
    expect((await project.run("call", "greeter/hello", '"ada"', "--url", url, "--token", "secret")).code).toBe(0);
  });
});

describe("files that cannot be served", () => {
  const refusal = async (file: string, text: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
    project = new Project({ [file]: text, ...more });
    const { code, out, err } = await project.run("start", file, ...ANY);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    return err;
  };

  it("points at a syntax error in TypeScript", async () => {
    const err = await refusal("a.ts", "export const a: number = 1;\nconst = 5;\n");
    expect(err).toMatch(/^perdure: P0052 a\.ts:2 cannot be loaded: /);
    expect(err).toMatch(/\n +const = 5;\n +\^/);
  });

  it("points at a syntax error in imported JavaScript", async () => {
    const err = await refusal("a.ts", 'import "./b.js";\n', { "b.js": "export const b = 1;\n\nlet = ;\n" });
    expect(err).toMatch(/^perdure: P0052 b\.js:3 cannot be loaded/);
  });

  it("says what to write instead of syntax that cannot be stripped", async () => {
    const err = await refusal("a.ts", "\nenum Colour { Red }\n");
    expect(err).toMatch(/P0052 a\.ts:2 .*enum/);
    expect(err).toContain("what to do:");
  });

  it("names a missing file, and the one that was meant", async () => {
    const err = await refusal("a.ts", 'import "./lib/b";\n', { "lib/b.ts": "export {};" });
    expect(err).toMatch(/P0052 a\.ts cannot be loaded: it imports lib\/b, which does not exist/);
    expect(err).toContain('"…/b.ts"');
  });

  it("names a package that is not installed", async () => {
    const err = await refusal("a.ts", 'import "no-such-package-here/part";\n');
    expect(err).toContain("npm install no-such-package-here");
  });

  it("tells of a type that is imported as a value", async () => {
    const err = await refusal("a.ts", 'import { T } from "./t.ts";\nexport const a: T = 1;\n', {
      "t.ts": "export type T = number;",
    });
    expect(err).toMatch(/P0052 a\.ts:1 /);
    expect(err).toContain("import type");
  });

  it("points at what a module throws while it is loaded", async () => {
    const err = await refusal(
      "a.ts",
      'export function f(): void {\n  throw new Error("no key in the environment");\n}\nf();\n',
    );
    expect(err).toMatch(/P0052 a\.ts:2:\d+ cannot be loaded: no key in the environment/);
  });

  it("says what a file exports that offers nothing", async () => {
    const err = await refusal("a.ts", "export const a = 1; export function f() {}\n");
    expect(err).toMatch(/P0052 there is nothing to serve: a\.ts exports only a \(number\), f \(function\)/);
    expect(err).toContain("export const greeter = service(");
  });

  it("tells a wrong definition by its own error", async () => {
    const err = await refusal(
      "a.ts",
      'import { service } from "perdure";\nexport const a = service("a b", { async f() {} });\n',
    );
    expect(err).toMatch(/^perdure: P0054 "a b" cannot be the name of a service/);
  });

  it("tells two definitions of one name", async () => {
    const text = 'import { service } from "perdure";\nexport const a = service("twin", { async f() {} });\n';
    const err = await refusal("a.ts", `${text}export const b = service("twin", { async g() {} });\n`);
    expect(err).toContain('two definitions have the name "twin"');
  });

  it.each([
    ["absent.ts", /absent\.ts does not exist/],
    ["src", /src is a folder/],
    ["page.tsx", /page\.tsx contains JSX/],
    ["notes.md", /notes\.md is not a module/],
  ])("refuses %s", async (file, message) => {
    project = new Project({ "src/a.ts": GREETER, "page.tsx": "export {};", "notes.md": "# Notes" });
    const { code, err } = await project.run("start", file, ...ANY);
    expect(code).toBe(1);
    expect(err).toMatch(message);
  });
});

describe("dev", () => {
  const reloaded = /reloaded in/;

  it("takes the next free port and says so", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const taken = await takePort();
    const server = project.start("dev", "greeter.ts", "--port", String(taken.port), "--admin-port", "0");
    await server.prints(new RegExp(`[Pp]ort ${taken.port} is taken: ingress listens at http://127`));
    server.signal("SIGINT");
    expect((await server.ended).code).toBe(0);
    await taken.close();
  });

  it("reloads on a change of what is served or imported, and runs go on across it", async () => {
    const file = (word: string): string =>
      GREETER.replace('"hello "', word).replace("import {", 'import { word } from "./lib/word.ts"; import {');
    project = new Project({ "greeter.ts": file("word"), "lib/word.ts": 'export const word = "hello ";' });
    const server = project.start("dev", "greeter.ts", ...ANY);
    const { url, admin } = await addressesOf(server);
    await server.prints(/Watching 2 files/);
    await expectCockpit(server, admin);
    const napping = (await project.run("send", "greeter/nap", "--url", url)).out.trim();
    let seen = server.out.length;
    project.write("lib/word.ts", 'export const word = "good day ";');
    await server.prints(/changed: lib\/word\.ts/, seen);
    await server.prints(reloaded, seen);
    expect((await project.run("call", "greeter/hello", '"ada"', "--url", url)).out).toBe('"good day ada"\n');
    seen = server.out.length;
    project.write("greeter.ts", file('word + "dear "'));
    await server.prints(reloaded, seen);
    expect((await project.run("call", "greeter/hello", '"ada"', "--url", url)).out).toBe('"good day dear ada"\n');
    expect((await project.run("result", napping, "--wait", "--url", url, "--admin", admin)).out).toBe('"rested"\n');
  });

  it("goes on serving the version before while the new one does not load", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const server = project.start("dev", "greeter.ts", ...ANY);
    const { url } = await addressesOf(server);
    project.write("greeter.ts", `${GREETER}\nconst = ;\n`);
    await server.prints(/P0052 greeter\.ts:9/);
    await server.prints(/version before goes on serving/);
    expect((await project.run("call", "greeter/hello", '"ada"', "--url", url)).code).toBe(0);
    const seen = server.out.length;
    project.write("greeter.ts", GREETER.replace("hello ", "hi "));
    await server.prints(reloaded, seen);
    expect((await project.run("call", "greeter/hello", '"ada"', "--url", url)).out).toBe('"hi ada"\n');
  });

  it("waits for a first version that loads, also for a file that is still missing", async () => {
    project = new Project({ "greeter.ts": `import "./later.ts";\n${GREETER}` });
    const server = project.start("dev", "greeter.ts", "--json", ...ANY);
    await server.prints(/"type":"failed".*later\.ts/);
    project.write("later.ts", "export {};\n");
    await server.prints(/"type":"listening"/);
    server.signal("SIGTERM");
    const { code, out } = await server.ended;
    expect(code).toBe(0);
    for (const line of out.trimEnd().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
  });

  it("starts the server again when it dies", async () => {
    project = new Project({
      "greeter.ts": `${GREETER}\nexport const pids = process.stderr.write("pid " + process.pid + "\\n");\n`,
    });
    const server = project.start("dev", "greeter.ts", ...ANY);
    const { url } = await addressesOf(server);
    const pid = Number(/pid (\d+)/.exec(server.err)?.[1]);
    process.kill(pid, "SIGKILL");
    await server.prints(/ended \(SIGKILL\)/);
    await server.prints(reloaded);
    expect((await project.run("call", "greeter/hello", '"ada"', "--url", url)).code).toBe(0);
  });

  it("ends with 7 where the data directory is taken: no edit mends that", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const first = project.start("start", "greeter.ts", ...ANY);
    await addressesOf(first);
    const second = await project.run("dev", "greeter.ts", ...ANY);
    expect(second.code).toBe(7);
    expect(second.err).toContain("P0040");
  });

  it("leaves no process behind when it is killed", async () => {
    project = new Project({
      "greeter.ts": `${GREETER}\nexport const pids = process.stderr.write("pid " + process.pid + "\\n");\n`,
    });
    const server = project.start("dev", "greeter.ts", ...ANY);
    await addressesOf(server);
    const pid = Number(/pid (\d+)/.exec(server.err)?.[1]);
    server.signal("SIGKILL");
    const isAlive = (): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false; // ESRCH: it is gone.
      }
    };
    for (let tries = 0; isAlive() && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isAlive()).toBe(false);
  });
});

describe("call", () => {
  it("waits across a restart of the runtime", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const first = project.start("start", "greeter.ts", ...ANY);
    const { url, admin } = await addressesOf(first);
    const calling = project.start("call", "greeter/nap", "--url", url);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    first.signal("SIGKILL");
    await first.ended;
    const ports = ["--port", new URL(url).port, "--admin-port", new URL(admin).port];
    const second = project.start("start", "greeter.ts", ...ports);
    await addressesOf(second);
    expect(await calling.ended).toMatchObject({ code: 0, out: '"rested"\n' });
  });

  it("says how to come back when it is interrupted, and ends with 130", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const { url } = await addressesOf(project.start("start", "greeter.ts", ...ANY));
    const calling = project.start("call", "greeter/nap", "--url", url);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    calling.signal("SIGINT");
    const { code, err } = await calling.ended;
    expect(code).toBe(130);
    expect(err).toMatch(/the run goes on: perdure result run_1\w{33} --wait --url http/);
  });

  it("ends with 3 where nothing listens, and prints one JSON document under --json", async () => {
    project = new Project();
    const free = await takePort();
    await free.close();
    const url = `http://127.0.0.1:${free.port}`;
    const plain = await project.run("call", "greeter/hello", '"ada"', "--url", url);
    expect(plain).toMatchObject({ code: 3, out: "" });
    expect(plain.err).toMatch(/^perdure: P0053 no runtime answers at http:.*: nothing listens there\n/);
    const json = await project.run("call", "greeter/hello", '"ada"', "--json", "--url", url);
    expect(json).toMatchObject({ code: 3, out: "" });
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: "P0053", exit: 3 } });
  });
});

describe("the process", () => {
  it("survives a reader that has seen enough", () => {
    project = new Project();
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `"${process.execPath}" --conditions=perdure-source "${BIN}" --help | head -1`],
      { encoding: "utf8" },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it("takes input from standard input", async () => {
    project = new Project({ "greeter.ts": GREETER });
    const { url } = await addressesOf(project.start("start", "greeter.ts", ...ANY));
    writeFileSync(join(project.folder, "in.json"), '"from a file"');
    const command = `"${process.execPath}" --conditions=perdure-source "${BIN}" call greeter/hello - --url ${url} < in.json`;
    expect(spawnSync("bash", ["-c", command], { cwd: project.folder, encoding: "utf8" }).stdout).toBe(
      '"hello from a file"\n',
    );
  });

  const old = findOldNode();
  it.skipIf(old === undefined)(
    "says in one line that Node is too old (skipped where no Node below 24 is installed)",
    () => {
      project = new Project();
      const { status, stdout, stderr } = spawnSync(old ?? "", [BIN, "runs", "--json"], { encoding: "utf8" });
      expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
      expect(stderr).toMatch(
        /^perdure: needs Node 24 or newer, and this is Node \d+\.\d+\.\d+: run `npx -p node@24 perdure runs --json`, .*\n$/,
      );
      expect(stderr.split("\n")).toHaveLength(2);
    },
  );
});

describe("a wrong command line", () => {
  it.each([
    [["rusn"], 'did you mean "runs"'],
    [["runs", "--limti", "3"], "--limit"],
    [["runs", "--limit", "many"], "whole number"],
    [["runs", "--status", "sleeping"], "scheduled, queued"],
    [["call"], "missing required argument"],
    [["call", "greeter"], "is not a target"],
    [["call", "greeter/hello", "hello"], `'"hello"'`],
    [["start"], "missing required argument"],
    [["start", "a.ts", "--port", "99999"], "65535"],
    [["show", "!"], "is not a run id"],
    [["send", "a/b", "--delay", "soon"], "duration"],
    [["runs", "--admin", "nowhere"], "http://127.0.0.1:9070"],
  ])("ends with 2 at %j", async (words, message) => {
    const { code, out, err } = await typeHere(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^perdure: /);
    expect(err).toContain(message);
  });

  it("is told as JSON under --json", async () => {
    for (const words of [
      ["runs", "--limit", "many", "--json"],
      ["call", "greeter", "--json"],
      ["rusn", "--json"],
    ]) {
      const { code, out, err } = await typeHere(words);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(JSON.parse(err)).toMatchObject({ error: { exit: 2 } });
    }
  });

  it("is helped: help and the version are on standard output, with the exit codes", async () => {
    const help = await typeHere([]);
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const part of ["Serve:", "Exit codes:", "130  interrupted"]) expect(help.out).toContain(part);
    expect(await typeHere(["help", "state"])).toMatchObject({ code: 0, err: "" });
    expect((await typeHere(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

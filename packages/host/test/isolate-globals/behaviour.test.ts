// What the globals do to the outside, and that all of it is still there after an image.

import { format } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { bundleOfGlobals, globalsIsolate as open, type GlobalsIsolate } from "./globals-isolate.ts";

const globalsIsolate = (): Promise<GlobalsIsolate> => open(onTestFinished);

describe("console", () => {
  test.each([
    [`"plain", 1, true, null, undefined, 5n, Symbol("s"), -0`],
    [`"%s is %d of %i, %f, %j, %O%%", "a", 1.5, "2.7", "1.25", { a: 1 }, [1], "more"`],
    [`"%s %s %s", 5n, undefined`],
    [`"100%", 1`],
    [`{ a: 1, "b-c": "it's", d: [1, "x"], e: { f: { g: { h: 1 } } } }`],
    [`[1, , 3, "a", [[[[1]]]]]`],
    [`[]`],
    [`{}`],
    [`new Map([["a", { b: 1 }]]), new Set([1, "x"]), new Map(), new Set()`],
    [`new Date(0), /x/g, new Date(NaN)`],
    [`function named() {}, () => 1, class A {}, async function b() {}, function* c() {}`],
    [`class Base {}, class Sub extends Array {}`],
    [`new (class Point { constructor() { this.x = 1; } })()`],
    [`Object.create(null), Object.assign(Object.create(null), { a: 1 })`],
    [`{ get a() { return 1; }, set b(v) {}, [Symbol("k")]: 1 }`],
    [`new Uint8Array([1, 2, 3]), new Float64Array(0)`],
    [`Object(1), Object("s"), Object(false)`],
    [`"a\\nb", ["a\\nb", "it's", 'say "x"', \`it's "y"\`]`],
    [`{ first: "x".repeat(40), second: "y".repeat(40) }`],
    [`Array.from({ length: 120 }, () => 0).length`],
  ])("writes as Node writes: %s", async (values) => {
    const isolate = await globalsIsolate();
    isolate.begin(`console.log(${values})`);
    // oxlint-disable-next-line no-implied-eval -- The case is a script: it is run in two places.
    const expected = format(...(new Function(`return [${values}]`) as () => unknown[])());
    expect(isolate.logs.at(-1)).toEqual(["info", expected]);
  });

  test("says errors with what was thrown, their stack and their causes; circles as such", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`console.error("failed:", new TypeError("outer", { cause: new Error("inner") }))`);
    isolate.begin(`const circle = { name: "c" }; circle.self = circle; console.log(circle)`);
    const [error, circle] = isolate.logs.slice(-2);
    expect(error?.[0]).toBe("error");
    expect(error?.[1]).toMatch(/^failed: TypeError: outer\n {4}at .*\[cause\]: Error: inner\n/s);
    expect(circle?.[1]).toBe("{ name: 'c', self: [Circular] }");
  });

  test("never throws for what it is given", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`console.log(new Proxy({}, { ownKeys() { throw new Error("no"); } }), { toString: null })`);
    expect(isolate.logs.at(-1)?.[1]).toContain("[not to be shown: no]");
  });

  test("has levels, counts, timers, groups, assertions, tables and traces", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`
      console.debug("d"); console.info("i"); console.warn("w");
      console.count(); console.count("x"); console.count(); console.countReset(); console.count();
      console.group("G"); console.log("in\\nside"); console.groupEnd(); console.log("out");
      console.assert(true, "no"); console.assert(false, "yes %d", 1); console.assert(false);
      console.table([{ a: 1, b: "x" }, { a: 2 }]); console.timeEnd("none");
      (function here() { console.trace("t"); })();
    `);
    expect(isolate.logs.slice(1).map(([level, text]) => `${level} ${text}`)).toEqual([
      ...["debug d", "info i", "warn w", "info default: 1", "info x: 1", "info default: 2", "info default: 1"],
      ...["info G", "info   in\n  side", "info out", "error Assertion failed: yes 1", "error Assertion failed"],
      "info ┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘",
      expect.stringMatching(/^warn no timer "none" was started/),
      expect.stringMatching(/^info Trace: t\n +at here/),
    ]);
  });
});

describe("while the module is loaded", () => {
  test("what is logged is told when there is somebody to tell", async () => {
    expect((await globalsIsolate()).logs).toEqual([["info", "loading"]]);
  });

  test.each([
    ["setTimeout(() => 1)"],
    ["crypto.randomUUID()"],
    ["fetch('http://a')"],
    ["crypto.getRandomValues(new Uint8Array(1))"],
  ])("nothing is begun that all runs would share: %s", async (call) => {
    const { bundleWith } = await import("../../src/isolate/bundle/bundle-module.ts");
    const { isolateOf } = await import("../../src/isolate/bundle/testing/isolate.ts");
    const { writePackage } = await import("../../src/isolate/bundle/testing/user-package.ts");
    const user = writePackage(
      {
        "agents.ts": `export let failed = ""; const note = (e) => { failed = e.message; }; try { Promise.resolve(${call}).catch(note); } catch (e) { note(e); }`,
        "guest.js": `export const install = ([user]) => { globalThis.user = user; };`,
      },
      onTestFinished,
    );
    const { code } = await bundleWith(
      { entry: user.path("agents.ts") },
      { "@perdure/sdk/guest": user.path("guest.js") },
    );
    const isolate = await isolateOf(code, onTestFinished);
    expect(isolate.evaluate("user.failed")).toMatch(/while the module was loaded: .* Do it in a handler\.$/);
  });
});

describe("timers", () => {
  test("fire in order, with their arguments, and not once they are cleared", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`
      globalThis.seen = [];
      setTimeout((...rest) => seen.push(...rest), 20, "late", 1);
      setTimeout(() => seen.push("early"), 10);
      clearTimeout(setTimeout(() => seen.push("never"), 5));
      const byNumber = setTimeout(() => seen.push("never"), 5); clearTimeout(+byNumber);
      setImmediate(() => seen.push("at once"));
      let count = 0; const every = setInterval(() => { seen.push("tick"); if (++count === 2) clearInterval(every); }, 30);
    `);
    isolate.advance(500);
    expect(isolate.run("seen")).toEqual(["at once", "early", "late", 1, "tick", "tick"]);
  });

  test("can be restarted", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`globalThis.seen = []; globalThis.timer = setTimeout(() => seen.push("fired"), 100);`);
    isolate.advance(60);
    isolate.begin("timer.refresh()");
    isolate.advance(60);
    expect(isolate.run("seen")).toEqual([]);
    isolate.advance(60);
    expect(isolate.run("seen")).toEqual(["fired"]);
  });

  test("wait for longer than 24 days, which Node does not", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`globalThis.seen = []; setTimeout(() => seen.push("fired"), 90 * 86_400_000);`);
    isolate.advance(89 * 86_400_000);
    expect(isolate.run("seen")).toEqual([]);
    isolate.advance(86_400_000);
    expect(isolate.run("seen")).toEqual(["fired"]);
  });

  test("abort signals in time", async () => {
    const isolate = await globalsIsolate();
    isolate.begin("globalThis.signal = AbortSignal.any([AbortSignal.timeout(50), new AbortController().signal]);");
    isolate.advance(49);
    expect(isolate.run("signal.aborted")).toBe(false);
    isolate.advance(1);
    expect(isolate.run("[signal.aborted, signal.reason.name]")).toEqual([true, "TimeoutError"]);
  });
});

describe("fetch", () => {
  test("asks the host, and gives what it answers", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`
      fetch("https://a.b/c?d#e", { method: "post", body: "é", headers: { x: "1" } }).then(async (r) => {
        globalThis.got = [r.status, r.ok, r.url, r.redirected, r.headers.get("y"), r.type, await r.json()];
      });
    `);
    expect(
      isolate.run(
        "(({ url, method, headers, body }) => ({ url, method, headers, body: [...body] }))(host.requests[0].request)",
      ),
    ).toEqual({
      url: "https://a.b/c?d#e",
      method: "POST",
      headers: [
        ["content-type", "text/plain;charset=UTF-8"],
        ["x", "1"],
      ],
      body: [0xc3, 0xa9],
    });
    isolate.begin(
      `host.requests[0].resolve({ status: 201, statusText: "", url: "https://a.b/other", headers: [["y", "2"]], body: new TextEncoder().encode('{"a":1}') })`,
    );
    expect(isolate.run("got")).toEqual([201, true, "https://a.b/other", true, "2", "basic", { a: 1 }]);
  });

  test("gives the host's stream as it comes", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`
      globalThis.seen = [];
      fetch("https://a.b/").then(async (r) => { for await (const chunk of r.body) seen.push(new TextDecoder().decode(chunk)); seen.push("end"); });
      host.requests[0].resolve({ status: 200, statusText: "", url: "https://a.b/", headers: [], body: new ReadableStream({ start: (c) => { globalThis.wire = c; } }) });
    `);
    isolate.begin(`wire.enqueue(new TextEncoder().encode("one"))`);
    expect(isolate.run("seen")).toEqual(["one"]);
    isolate.begin("wire.close()");
    expect(isolate.run("seen")).toEqual(["one", "end"]);
  });

  test("is given up at once, whatever the host does", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(`
      const c = new AbortController();
      fetch("https://a.b/", { signal: c.signal }).catch((e) => { globalThis.got = [e, host.requests[0].request.signal.aborted]; });
      globalThis.abort = () => c.abort("enough");
    `);
    isolate.begin("abort()");
    expect(isolate.run("got")).toEqual(["enough", true]);
    expect(
      isolate.run(
        `fetch("https://a.b/", { signal: AbortSignal.abort("before") }).catch((e) => [e, host.requests.length])`,
      ),
    ).toEqual(["before", 1]);
  });

  test("fails as the host fails", async () => {
    const isolate = await globalsIsolate();
    isolate.begin(
      `fetch("https://a.b/").catch((e) => { globalThis.got = e.message; }); host.requests[0].reject(new Error("no route"));`,
    );
    expect(isolate.run("got")).toBe("no route");
    expect(isolate.run(`fetch("nonsense").catch((e) => e.name)`)).toBe("TypeError");
  });
});

describe("what is absent", () => {
  test("is found to be absent by those who look", async () => {
    const isolate = await globalsIsolate();
    expect(
      isolate.run(
        `[typeof process, typeof Buffer, typeof require, typeof Intl, typeof WebSocket, globalThis.process === undefined]`,
      ),
    ).toEqual(["undefined", "undefined", "undefined", "undefined", "undefined", true]);
    expect(isolate.run("process.env.KEY")).toEqual({ threw: "process is not defined" });
  });

  test("does not make texts of a locale fail", async () => {
    const isolate = await globalsIsolate();
    const calls = `[(1234.5).toLocaleString("de-DE", { style: "currency", currency: "EUR" }), new Date(0).toLocaleDateString("en", { timeZone: "UTC" }),
      new Date(0).toLocaleTimeString(), new Date(0).toLocaleString("fr"), [1, 2].toLocaleString(), "a".localeCompare("b", "sv"), "I".toLocaleLowerCase("tr"), 5n.toLocaleString("de")]`;
    expect(isolate.run(`${calls}.every((text) => typeof text === "string" || typeof text === "number")`)).toBe(true);
  });

  test("is named where a part of it is there", async () => {
    const isolate = await globalsIsolate();
    expect(isolate.run(`crypto.subtle.digest("SHA-512", new Uint8Array())`)).toEqual({
      threw: expect.stringMatching(/"SHA-512".*call a function of a "use host" module/),
    });
    expect(isolate.run(`crypto.subtle.sign("HMAC", {}, new Uint8Array())`)).toEqual({
      threw: expect.stringContaining("crypto.subtle.sign is not there inside an isolate"),
    });
  });
});

test("what waits goes on after an image, in another engine: streams, timers, listeners, requests, decoders", async () => {
  const isolate = await globalsIsolate();
  isolate.begin(`
    globalThis.seen = [];
    const through = new TransformStream({ transform(x, c) { c.enqueue(x.toUpperCase()); } });
    globalThis.writer = through.writable.getWriter();
    (async () => { for await (const chunk of through.readable) seen.push(chunk); seen.push("end of stream"); })();
    setTimeout(() => seen.push("timer"), 100);
    globalThis.controller = new AbortController();
    AbortSignal.any([controller.signal]).addEventListener("abort", () => seen.push("aborted"));
    fetch("https://a.b/").then(async (r) => seen.push(await r.text()));
    globalThis.decoder = new TextDecoder(); decoder.decode(new Uint8Array([0xe2, 0x82]), { stream: true });
    globalThis.params = new URL("http://a/?b=1").searchParams;
  `);
  isolate.begin(`writer.write("before")`);
  const other = await (await isolate.reborn()).reborn();
  other.begin(`writer.write("after"); writer.close();`);
  other.begin("controller.abort()");
  other.begin(
    `host.requests[0].resolve({ status: 200, statusText: "", url: "", headers: [], body: new Uint8Array([104, 105]) })`,
  );
  other.advance(100);
  expect(other.run("seen")).toEqual(["BEFORE", "AFTER", "end of stream", "aborted", "hi", "timer"]);
  expect(other.run("decoder.decode(new Uint8Array([0xac]))")).toBe("€");
  expect(other.run(`params.append("c", 2), String(params)`)).toBe("b=1&c=2");
});

test("the globals weigh little", async () => {
  expect((await bundleOfGlobals()).length).toBeLessThan(200_000);
});

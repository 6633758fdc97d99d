// The globals inside an isolate beside those of Node: the same script, the same value.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { globalsIsolate, type GlobalsIsolate } from "./globals-isolate.ts";

const ends: (() => void)[] = [];
let isolate: GlobalsIsolate;
beforeAll(async () => {
  isolate = await globalsIsolate((end) => ends.push(end));
});
afterAll(() => ends.forEach((end) => end()));

/** As `isolate.run`, in Node. */
async function inNode(expression: string): Promise<unknown> {
  // oxlint-disable-next-line no-implied-eval -- The cases are scripts: they are run in two places.
  const run = new Function(`return (async () => (${expression}))();`) as () => Promise<unknown>;
  try {
    return JSON.parse(JSON.stringify((await run()) ?? null));
  } catch (error) {
    return { threw: error instanceof Error ? error.message : String(error) };
  }
}

const CASES: Readonly<Record<string, readonly string[]>> = {
  "Event and EventTarget": [
    `(() => { const t = new EventTarget(); const seen = []; t.addEventListener("a", (e) => seen.push(e.type, e.target === t, e.currentTarget === t, e.eventPhase)); return [t.dispatchEvent(new Event("a")), seen]; })()`,
    `(() => { const t = new EventTarget(); let n = 0; const f = () => n++; t.addEventListener("a", f); t.addEventListener("a", f); t.addEventListener("a", f, true); t.dispatchEvent(new Event("a")); return n; })()`,
    `(() => { const t = new EventTarget(); let n = 0; t.addEventListener("a", () => n++, { once: true }); t.dispatchEvent(new Event("a")); t.dispatchEvent(new Event("a")); return n; })()`,
    `(() => { const t = new EventTarget(); const c = new AbortController(); let n = 0; t.addEventListener("a", () => n++, { signal: c.signal }); t.dispatchEvent(new Event("a")); c.abort(); t.dispatchEvent(new Event("a")); return n; })()`,
    `(() => { const t = new EventTarget(); const o = { n: 0, handleEvent() { this.n++; } }; t.addEventListener("a", o); t.dispatchEvent(new Event("a")); t.removeEventListener("a", o); t.dispatchEvent(new Event("a")); return o.n; })()`,
    `(() => { const t = new EventTarget(); const seen = []; t.addEventListener("a", (e) => { seen.push(1); e.stopImmediatePropagation(); }); t.addEventListener("a", () => seen.push(2)); t.dispatchEvent(new Event("a")); return seen; })()`,
    `(() => { const t = new EventTarget(); const seen = []; const two = () => seen.push(2); t.addEventListener("a", () => { seen.push(1); t.removeEventListener("a", two); t.addEventListener("a", () => seen.push(3)); }); t.addEventListener("a", two); t.dispatchEvent(new Event("a")); return seen; })()`,
    `(() => { const t = new EventTarget(); t.addEventListener("a", (e) => e.preventDefault()); return [t.dispatchEvent(new Event("a", { cancelable: true })), t.dispatchEvent(new Event("a"))]; })()`,
    `(() => { const e = new CustomEvent("a", { detail: 7 }); return [e.detail, e.type, e instanceof Event, new CustomEvent("b").detail]; })()`,
    `(() => { class Mine extends EventTarget {} const m = new Mine(); let got; m.addEventListener("x", function (e) { got = this === m; }); m.dispatchEvent(new Event("x")); return got; })()`,
    `(() => { const e = new Event("a"); const t = new EventTarget(); let inner; t.addEventListener("a", () => { try { t.dispatchEvent(e); } catch (error) { inner = error instanceof Error; } }); t.dispatchEvent(e); return inner; })()`,
    `Object.prototype.toString.call(new Event("a"))`,
  ],
  AbortController: [
    `(() => { const c = new AbortController(); const seen = []; c.signal.onabort = () => seen.push("on"); c.signal.addEventListener("abort", () => seen.push("listener")); c.abort("why"); c.abort("again"); return [seen, c.signal.aborted, c.signal.reason]; })()`,
    `(() => { const c = new AbortController(); c.abort(); return [c.signal.reason.name, c.signal.reason.message, c.signal.reason instanceof DOMException, c.signal.reason.code]; })()`,
    `AbortSignal.abort("x").throwIfAborted()`,
    `(() => { const a = new AbortController(), b = new AbortController(); const any = AbortSignal.any([a.signal, b.signal]); const seen = []; any.addEventListener("abort", () => seen.push(any.reason)); b.abort(2); a.abort(1); return [seen, any.aborted]; })()`,
    `(() => { const a = new AbortController(); a.abort(3); return [AbortSignal.any([a.signal]).reason, AbortSignal.any([]).aborted]; })()`,
    `(() => { const a = new AbortController(); const b = AbortSignal.any([a.signal]); const c = AbortSignal.any([b]); const order = []; a.signal.addEventListener("abort", () => order.push("a", b.aborted, c.aborted)); c.addEventListener("abort", () => order.push("c")); b.addEventListener("abort", () => order.push("b")); a.abort(); return order.sort(); })()`,
    `(() => { try { new AbortSignal(); } catch (e) { return e.constructor.name; } })()`,
    `Object.prototype.toString.call(new AbortController().signal)`,
  ],
  structuredClone: [
    `(() => { const a = { n: [1, , 3], d: new Date(5), m: new Map([["k", new Set([1])]]), r: /x/gi, u: undefined, b: 5n }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, 1 in c.n, c.n.length, c.d.getTime(), [...c.m.get("k")], String(c.r), "u" in c, String(c.b)]; })()`,
    `(() => { const b = new Uint8Array([1, 2, 3, 4]); const c = structuredClone({ a: b, b: b.subarray(1, 3) }); return [[...c.a], [...c.b], c.a.buffer === c.b.buffer, c.b.byteOffset]; })()`,
    `(() => { const b = new ArrayBuffer(4); const c = structuredClone(b, { transfer: [b] }); return [b.byteLength, c.byteLength]; })()`,
    `(() => { const e = structuredClone(new TypeError("x", { cause: new Error("y") })); return [e.name, e.message, e instanceof TypeError, e.cause.message, Object.keys(e)]; })()`,
    `(() => { class A { constructor() { this.x = 1; } get y() { return 2; } } const c = structuredClone(new A()); return [c.constructor.name, c]; })()`,
    `[() => 1, Symbol("a"), Promise.resolve(), new WeakMap()].map((value) => { try { structuredClone(value); } catch (e) { return [e.name, e.code]; } })`,
    `(() => { const c = structuredClone({ ["__proto__"]: 1 }); return Object.keys(c); })()`,
    `(() => { const c = structuredClone([Object(1), Object("s"), Object(false), null, "x", -0]); return c.map((x) => [typeof x, String(x), Object.is(x, -0)]); })()`,
    `structuredClone(new DataView(new Uint8Array([1, 2]).buffer)).getInt8(1)`,
  ],
  "TextEncoder and TextDecoder": [
    `[..."", "a", "é", "€", "😀", "a\\ud800b"].map((t) => [...new TextEncoder().encode(t)])`,
    `(() => { const d = new Uint8Array(5); return [new TextEncoder().encodeInto("aé€x", d), [...d]]; })()`,
    `new TextEncoder().encode().length`,
    `[[0xff], [0x61, 0x80, 0x62], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe0, 0x80, 0x80], [0xf0, 0x9f, 0x41], [0xef, 0xbb, 0xbf, 0x61]].map((b) => new TextDecoder().decode(new Uint8Array(b)))`,
    `(() => { const d = new TextDecoder(); const bytes = new TextEncoder().encode("\\ufeffa€😀é"); let out = ""; for (const b of bytes) out += d.decode(new Uint8Array([b]), { stream: true }); return out + d.decode(); })()`,
    `(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + "|" + d.decode(new Uint8Array([0x41]), { stream: true }) + "|" + d.decode(); })()`,
    `(() => { const d = new TextDecoder("utf-8", { ignoreBOM: true }); return [d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).length, d.ignoreBOM, d.fatal, d.encoding]; })()`,
    `(() => { try { new TextDecoder("utf8", { fatal: true }).decode(new Uint8Array([0xff])); } catch (e) { return [e.name, e.code]; } })()`,
    `(() => { try { new TextDecoder("no-such"); } catch (e) { return e.name; } })()`,
    `[new TextDecoder().decode(new Uint16Array([0x6161])), new TextDecoder().decode(new Uint8Array([97, 98]).buffer), new TextDecoder().decode()]`,
    `new TextDecoder().decode(new TextEncoder().encode("x".repeat(100000) + "é")).length`,
  ],
  URLSearchParams: [
    `[...new URLSearchParams("?a=1&b=%20x+y&a=2&c&=d&%ff=%zz")]`,
    `new URLSearchParams({ a: "1 2", b: "é&=" }).toString()`,
    `new URLSearchParams([["a", "*-._~!'()"], ["b", "\\ud800"]]).toString()`,
    `(() => { const p = new URLSearchParams("a=1&b=2&a=3"); p.set("a", "x"); p.append("c", 4); p.delete("b"); return [String(p), p.size, p.getAll("a"), p.get("z"), p.has("c", "4"), p.has("c", "5")]; })()`,
    `(() => { const p = new URLSearchParams("z=1&a=2&é=3&a=1"); p.sort(); p.delete("a", "2"); return [...p.keys(), ...p.values(), [...p.entries()].length]; })()`,
    `(() => { const seen = []; new URLSearchParams("a=1").forEach((v, k) => seen.push(k, v)); return seen; })()`,
    `(() => { try { new URLSearchParams([["a"]]); } catch (e) { return e.name; } })()`,
    `String(new URLSearchParams(new URLSearchParams("a=b")))`,
  ],
  "URL (setters)": [
    `(() => { const u = new URL("http://u:p@h.com:81/a/b?q=1#f"); u.searchParams.append("x", "y z"); u.hash = "new one"; u.port = "80"; u.pathname = "/c d/../é"; u.username = "a@b"; u.password = ""; return u.href; })()`,
    `(() => { const u = new URL("https://h.com/?a=1"); const p = u.searchParams; u.search = "?b=2&b=3"; return [p.getAll("b"), p.has("a"), u.searchParams === p]; })()`,
    `(() => { const u = new URL("http://h.com/"); u.host = "x.org:8080"; u.hostname = "y.org:9"; u.protocol = "https"; u.port = "abc"; u.protocol = "mailto"; return u.href; })()`,
    `(() => { const u = new URL("mailto:a@b"); u.host = "c"; u.pathname = "x"; u.port = "1"; return [u.href, u.origin, u.host]; })()`,
    `(() => { const u = new URL("http://h.com/?a#b"); u.search = ""; u.hash = ""; return u.href; })()`,
    `(() => { const u = new URL("http://h.com/?a#b"); u.searchParams.delete("a"); return u.href; })()`,
    `(() => { const u = new URL("http://h.com/"); u.href = "https://x/y"; try { u.href = "no"; } catch (e) { return [u.href, e.name, e.code]; } })()`,
    `(() => { const u = new URL("http://h.com:1/"); u.port = "65536"; const a = u.port; u.port = "9x"; return [a, u.port]; })()`,
    `(() => { const u = new URL("file:///a"); u.host = "localhost"; u.port = "1"; u.username = "x"; return u.href; })()`,
    `[JSON.stringify({ u: new URL("http://a") }), URL.canParse("x"), URL.canParse("x", "http://a"), URL.parse("x"), String(new URL("../x", "http://a/b/c/d"))]`,
  ],
  "Headers, Blob, FormData": [
    `(() => { const h = new Headers({ B: " 1 ", a: "2" }); h.append("b", "3"); h.append("Set-Cookie", "x=1"); h.append("set-cookie", "y=2"); return [[...h], h.get("B"), h.getSetCookie(), h.has("c"), h.get("c")]; })()`,
    `["a b", "", "é"].map((name) => { try { new Headers([[name, "x"]]); } catch (e) { return e.name; } })`,
    `["a\\nb", "\\u20ac"].map((value) => { try { new Headers([["x", value]]); } catch (e) { return e.name; } })`,
    `(() => { const h = new Headers([["a", "1"]]); h.set("A", "2"); h.delete("b"); return [...new Headers(h)]; })()`,
    `(async () => { const b = new Blob(["aé", new Uint8Array([98]), new Blob(["c"])], { type: "Text/Plain" }); return [b.size, b.type, await b.text(), await b.slice(-2).text(), await b.slice(0, 1, "x/y").text(), (await b.arrayBuffer()).byteLength]; })()`,
    `(() => { const f = new File(["x"], "n.txt", { type: "a/b", lastModified: 5 }); return [f.name, f.lastModified, f.size, f.type, f instanceof Blob]; })()`,
    `(() => { const f = new FormData(); f.append("a", "1"); f.append("a", 2); f.set("b", new Blob(["x"]), "n"); f.set("a", "3"); return [[...f].map(([k, v]) => [k, typeof v === "string" ? v : v.name]), f.has("c"), f.getAll("a")]; })()`,
    `(async () => { const f = new FormData(); f.append("a\\"b", "x\\ny"); f.append("f", new File(["c"], "n.txt", { type: "t/x" })); const r = new Request("http://a", { method: "POST", body: f }); const type = r.headers.get("content-type"); return (await r.text()).replaceAll(type.split("boundary=")[1], "BOUNDARY"); })()`,
  ],
  "Request and Response": [
    `(async () => { const r = new Response("é"); return [r.status, r.ok, r.statusText, r.type, r.headers.get("content-type"), await r.text(), r.bodyUsed]; })()`,
    `(async () => { const r = new Response(JSON.stringify({ a: 1 })); const c = r.clone(); return [await r.json(), (await c.bytes()).length, r.bodyUsed]; })()`,
    `(async () => { const r = new Response("x"); await r.text(); try { await r.text(); } catch (e) { return e.name; } })()`,
    `(async () => { const r = new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("a")); c.enqueue(new Uint8Array([98])); c.close(); } })); return [r.headers.get("content-type"), await r.text()]; })()`,
    `(async () => { const r = new Response("abc"); const reader = r.body.getReader(); const one = await reader.read(); return [new TextDecoder().decode(one.value), (await reader.read()).done, r.bodyUsed]; })()`,
    `(async () => { let out = ""; for await (const chunk of new Response("a€").body.pipeThrough(new TextDecoderStream())) out += chunk; return out; })()`,
    `[new Response(null).body, new Response(null).bodyUsed, new Response().status, Response.error().type, Response.redirect("http://a/b", 307).headers.get("location")]`,
    `(async () => { const r = Response.json({ a: [1] }, { status: 201 }); return [r.status, r.headers.get("content-type"), await r.json()]; })()`,
    `[199, 600, "x"].map((status) => { try { new Response("", { status }); } catch (e) { return e.name; } })`,
    `(() => { try { new Response("x", { status: 204 }); } catch (e) { return e.name; } })()`,
    `(async () => { const r = new Request("http://a.b/c#d", { method: "post", body: new URLSearchParams({ q: "1 2" }), headers: { X: "y" } }); return [r.url, r.method, r.headers.get("content-type"), r.headers.get("x"), await r.text(), r.signal.aborted]; })()`,
    `(async () => { const r = new Request(new Request("http://a", { method: "PUT", body: "x" }), { headers: { a: "b" } }); return [r.method, await r.text(), r.headers.get("a")]; })()`,
    `["nonsense", "http://u:p@h"].map((u) => { try { new Request(u); } catch (e) { return e.name; } })`,
    `(() => { try { new Request("http://a", { body: "x" }); } catch (e) { return e.name; } })()`,
    `(async () => { const r = new Response("a=1&b=%20", { headers: { "content-type": "application/x-www-form-urlencoded" } }); return [...(await r.formData())]; })()`,
    `(async () => (await new Response(new Blob(["x"], { type: "a/b" })).blob()).type)()`,
    `(async () => { const r = new Response("x"); r.body.getReader(); try { await r.text(); } catch (e) { return [e.name, r.bodyUsed]; } })()`,
  ],
  Streams: [
    `(async () => { const out = []; for await (const x of ReadableStream.from([1, 2, 3]).pipeThrough(new TransformStream({ transform(x, c) { c.enqueue(x * 2); } }))) out.push(x); return out; })()`,
    `(async () => { const [a, b] = new ReadableStream({ start(c) { c.enqueue(1); c.close(); } }).tee(); return [(await a.getReader().read()).value, (await b.getReader().read()).value]; })()`,
    `(async () => { const seen = []; await ReadableStream.from(["a", "b"]).pipeTo(new WritableStream({ write(x) { seen.push(x); }, close() { seen.push("end"); } })); return seen; })()`,
    `(async () => { let why; const s = new ReadableStream({ cancel(r) { why = r; } }); await s.cancel("enough"); return why; })()`,
    `(async () => { const s = new ReadableStream({ pull(c) { c.error(new Error("broke")); } }); try { await s.getReader().read(); } catch (e) { return e.message; } })()`,
    `(async () => { const c = new AbortController(); const p = new ReadableStream({}).pipeTo(new WritableStream(), { signal: c.signal }); c.abort("stop"); try { await p; } catch (e) { return e; } })()`,
    `(async () => { let out = []; for await (const b of ReadableStream.from(["a\\ud83d", "\\ude00"]).pipeThrough(new TextEncoderStream())) out.push(...b); return out; })()`,
    `(async () => { const r = new ReadableStream({ type: "bytes", pull(c) { c.enqueue(new Uint8Array([1, 2])); c.close(); } }).getReader({ mode: "byob" }); const { value } = await r.read(new Uint8Array(4)); return [...value]; })()`,
  ],
  "crypto and the small ones": [
    `(async () => [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")))])()`,
    `(async () => { const out = []; for (const n of [0, 1, 55, 56, 63, 64, 65, 1000]) for (const a of ["SHA-1", "sha-256"]) out.push([...new Uint8Array(await crypto.subtle.digest({ name: a }, new Uint8Array(n).fill(n)))].slice(0, 6)); return out; })()`,
    `/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`,
    `(() => { const a = new Uint32Array(4); return [crypto.getRandomValues(a) === a, a.some((x) => x > 255)]; })()`,
    `[new Float32Array(1), new Uint8Array(65537)].map((a) => { try { crypto.getRandomValues(a); } catch (e) { return e.name; } })`,
    `[typeof queueMicrotask, typeof performance.now(), typeof navigator.userAgent, atob(btoa("x"))]`,
    `[typeof window, typeof document, typeof Deno]`,
    `(() => { let seen = 0; setTimeout(() => {}, 1).unref().ref(); clearTimeout(undefined); clearTimeout(null); clearInterval(12345); return seen; })()`,
    `(() => { try { setTimeout("x"); } catch (e) { return e.name; } })()`,
  ],
};

describe("the same script gives the same value inside an isolate and in Node", () => {
  for (const [what, expressions] of Object.entries(CASES))
    test(what, async () => {
      for (const expression of expressions)
        expect({ expression, value: isolate.run(expression) ?? null }).toEqual({
          expression,
          value: await inNode(expression),
        });
    });
});

describe("URLs", () => {
  const parts = (input: string, base?: string): unknown => {
    const url = URL.parse(input, base);
    return url === null
      ? null
      : [url.href, url.origin, url.username, url.password, url.host, url.pathname, url.search, url.hash];
  };
  const inIsolate = (inputs: readonly (readonly [string, string?])[]): unknown =>
    isolate.run(`${JSON.stringify(inputs)}.map(([input, base]) => { const url = URL.parse(input, base);
      return url === null ? null : [url.href, url.origin, url.username, url.password, url.host, url.pathname, url.search, url.hash]; })`);

  test("of every kind are read as Node reads them", () => {
    const inputs: readonly (readonly [string, string?])[] = [
      ["http://example.com"],
      ["HTTP://EXAMPLE.com:80/a/./b/../c"],
      ["https://a:b@c:443/?x#y"],
      ["http:\\\\x\\y"],
      ["//x/y", "https://a/b"],
      ["?q", "http://a/b?c#d"],
      ["#f", "mailto:x"],
      ["", "http://a/b#c"],
      ["/p", "http://a/b/c"],
      ["a b", "http://x/y/z"],
      [" \thttp://a\n/b "],
      ["http://"],
      ["http://a:99999"],
      ["http://a:"],
      ["http://[::1]:3000/x"],
      ["http://[1:2::0:0:5]"],
      ["http://[::ffff:1.2.3.4]"],
      ["http://[1::2::3]"],
      ["http://0x7f.1"],
      ["http://1.2.3"],
      ["http://256.1.1.1"],
      ["http://4294967295"],
      ["http://1.2.3.08"],
      ["http://1.2.3.4."],
      ["http://a..b"],
      ["file:///C|/x/../y"],
      ["file:c:\\a\\b"],
      ["file://host/x"],
      ["/d:/x", "file:///c:/y"],
      ["..", "file:///c:/"],
      ["file:///a/%2e%2E/b"],
      ["data:text/plain,a b#c d"],
      ["javascript:alert(1)"],
      ["blob:https://a.com/id"],
      ["urn:a:b:c"],
      ["mailto:a@b.c?subject=x y"],
      ["foo://bar/../x"],
      ["foo:/.//x"],
      ["foo:a/b", "http://x"],
      ["http://münchen.de/ä?ö#ü"],
      ["http://EXAMPLE.com/ß"],
      ["http://ex%41mple.com"],
      ["http://a%b"],
      ["http://日本語。jp"],
      ["http://a b/"],
      ["http://a/<>`{}|^\"'"],
      ["http://a/?<>`{}|^\"'#<>`{}|^\"'"],
      ["http://u@ser:p:w@h/"],
      ["http://@/"],
      ["http://u@/"],
      ["ws://x:80/"],
      ["wss://x:443"],
      ["http:x", "http://a/b"],
      ["http:x", "https://a/b"],
      ["https:x"],
      ["x:"],
      ["1x:a"],
      ["http://a\u00adb.c"],
      ["http://ＧＯ.com"],
      ["ftp://x:21/%"],
      ["http://h?a=1&b=%zz"],
      ["http://h/\ud800"],
    ];
    expect(inIsolate(inputs)).toEqual(inputs.map(([input, base]) => parts(input, base)));
  });

  test("made of the characters that matter are read as Node reads them", () => {
    const piece = fc.constantFrom(
      ..."/\\?#@:.%[]&=+ ~|".split(""),
      "..",
      "//",
      "a",
      "B",
      "1",
      "0x",
      "256",
      "%2e",
      "http:",
      "file:",
      "foo:",
      "ftp://",
      "C:",
      "é",
      "::",
      "x.y",
      "\t",
    );
    const url = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(""));
    const base = fc.constantFrom(undefined, "http://h/p/q?r#s", "file:///d/e", "foo://h/p", "mailto:x");
    const samples = fc.sample(
      fc.tuple(
        fc.oneof(
          url,
          url.map((rest) => `http://${rest}`),
        ),
        base,
      ),
      { numRuns: 3_000, seed: 7 },
    );
    const inputs = samples.map(([input, from]) => (from === undefined ? ([input] as const) : ([input, from] as const)));
    const found = inIsolate(inputs) as readonly unknown[];
    const differing = inputs.flatMap(([input, from], at) => {
      const expected = parts(input, from);
      return JSON.stringify(expected) === JSON.stringify(found[at])
        ? []
        : [{ input, from, expected, found: found[at] }];
    });
    expect(differing).toEqual([]);
  });
});

test("bytes that are no UTF-8 are read as Node reads them", () => {
  const byte = fc.oneof(fc.constantFrom(0x61, 0x80, 0xbf, 0xc2, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xff), fc.nat(255));
  const samples = fc.sample(fc.array(byte, { maxLength: 8 }), { numRuns: 2_000, seed: 3 });
  const found = isolate.run(`${JSON.stringify(samples)}.map((bytes) => {
    const stream = new TextDecoder(); let pieces = "";
    for (const byte of bytes) pieces += stream.decode(new Uint8Array([byte]), { stream: true });
    return [new TextDecoder().decode(new Uint8Array(bytes)), pieces + stream.decode()];
  })`);
  expect(found).toEqual(
    samples.map((bytes) => {
      const text = new TextDecoder().decode(new Uint8Array(bytes));
      return [text, text];
    }),
  );
});

// perdure state and perdure sql, against a real server.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openActingWorld, type ActingWorld } from "./acting-world.ts";

let world: ActingWorld;
beforeAll(async () => {
  world = await openActingWorld();
  await world.settled(await world.start("box/ada/put", { n: 1 }), "succeeded");
  await world.settled(await world.start("box/bob/put", "text"), "succeeded");
});
afterAll(() => world.close());

describe("state", () => {
  it("list", async () => {
    expect(await world.ask(["state", "list", "box"])).toMatchObject({ exit: 0, stdout: "ada\nbob\n" });
    expect(JSON.parse((await world.ask(["state", "list", "box", "-n", "1", "--json"])).stdout)).toEqual({
      keys: ["ada"],
      nextAfter: "ada",
    });
    expect((await world.ask(["state", "list", "nobody"])).exit).toBe(4);
    expect((await world.ask(["state", "list", "worker"])).exit).toBe(5);
  });

  it("get", async () => {
    expect((await world.ask(["state", "get", "box", "ada"])).stdout).toBe('NAME   VALUE\nvalue  {"n":1}\n');
    expect((await world.ask(["state", "get", "box", "ada", "value"])).stdout).toBe('{"n":1}\n');
    expect(JSON.parse((await world.ask(["state", "get", "box", "ada", "--json"])).stdout)).toEqual({
      service: "box",
      key: "ada",
      state: { value: { n: 1 } },
    });
    expect(await world.ask(["state", "get", "box", "ada", "nothing"])).toMatchObject({ exit: 4, stdout: "" });
  });

  it("set and clear", async () => {
    expect((await world.ask(["state", "set", "box", "eve", "a", "[1]"])).exit).toBe(0);
    const set = await world.ask(["state", "set", "box", "eve", "b", "-", "--json"], { stdin: "2" });
    expect(JSON.parse(set.stdout)).toMatchObject({ state: { a: [1], b: 2 } });
    const one = await world.ask(["state", "clear", "box", "eve", "a", "--json"]);
    expect(JSON.parse(one.stdout)).toMatchObject({ state: { b: 2 } });
    expect(JSON.parse((await world.ask(["state", "clear", "box", "eve", "--json"])).stdout)).toMatchObject({
      state: {},
    });
    expect(await world.ask(["state", "clear", "box", "eve"])).toMatchObject({ exit: 0, stdout: "" });
  });

  it("refuses what is no JSON, an empty input and a missing word", async () => {
    expect(await world.ask(["state", "set", "box", "eve", "a", "word"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`'"word"'`),
    });
    expect((await world.ask(["state", "set", "box", "eve", "a", "-"])).exit).toBe(2);
    expect((await world.ask(["state", "set", "box", "eve"])).exit).toBe(2);
    expect((await world.ask(["state", "set", "worker", "k", "a", "1"])).exit).toBe(5);
  });

  it("while a run has the key's turn, only with --force", async () => {
    await world.settled(await world.start("box/held/hold"));
    expect(await world.ask(["state", "set", "box", "held", "a", "1"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("P0033"),
    });
    expect((await world.ask(["state", "set", "box", "held", "a", "1", "--force"])).exit).toBe(0);
  });
});

describe("sql", () => {
  const QUERY = "SELECT key, value AS v FROM state WHERE service = 'box' AND key IN ('ada', 'bob') ORDER BY key";

  it("prints aligned text, CSV and JSON", async () => {
    expect((await world.ask(["sql", QUERY])).stdout).toBe('key  v\nada  {"n":1}\nbob  "text"\n');
    expect((await world.ask(["sql", QUERY, "--csv"])).stdout).toBe('key,v\r\nada,"{""n"":1}"\r\nbob,"""text"""\r\n');
    expect(JSON.parse((await world.ask(["sql", "-", "--json"], { stdin: QUERY })).stdout)).toEqual({
      columns: ["key", "v"],
      rows: [
        ["ada", '{"n":1}'],
        ["bob", '"text"'],
      ],
      truncated: false,
    });
    expect((await world.ask(["sql", QUERY], { tty: true })).stdout).toContain("ada");
  });

  it("says that there is more", async () => {
    expect(await world.ask(["sql", QUERY, "-n", "1"])).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("first 1 row"),
    });
  });

  it("refuses to write, two forms at once, nonsense and nothing", async () => {
    expect((await world.ask(["sql", "DELETE FROM state"])).exit).toBe(5);
    expect((await world.ask(["sql", "SELEKT 1"])).exit).toBe(5);
    expect((await world.ask(["sql", QUERY, "--csv", "--json"])).exit).toBe(2);
    expect((await world.ask(["sql"])).exit).toBe(2);
  });
});

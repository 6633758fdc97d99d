// Streams as the admin listener shows them: which a run names, and what stands in them.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAgentWorld, type AgentWorld } from "./agent-world.ts";
import { EventReader } from "./event-reader.ts";
import { ask, errorOf, post } from "./world.ts";

let world: AgentWorld;
beforeAll(async () => {
  world = await openAgentWorld();
});
afterAll(() => world.close());

describe("the streams of a run", () => {
  test("are those of its key, with where they begin and end", async () => {
    const { headers } = await post(`${world.ingress}/notes/n1/write`, ["a", "b"]);
    const run = headers.get("x-perdure-run");
    expect((await ask(`${world.admin}/runs/${run}/streams`)).json).toEqual({
      owner: { service: "notes", key: "n1" },
      streams: [{ name: "log", start: 0, end: 2 }],
    });
  });

  test("are none where nobody has written, and of a run that is none there is no answer", async () => {
    const { headers } = await post(`${world.ingress}/notes/n2/write`, []);
    const { json } = await ask(`${world.admin}/runs/${headers.get("x-perdure-run")}/streams`);
    expect(json).toEqual({ owner: { service: "notes", key: "n2" }, streams: [] });
    expect(errorOf(await ask(`${world.admin}/runs/nonsense/streams`))).toMatchObject({ status: 400 });
  });

  test("are followed from where a reader was", async () => {
    await post(`${world.ingress}/notes/n3/write`, ["a", "b"]);
    const reader = await EventReader.open(`${world.admin}/streams/notes/n3/log`, { "last-event-id": "0" });
    await reader.until(() => reader.events.length === 1);
    await post(`${world.ingress}/notes/n3/write`, ["c"]);
    await reader.until(() => reader.events.length === 2);
    expect(reader.events.map(({ data }) => data.item)).toEqual(["b", "c"]);
    reader.close();
  });
});

// An image made by one process is what another goes on from: nothing of a run is in the process that made it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { RunId } from "@perdure/protocol";
import { expect, test } from "vitest";
import { sleepers } from "./fixtures/sleepers.ts";
import { scratchFolder, snapshotServer } from "./snapshot-server.ts";

/** Another Node may be named: an image is memory of the engine alone, and no matter of who runs it. */
const OTHER_NODE = process.env["PERDURE_OTHER_NODE"] ?? process.execPath;
const MAKER = fileURLToPath(new URL("./fixtures/image-maker.ts", import.meta.url));

/** Runs the other process until it says that the run is imaged and suspended, and ends it without a word. */
async function imagedElsewhere(data: string): Promise<{ readonly run: RunId; readonly node: string }> {
  const child = spawn(OTHER_NODE, ["--conditions=perdure-source", MAKER, data], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("{")) return JSON.parse(line) as { run: RunId; node: string };
    }
    throw new Error("the other process ended and had imaged nothing");
  } finally {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

test("a run goes on from the image that a killed process made, and not from its beginning", async () => {
  const data = scratchFolder();
  const { run, node } = await imagedElsewhere(data);
  expect(node !== process.version).toBe(OTHER_NODE !== process.execPath);
  const { runtime } = await snapshotServer([sleepers], "sleepers.ts", { data });
  const [image] = await runtime.reader.images(run);
  expect(image?.entry).toBeGreaterThan(0);
  await runtime.signal(run, "word", { kind: "value", value: '"here"' });
  await runtime.signal(run, "word", { kind: "value", value: '"end"' });
  const result = await runtime.attach(run);
  expect(result).toEqual({ kind: "value", value: '["there","here"]' });
});

// Floor server
// ============
// Started as a process by floor.ts. Arguments: the variant and a directory.
// A request appends twelve rows: `start` (durable together with the first step), ten steps, each awaited before the
// next, and `end`, awaited before the answer: eleven flushes in a row for one request alone.

import { serveTenSteps } from "../peers/http.ts";
import { openJournal } from "./journal.ts";

const [, , variant = "", directory = ""] = process.argv;
const append = openJournal(variant, directory);
let runs = 0;

serveTenSteps(async (n) => {
  runs += 1;
  const run = runs;
  let value = n;
  append([run, 0, "start", String(n)], () => {});
  for (let i = 1; i <= 10; i += 1) {
    value += 1;
    await new Promise<void>((resolve) =>
      append([run, i, "step", JSON.stringify({ name: `step-${i}`, value })], resolve),
    );
  }
  await new Promise<void>((resolve) => append([run, 11, "end", String(value)], resolve));
  return value;
});

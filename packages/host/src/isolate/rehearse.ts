// Runs the rehearsal until it waits for ever, in the engine's place: what is asked for is at once in the journal, every
// step's result too. See sdk/src/guest/rehearsal.ts for what it is good for.

import type { Entry } from "@perdure/protocol";
import { encodeRunId } from "@perdure/protocol";
import { REHEARSAL } from "@perdure/sdk/host-side";
import type { GuestEvent, Outbox } from "@perdure/sdk/wire";

const RUN_ID_BYTES = 24;

export function rehearse(turn: (event: GuestEvent) => Outbox): void {
  let index = 0;
  let outbox = turn({
    type: "start",
    now: 0,
    start: {
      run: encodeRunId(new Uint8Array(RUN_ID_BYTES)),
      service: REHEARSAL,
      handler: "run",
      key: null,
      mode: "service",
      input: null,
      headers: {},
      idempotencyKey: null,
      generation: 0,
      createdAt: 0,
      tries: 0,
      deployment: null,
      origin: null,
      migrated: null,
      entries: [],
      state: null,
    },
  });
  for (let entries = answer(outbox); entries.length > 0; entries = answer(outbox)) {
    outbox = turn({ type: "notify", now: 0, entries });
  }

  function answer(said: Outbox): readonly Entry[] {
    const entries: Entry[] = [];
    for (const message of said.messages) {
      if (message.type !== "command" && message.type !== "propose") continue;
      index += 1;
      const { id } = message;
      entries.push(
        message.type === "command"
          ? { kind: "command", index, at: 0, id, command: message.command }
          : { kind: "completion", index, at: 0, id, result: message.result },
      );
    }
    return entries;
  }
}

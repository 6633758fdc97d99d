// Each checker can fail: what was seen in a good world is shown to the checkers again, with one thing changed.

import { CANCEL_SIGNAL, type Entry, isFinished, type Run, type RunId } from "@perdure/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { Checkers } from "./checkers/all.ts";
import type { Observation } from "./observations.ts";
import { runWorld } from "./world.ts";

type Of<T extends Observation["type"]> = Extract<Observation, { type: T }>;
type Committed = Of<"committed">;
type Mutation = Committed["commit"]["mutations"][number];
type Change = (history: readonly Observation[]) => readonly Observation[] | null;

const SEEDS = 40;
const histories: (readonly Observation[])[] = [];

beforeAll(async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const seen: Observation[] = [];
    const { violations } = await runWorld({ seed, record: (observation) => void seen.push(observation) });
    expect(violations).toEqual([]);
    histories.push(seen);
  }
});

function promisesBroken(history: readonly Observation[]): ReadonlySet<string> {
  const checkers = new Checkers();
  for (const observation of history) checkers.see(observation);
  return new Set(checkers.violations.map(({ promise }) => promise));
}

/** Some world has what is to be changed, and the change is noticed. */
function expectNoticed(promise: string, change: Change): void {
  const broken: string[] = [];
  for (const history of histories) {
    const changed = change(history);
    if (changed === null) continue;
    const promises = promisesBroken(changed);
    if (promises.has(promise)) return;
    broken.push(`[${[...promises].join(", ")}]`); // What was changed may be of a run that was rewound since, say.
  }
  expect.fail(`no world has what is to be changed for ${promise}, or it is not noticed: ${broken.join(" ")}`);
}

/** Replaces the first observation for which `change` has something else, by that. */
function first<T extends Observation["type"]>(
  type: T,
  change: (observation: Of<T>) => readonly Observation[] | null,
): Change {
  return (history) => {
    for (const [place, observation] of history.entries()) {
      const changed = observation.type === type ? change(observation as Of<T>) : null;
      if (changed !== null) return [...history.slice(0, place), ...changed, ...history.slice(place + 1)];
    }
    return null;
  };
}

/** Changes the first mutation for which `change` has something else. */
function firstMutation(change: (mutation: Mutation) => readonly Mutation[] | null): Change {
  return first("committed", (committed) => {
    for (const [place, mutation] of committed.commit.mutations.entries()) {
      const changed = change(mutation);
      if (changed === null) continue;
      const { mutations, epoch } = committed.commit;
      return [
        {
          ...committed,
          commit: { epoch, mutations: [...mutations.slice(0, place), ...changed, ...mutations.slice(place + 1)] },
        },
      ];
    }
    return null;
  });
}

function firstEntry(
  wanted: (entry: Entry) => boolean,
  change: (append: Extract<Mutation, { type: "appendEntry" }>) => readonly Mutation[],
): Change {
  return firstMutation((mutation) =>
    mutation.type === "appendEntry" && wanted(mutation.entry) ? change(mutation) : null,
  );
}

test("what was seen breaks no promise when it is shown again", () => {
  for (const history of histories) expect([...promisesBroken(history)]).toEqual([]);
});

describe("journal checker (E1, J1, J2, C2)", () => {
  test("a run that the storage has lost", () => {
    expectNoticed(
      "E1",
      first("stored", (stored) => (stored.runs.length === 0 ? null : [{ ...stored, runs: stored.runs.slice(1) }])),
    );
  });
  test("an entry that the storage has lost", () => {
    const lose = (stored: Of<"stored">): readonly Observation[] | null => {
      const run = stored.runs.find(({ entries }) => entries.length > 0);
      if (run === undefined) return null;
      return [
        {
          ...stored,
          runs: stored.runs.map((other) => (other === run ? { ...run, entries: run.entries.slice(0, -1) } : other)),
        },
      ];
    };
    expectNoticed("E1", first("stored", lose));
  });
  test("an entry that is overwritten", () => {
    expectNoticed(
      "E1",
      firstEntry(
        ({ index }) => index > 1,
        (append) => [{ ...append, entry: { ...append.entry, index: append.entry.index - 1 } }],
      ),
    );
  });
  test("a command out of order", () => {
    expectNoticed(
      "J1",
      firstEntry(
        ({ kind }) => kind === "command",
        (append) => [{ ...append, entry: { ...append.entry, id: 99 } as Entry, commands: 99 }],
      ),
    );
  });
  test("a second completion", () => {
    const twice = (append: Extract<Mutation, { type: "appendEntry" }>) => [
      append,
      { ...append, entry: { ...append.entry, index: append.entry.index + 1 } },
    ];
    expectNoticed(
      "J2",
      firstEntry(({ kind }) => kind === "completion", twice),
    );
  });
  test("an attempt that is told before the commit", () => {
    const early: Change = (history) => {
      const told = history.findIndex(
        (observation, place) =>
          observation.type === "told" && history.slice(0, place).some(({ type }) => type === "committed"),
      );
      const committed = history.findLastIndex((observation, place) => place < told && observation.type === "committed");
      if (told < 0) return null;
      const observation = history[told] as Observation;
      return [
        ...history.slice(0, committed),
        observation,
        ...history.slice(committed, told),
        ...history.slice(told + 1),
      ];
    };
    expectNoticed("E1", early);
  });
  test("an attempt that is told twice", () => {
    expectNoticed(
      "C2",
      first("told", (told) => [told, told]),
    );
  });
});

describe("effect checker (E2)", () => {
  test("a step that is run again after its result was told", () => {
    const again = (told: Of<"told">): readonly Observation[] | null => {
      const entry = told.entries.find(
        (candidate) =>
          candidate.kind === "command" && candidate.command.type === "step" && candidate.result !== undefined,
      );
      return entry?.kind === "command"
        ? [told, { type: "executed", tick: 0, attempt: told.attempt, command: entry.id }]
        : null;
    };
    expectNoticed("E2", first("told", again));
  });
  test("code that sees another result than before", () => {
    expectNoticed(
      "E2",
      first("observed", (observed) => [observed, { ...observed, result: { kind: "value", value: "another" } }]),
    );
  });
  test("code that takes another path", () => {
    expectNoticed(
      "E2",
      first("told", (told) => [told, { type: "mismatch", attempt: told.attempt, text: "another path" }]),
    );
  });
});

describe("stream checker (E1, E2, E4)", () => {
  const append = (
    change: (mutation: Extract<Mutation, { type: "appendStream" }>) => readonly Mutation[] | null,
  ): Change => firstMutation((mutation) => (mutation.type === "appendStream" ? change(mutation) : null));
  const journaled = (change: (items: Extract<Mutation, { type: "appendStream" }>) => readonly Mutation[]): Change =>
    append((mutation) => (mutation.writer === null ? change(mutation) : null));

  test("a journaled append that is lost", () => {
    expectNoticed(
      "E1",
      journaled(() => []),
    );
  });
  test("a journaled append that is doubled", () => {
    expectNoticed(
      "E2",
      journaled((mutation) => [mutation, { ...mutation, from: mutation.from + mutation.items.length }]),
    );
  });
  test("a gap between offsets", () => {
    expectNoticed(
      "E1",
      journaled((mutation) => [{ ...mutation, from: mutation.from + 1 }]),
    );
  });
  test("other items than the code said", () => {
    expectNoticed(
      "E2",
      journaled((mutation) => [{ ...mutation, items: mutation.items.map(() => '"another"') }]),
    );
  });
  test("a result that goes into no stream", () => {
    expectNoticed(
      "E1",
      firstMutation((mutation) => {
        if (mutation.type !== "appendEntry" || mutation.entry.kind !== "command") return null;
        const { kept, ...entry } = mutation.entry;
        return kept?.form === "item" ? [{ ...mutation, entry }] : null;
      }),
    );
  });
  test("a read of something else than what is there", () => {
    expectNoticed(
      "E2",
      firstMutation((mutation) =>
        mutation.type === "appendEntry" && mutation.entry.kind === "command" && mutation.entry.kept?.form === "list"
          ? [{ ...mutation, entry: { ...mutation.entry, result: { kind: "value", value: "[]" } } }]
          : null,
      ),
    );
  });
  test("a write of a step that nobody made", () => {
    expectNoticed(
      "E4",
      first("wrote", () => []),
    );
  });
  test("a write of an attempt whose run was paused", () => {
    const paused: Change = (history) => {
      const at = history.findIndex(
        ({ type, ...rest }) =>
          type === "committed" &&
          (rest as Committed).commit.mutations.some(
            (mutation) => mutation.type === "appendStream" && mutation.writer !== null,
          ),
      );
      const shown = history[at];
      if (shown?.type !== "committed") return null;
      const runs = history
        .slice(0, at)
        .flatMap((seen) => (seen.type === "committed" ? seen.commit.mutations : []))
        .flatMap((mutation) => (mutation.type === "insertRun" ? [mutation.run] : []));
      const pauses = runs.map((run) => ({ type: "updateRun", run: { ...run, status: "paused" } }) as const);
      return [
        ...history.slice(0, at),
        { ...shown, commit: { ...shown.commit, mutations: pauses } },
        ...history.slice(at),
      ];
    };
    expectNoticed("E4", paused);
  });
  test("a stream of which the storage has lost the last item", () => {
    const lose = (stored: Of<"stored">): readonly Observation[] | null => {
      const [full, ...others] = stored.streams.filter(({ page }) => page.items.length > 0);
      if (full === undefined) return null;
      const page = { ...full.page, end: full.page.end - 1, items: full.page.items.slice(0, -1) };
      return [{ ...stored, streams: [{ ...full, page }, ...others] }];
    };
    expectNoticed("E1", first("stored", lose));
  });
  test("a trim beyond the end", () => {
    expectNoticed(
      "E1",
      firstMutation((mutation) =>
        mutation.type === "trimStream" ? [{ ...mutation, before: mutation.before + 100 }] : null,
      ),
    );
  });
});

describe("key checker (E3)", () => {
  test("a run that does not wait for its turn", () => {
    expectNoticed(
      "E3",
      firstMutation((mutation) =>
        mutation.type === "insertRun" && mutation.run.status === "queued"
          ? [{ ...mutation, run: { ...mutation.run, status: "running" } }]
          : null,
      ),
    );
  });
  test("a turn that is given to nobody", () => {
    expectNoticed(
      "E3",
      firstMutation((mutation) => (mutation.type === "promoteRun" ? [] : null)),
    );
  });
  test("an arrival before one that was there", () => {
    expectNoticed(
      "E3",
      firstMutation((mutation) =>
        mutation.type === "insertRun" && mutation.run.arrival > 1
          ? [{ ...mutation, run: { ...mutation.run, arrival: 1 } }]
          : null,
      ),
    );
  });
});

describe("attempt checker (E4)", () => {
  test("a write under an old epoch", () => {
    expectNoticed(
      "E4",
      first("committed", (committed) => [
        { ...committed, commit: { ...committed.commit, epoch: committed.commit.epoch - 1 } },
      ]),
    );
  });
  test("a write by a host that does not have the partition", () => {
    expectNoticed(
      "E4",
      first("committed", (committed) => [{ ...committed, host: committed.host + 1 }]),
    );
  });
  test("two attempts of one run", () => {
    expectNoticed(
      "E4",
      first("started", (started) => [started, { ...started, attempt: 1_000_000 }]),
    );
  });
});

describe("delivery checker (E5)", () => {
  test("a signal that was accepted and not written", () => {
    const lost = (replied: Of<"replied">): readonly Observation[] | null =>
      replied.question.type === "signal" && replied.reply.type === "done"
        ? [{ ...replied, question: { ...replied.question, payload: { kind: "value", value: "lost" } } }]
        : null;
    expectNoticed("E5", first("replied", lost));
  });
  test("a run that suspends on what has come", () => {
    const blind = (over: Of<"over">): readonly Observation[] | null =>
      over.how === "suspend" && (over.entriesSeen ?? 0) > 1
        ? [{ ...over, entriesSeen: 0, awaiting: over.awaiting ?? [] }]
        : null;
    const awaitsAll = firstMutation((mutation) =>
      mutation.type === "updateRun" && mutation.run.status === "suspended"
        ? [
            {
              ...mutation,
              run: {
                ...mutation.run,
                awaiting: Array.from({ length: 20 }, (_, id) => ({ kind: "completion", id: id + 1 }) as const),
              },
            },
          ]
        : null,
    );
    const changes: Change = (history) => {
      const changed = first("over", blind)(history);
      return changed === null ? null : awaitsAll(changed);
    };
    const noticed = histories.some((history) => {
      const changed = changes(history);
      return changed !== null && promisesBroken(changed).has("E5");
    });
    expect(noticed).toBe(true);
  });
  test("a cancel that is nowhere", () => {
    const drop: Change = (history) => {
      const changed = firstEntry(
        (entry) => entry.kind === "signal" && entry.signal === CANCEL_SIGNAL,
        () => [],
      )(history);
      return changed !== null && promisesBroken(changed).has("E5") ? changed : null;
    };
    expectNoticed("E5", drop);
  });
});

describe("timer checker (E6)", () => {
  test("a timer that fires before the clock has reached it", () => {
    const early = (committed: Committed): readonly Observation[] | null =>
      committed.commit.mutations.some(({ type }) => type === "removeTimer") ? [{ ...committed, now: 0 }] : null;
    expectNoticed("E6", first("committed", early));
  });
});

describe("cancel checker (E7)", () => {
  test("a parent that is told while its children run", () => {
    const hasty = (committed: Committed): readonly Observation[] | null => {
      const cancelled = committed.commit.mutations.flatMap((mutation) =>
        mutation.type === "updateRun" && mutation.run.cancelling !== null ? [mutation.run] : [],
      )[0];
      return cancelled === undefined ? null : [committed, tellCancel(committed, cancelled)];
    };
    expectNoticed("E7", first("committed", hasty));
  });
  test("finished work that is changed", () => {
    const change = (committed: Committed): readonly Observation[] | null => {
      const ended = committed.commit.mutations.flatMap((mutation) =>
        mutation.type === "updateRun" && mutation.run.status === "succeeded" ? [mutation.run] : [],
      )[0];
      if (ended === undefined) return null;
      const { epoch } = committed.commit;
      return [
        committed,
        { ...committed, commit: { epoch, mutations: [{ type: "updateRun", run: { ...ended, status: "cancelled" } }] } },
      ];
    };
    expectNoticed("E7", first("committed", change));
  });
  test("what a run has called goes on when the run has ended by its cancel", () => {
    const loose: Change = (history) => {
      const records = new Map<RunId, Run>();
      for (const [place, seen] of history.entries()) {
        if (seen.type !== "committed") continue;
        const changed = seen.commit.mutations.flatMap((mutation) =>
          mutation.type === "insertRun" || mutation.type === "updateRun" ? [mutation.run] : [],
        );
        for (const run of changed) records.set(run.id, run);
        const child = changed.find(({ parent, status }) => parent?.awaited === true && !isFinished(status));
        const parent = records.get(child?.parent?.run as RunId);
        if (parent === undefined || isFinished(parent.status)) continue;
        const ended: Run = { ...parent, status: "cancelled" };
        const commit = { epoch: seen.commit.epoch, mutations: [{ type: "updateRun", run: ended } as const] };
        return [...history.slice(0, place + 1), { ...seen, commit }];
      }
      return null;
    };
    expectNoticed("E7", loose);
  });
});

function tellCancel(committed: Committed, run: Run): Observation {
  const entry: Entry = { kind: "signal", index: 1_000, at: 0, signal: CANCEL_SIGNAL, payload: { kind: "void" } };
  return {
    ...committed,
    commit: { epoch: committed.commit.epoch, mutations: [{ type: "appendEntry", run: run.seq, entry, commands: 0 }] },
  };
}

describe("settle checker (E8)", () => {
  test("a run that never ends", () => {
    const endless: Change = (history) => {
      const last = history.findLastIndex(
        (observation) =>
          observation.type === "committed" &&
          observation.commit.mutations.some((mutation) => mutation.type === "updateRun"),
      );
      return last < 0 ? null : history.filter((_, place) => place !== last);
    };
    expectNoticed("E8", endless);
  });
  test("something that is left in memory", () => {
    expectNoticed(
      "E8",
      first("settled", (settled) => [{ ...settled, figures: { ...settled.figures, live: 1 } }]),
    );
  });
  test("a world that does not come to rest", () => {
    expectNoticed(
      "E8",
      first("settled", (settled) => [{ ...settled, why: "no rest" }]),
    );
  });
});

describe("idempotency checker (E9)", () => {
  test("two runs of one key", () => {
    const twin = firstMutation((mutation) =>
      mutation.type === "insertRun" && mutation.run.idempotencyKey !== null
        ? [mutation, { ...mutation, run: { ...mutation.run, seq: 1_000_000, id: `${mutation.run.id}x` as Run["id"] } }]
        : null,
    );
    const then: Change = (history) => {
      const changed = twin(history);
      return changed === null ? null : repeatInsert(changed);
    };
    expectNoticed("E9", then);
  });
  test("a run that is stored twice", () => {
    expectNoticed(
      "E9",
      firstMutation((mutation) => (mutation.type === "insertRun" ? [mutation, mutation] : null)),
    );
  });
  test("an answer with another run", () => {
    const other = (replied: Of<"replied">): readonly Observation[] | null =>
      replied.reply.type === "accepted"
        ? [{ ...replied, reply: { ...replied.reply, run: `${replied.reply.run}x` as Run["id"] } }]
        : null;
    expectNoticed("E9", first("replied", other));
  });
});

/** The second bearer comes in a commit of its own, as it would. */
function repeatInsert(history: readonly Observation[]): readonly Observation[] {
  return history.flatMap((observation): readonly Observation[] => {
    if (observation.type !== "committed") return [observation];
    const { epoch, mutations } = observation.commit;
    const twin = mutations.filter((mutation) => mutation.type === "insertRun" && mutation.run.seq === 1_000_000);
    if (twin.length === 0) return [observation];
    return [
      { ...observation, commit: { epoch, mutations: mutations.filter((mutation) => !twin.includes(mutation)) } },
      { ...observation, commit: { epoch, mutations: twin } },
    ];
  });
}

describe("reply checker and state checker", () => {
  test("a caller who gets another result than is stored", () => {
    const other = (replied: Of<"replied">): readonly Observation[] | null =>
      replied.reply.type === "finished"
        ? [{ ...replied, reply: { ...replied.reply, result: { kind: "value", value: "another" } } }]
        : null;
    expectNoticed("E2", first("replied", other));
  });
  test("a caller who is told of a run that is not durable", () => {
    const early = (replied: Of<"replied">): readonly Observation[] | null =>
      replied.reply.type === "accepted"
        ? [{ ...replied, reply: { ...replied.reply, run: "run_nobody" as Run["id"] } }]
        : null;
    expectNoticed("E1", first("replied", early));
  });
  test("a read that is not what was written", () => {
    const read = firstEntry(
      (entry) => entry.kind === "command" && entry.command.type === "getState" && entry.result !== undefined,
      (append) => [{ ...append, entry: { ...append.entry, result: { kind: "value", value: "another" } } as Entry }],
    );
    const noticed = histories.some((history) => {
      const changed = read(history);
      return changed !== null && promisesBroken(changed).has("E3");
    });
    expect(noticed).toBe(true);
  });
  test("a state that the storage has lost", () => {
    const lose = (stored: Of<"stored">): readonly Observation[] | null =>
      stored.states.some(({ state }) => state.size > 0)
        ? [{ ...stored, states: stored.states.map((state) => ({ ...state, state: new Map() })) }]
        : null;
    expectNoticed("E1", first("stored", lose));
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EMPTY_HEAD, headAfter, seal, verifyChain } from "./chain.ts";
import { exportAudit, parseAudit } from "./export.ts";
import type { AuditEntry, AuditEvent, AuditHead, AuditPage, AuditRange } from "./types.ts";

const event = fc.record(
  { actor: fc.string(), action: fc.string(), subject: fc.string(), details: fc.jsonValue() },
  { requiredKeys: ["actor", "action", "subject"] },
);
const chains = fc
  .array(fc.tuple(event, fc.nat()), { minLength: 1, maxLength: 12 })
  .map((events) => chainOf(events.map(([said, at]) => ({ ...said, at }))));

function chainOf(events: readonly (AuditEvent & { readonly at: number })[]): AuditEntry[] {
  let head = EMPTY_HEAD;
  return events.map(({ at, ...said }) => {
    const entry = JSON.parse(JSON.stringify(seal(head, at, said))) as AuditEntry; // As a store gives it back.
    head = headAfter(entry);
    return entry;
  });
}

const headOf = (chain: readonly AuditEntry[]): AuditHead => {
  const last = chain.at(-1);
  return last === undefined ? EMPTY_HEAD : headAfter(last);
};
const index = (chain: readonly unknown[], n: number): number => n % chain.length;

describe("a chain as it was recorded", () => {
  test("holds, and says how long it is and where it ends", () => {
    fc.assert(
      fc.property(chains, (chain) => {
        const head = headOf(chain);
        expect(verifyChain(chain, { head })).toEqual({ ok: true, count: chain.length, head: head.hash });
      }),
    );
    expect(verifyChain([])).toEqual({ ok: true, count: 0, head: "0".repeat(64) });
  });

  test("holds from any place on, where the head before is known, and with a head that it has outgrown", () => {
    fc.assert(
      fc.property(chains, fc.nat(), (chain, n) => {
        const cut = index(chain, n);
        const after = headOf(chain.slice(0, cut));
        expect(verifyChain(chain.slice(cut), { after })).toMatchObject({ ok: true, count: chain.length });
        expect(verifyChain(chain, { head: after })).toMatchObject({ ok: true });
      }),
    );
  });

  test("has the hash that its description says", () => {
    const [entry] = chainOf([
      { actor: "ada", action: "approval.approved", subject: "apr_1", at: 7, details: { b: 1, a: 2 } },
    ]);
    // printf '%064d%s' 0 '{"action":"approval.approved","actor":"ada", … ,"seq":0,"subject":"apr_1"}' | sha256sum
    expect(entry?.hash).toBe("ec3d72169b662cd948f64a59d2f37301fe0d56b7a4ef4962a895db1a70d8a216");
  });
});

describe("whatever is done to a chain shows", () => {
  test("an edit of any field of any entry", () => {
    const edits = fc.constantFrom("seq", "at", "actor", "action", "subject", "details", "hash", "another");
    fc.assert(
      fc.property(chains, fc.nat(), edits, fc.jsonValue(), (chain, n, field, value) => {
        const at = index(chain, n);
        const edited = chain.map((entry, i) => (i === at ? { ...entry, [field]: value } : entry)) as AuditEntry[];
        fc.pre(JSON.stringify(edited) !== JSON.stringify(chain));
        fc.pre(!Object.is(value, -0)); // The same number.
        expect(verifyChain(edited)).toMatchObject({ ok: false, at });
      }),
    );
  });

  test("an edit deep inside the details", () => {
    const [entry] = chainOf([{ actor: "a", action: "b", subject: "c", at: 0, details: { input: { to: ["web"] } } }]);
    const edited = { ...entry, details: { input: { to: ["net"] } } } as AuditEntry;
    expect(verifyChain([edited])).toMatchObject({ ok: false, at: 0 });
  });

  test("a field that is taken away", () => {
    fc.assert(
      fc.property(chains, fc.nat(), fc.nat(), (chain, n, m) => {
        const at = index(chain, n);
        const fields = Object.keys(chain[at] ?? {});
        const gone = fields[m % fields.length];
        const edited = chain.map((entry, i) =>
          i === at ? Object.fromEntries(Object.entries(entry).filter(([field]) => field !== gone)) : entry,
        );
        expect(verifyChain(edited as unknown as AuditEntry[])).toMatchObject({ ok: false, at });
      }),
    );
  });

  test("an entry that is removed, from the middle or from the beginning", () => {
    fc.assert(
      fc.property(chains, fc.nat(), (chain, n) => {
        const at = index(chain, n);
        fc.pre(at < chain.length - 1);
        expect(verifyChain(chain.filter((_, i) => i !== at))).toMatchObject({ ok: false, at });
      }),
    );
  });

  test("entries that are cut off at the end, against a head that is known", () => {
    fc.assert(
      fc.property(chains, fc.nat(), (chain, n) => {
        const left = chain.slice(0, index(chain, n));
        expect(verifyChain(left).ok).toBe(true); // Nothing in a chain says how long it is.
        expect(verifyChain(left, { head: headOf(chain) })).toMatchObject({ ok: false, at: left.length });
      }),
    );
  });

  test("an entry that is inserted, be it sealed as well as may be", () => {
    fc.assert(
      fc.property(chains, fc.nat(), event, (chain, n, forged) => {
        const at = index(chain, n);
        const inserted = seal(headOf(chain.slice(0, at)), 0, forged);
        const edited = [...chain.slice(0, at), inserted, ...chain.slice(at)];
        expect(verifyChain(edited)).toMatchObject({ ok: false });
        expect(verifyChain(edited, { head: headOf(chain) })).toMatchObject({ ok: false });
      }),
    );
  });

  test("two entries that change places", () => {
    fc.assert(
      fc.property(chains, fc.nat(), fc.nat(), (chain, n, m) => {
        const [a, b] = [index(chain, n), index(chain, m)].sort((x, y) => x - y) as [number, number];
        fc.pre(a !== b);
        const moved = chain.map((entry, i) => chain[i === a ? b : i === b ? a : i] ?? entry);
        expect(verifyChain(moved)).toMatchObject({ ok: false, at: a });
      }),
    );
  });

  test("a whole chain that is written anew, against a head that is known", () => {
    fc.assert(
      fc.property(chains, fc.nat(), (chain, n) => {
        const at = index(chain, n);
        const anew = chainOf(chain.map((entry, i) => (i === at ? { ...entry, actor: `${entry.actor}!` } : entry)));
        expect(verifyChain(anew).ok).toBe(true);
        expect(verifyChain(anew, { head: headOf(chain) })).toMatchObject({ ok: false });
      }),
    );
  });

  test.each([[null], ["text"], [[]], [{}], [{ seq: 0, at: Number.NaN }]])("%j in the place of an entry", (what) => {
    expect(verifyChain([what as unknown as AuditEntry])).toMatchObject({ ok: false, at: 0 });
  });

  test("a head that lies before what is checked", () => {
    const chain = chainOf([1, 2, 3].map((at) => ({ actor: "a", action: "b", subject: "c", at })));
    const after = headOf(chain.slice(0, 2));
    expect(verifyChain(chain.slice(2), { after, head: headOf(chain.slice(0, 1)) })).toMatchObject({ ok: false, at: 1 });
    expect(verifyChain(chain.slice(2), { after, head: { ...after, hash: "f".repeat(64) } })).toMatchObject({
      ok: false,
    });
    expect(verifyChain(chain.slice(2), { after, head: after })).toMatchObject({ ok: true });
  });
});

describe("an export", () => {
  const chain = chainOf(
    Array.from({ length: 25 }, (_, at) => ({ actor: "a", action: "n.line\nbreak", subject: "c", at })),
  );
  const reading = (entries: readonly AuditEntry[], asked: AuditRange[] = []) => {
    return async (range: AuditRange): Promise<AuditPage> => {
      asked.push(range);
      const { from = 0, limit = 100 } = range;
      const end = Math.min(from + limit, entries.length);
      const page = entries.slice(from, end);
      return { entries: page, ...(end < entries.length ? { next: end } : {}), head: headOf(entries) };
    };
  };
  const collect = async (lines: AsyncIterable<string>): Promise<string> => {
    let text = "";
    for await (const line of lines) text += line;
    return text;
  };

  test("is a line for each entry, read page by page, and proves itself", async () => {
    const asked: AuditRange[] = [];
    const text = await collect(exportAudit(reading(chain, asked), { pageEntries: 10 }));
    expect(text.split("\n")).toHaveLength(26);
    expect(asked.map(({ from }) => from)).toEqual([0, 10, 20]);
    expect(parseAudit(text)).toEqual(chain);
    expect(verifyChain(parseAudit(text), { head: headOf(chain) })).toMatchObject({ ok: true, count: 25 });
  });

  test("ends where the chain ended when it began, though that grows", async () => {
    const growing = chain.slice(0, 10);
    const read = reading(growing);
    const lines = exportAudit(
      async (range) => {
        const page = await read(range);
        growing.push(...chain.slice(growing.length, growing.length + 5));
        return page;
      },
      { pageEntries: 4 },
    );
    expect(parseAudit(await collect(lines))).toEqual(chain.slice(0, 10));
  });

  test("of an empty chain is empty", async () => {
    expect(await collect(exportAudit(reading([])))).toBe("");
    expect(parseAudit("")).toEqual([]);
  });

  test("that was damaged is refused with its line", () => {
    expect(() => parseAudit(`${JSON.stringify(chain[0])}\n{"seq":`)).toThrow("line 2 of the audit export");
  });
});

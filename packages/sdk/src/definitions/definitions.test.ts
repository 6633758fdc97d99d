// Definitions: names, manifests, registries, schemas.

import { DefinitionError } from "@perdure/protocol";
import { describe, expect, it } from "vitest";

import type { StandardJsonSchema, StandardSchema } from "../standard-schema.ts";
import { jsonSchemaOf, validate } from "../standard-schema.ts";
import type { Bundle } from "./bundle.ts";
import { isServable } from "./bundle.ts";
import { handler, shared } from "./handler.ts";
import { manifestOf, resolveRetry } from "./manifest.ts";
import { createRegistry, editDistance } from "./registry.ts";
import { isDefinition, object, service, workflow } from "./service.ts";

function schema(json?: StandardJsonSchema): StandardSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value }),
      ...(json === undefined ? {} : { jsonSchema: json }),
    },
  };
}
const fn = async (): Promise<void> => {};

describe("names", () => {
  it("are letters, digits and a few signs", () => {
    for (const name of ["a", "_a", "A.b-c_9"]) expect(service(name, { fn }).name).toBe(name);
    for (const name of [
      "",
      "9a",
      "a b",
      "a/b",
      "é",
      "-a",
      "restate",
      "perdure",
      "openapi",
      "health",
      "a".repeat(201),
    ]) {
      expect(() => service(name, { fn }), name).toThrow(DefinitionError);
    }
    for (const name of ["then", "constructor", "a b", "toJSON"])
      expect(() => service("s", { [name]: fn }), name).toThrow(DefinitionError);
  });

  it("say what is wrong, with the code", () => {
    expect(() => object("a b", { fn })).toThrow(
      expect.objectContaining({
        code: "P0054",
        message: expect.stringContaining('"a b" cannot be the name of a service'),
      }),
    );
  });
});

describe("definitions", () => {
  it("refuse what cannot be meant", () => {
    const wrong: readonly (() => unknown)[] = [
      () => service("s", {}),
      () => service("s", { a: 1 as never }),
      () => service("s", { a: shared(fn) as never }),
      () => workflow("w", { run: shared(fn) as never }),
      () => workflow("w", { other: fn } as never),
      () => service("s", { a: handler({ retry: { factor: 0.5 } }, fn) }),
      () => service("s", { a: handler({ retry: { maxAttempts: 0 } }, fn) }),
      () => service("s", { a: handler({ retention: "soon" }, fn) }),
      () => service("s", { a: handler({ input: {} as never }, fn as never) }),
      () => service("s", { a: handler({}, undefined as never) }),
    ];
    for (const one of wrong) expect(one, String(one)).toThrow(DefinitionError);
  });

  it("are recognised in a module's exports", () => {
    const exported = [
      service("s", { fn }),
      object("o", { fn }),
      workflow("w", { run: fn }),
      {},
      null,
      fn,
      { name: "x", kind: "service" },
    ];
    expect(exported.map(isDefinition)).toEqual([true, true, true, false, false, false, false]);
  });
});

describe("manifests", () => {
  it("carry modes, schemas and policies", () => {
    const json: StandardJsonSchema = { input: () => ({ type: "string" }), output: () => ({ type: "number" }) };
    const definition = object(
      "o",
      {
        fn,
        look: shared(fn),
        full: handler(
          {
            input: schema(json),
            output: schema(json),
            description: "d",
            retry: { initial: "1s", max: "2s", maxAttempts: 3, onExhausted: "throw" },
            internal: true,
          },
          fn,
        ),
        hard: handler(
          {
            input: schema({
              input: () => {
                throw new Error("cannot");
              },
              output: () => ({}),
            }),
          },
          fn,
        ),
      },
      { description: "an object", retention: "1d" },
    );
    expect(manifestOf(definition)).toEqual({
      name: "o",
      kind: "object",
      description: "an object",
      handlers: [
        { name: "fn", mode: "exclusive", retentionMs: 86_400_000 },
        { name: "look", mode: "shared", retentionMs: 86_400_000 },
        {
          name: "full",
          mode: "exclusive",
          description: "d",
          inputSchema: { type: "string" },
          outputSchema: { type: "number" },
          retentionMs: 86_400_000,
          retry: { initialMs: 1_000, factor: 2, maxMs: 2_000, maxAttempts: 3, onExhausted: "throw" },
          internal: true,
        },
        { name: "hard", mode: "exclusive", retentionMs: 86_400_000 },
      ],
    });
    expect(manifestOf(workflow("w", { run: fn, other: fn })).handlers.map(({ name, mode }) => [name, mode])).toEqual([
      ["run", "workflow"],
      ["other", "shared"],
    ]);
  });

  it("never wait shorter than the first wait", () => {
    expect(resolveRetry({ initial: "1h" })).toMatchObject({ initialMs: 3_600_000, maxMs: 3_600_000 });
  });
});

describe("the registry", () => {
  const mailer = service("mailer", { send: fn, queue: fn });
  const registry = createRegistry([mailer, mailer, object("inbox", { add: fn })]);

  it("finds handlers", () => {
    expect(registry.find("mailer", "send")?.mode).toBe("service");
    expect([registry.find("mailer", "nothing"), registry.find("nothing", "send")]).toEqual([undefined, undefined]);
    expect(registry.manifests.map((manifest) => manifest.name)).toEqual(["mailer", "inbox"]);
  });

  it("names what may have been meant", () => {
    expect(registry.near("mialer", "send")).toEqual(["mailer/send"]);
    expect(registry.near("mailer", "sent")).toEqual(["mailer/send", "mailer/queue"]);
    expect(registry.near("Inbox", "ad")).toEqual(["inbox/add"]);
    expect(registry.near("payments", "charge")).toEqual([]);
    expect(editDistance("kitten", "sitting")).toBe(3);
  });

  it("refuses two of one name", () => {
    expect(() => createRegistry([mailer, service("mailer", { fn })])).toThrow('two definitions have the name "mailer"');
  });

  it("includes what definitions need, once, behind those that were named", () => {
    const log = service("log", { fn });
    const audit = service("audit", { fn }, { companions: [log] });
    const agent = object("agent", { fn }, { companions: [audit, log] });
    const names = createRegistry([agent, mailer]).definitions.map(({ name }) => name);
    expect(names.toSorted()).toEqual(["agent", "audit", "log", "mailer"]);
    expect(names[0]).toBe("agent");
    expect(agent.specs.get("fn")?.options).toEqual({});
    expect(() => createRegistry([agent, service("log", { fn })])).toThrow('two definitions have the name "log"');
  });

  it("takes bundles, with what they say at a start", () => {
    const call = { target: { service: "mailer", handler: "send" }, input: 1 };
    const bundle: Bundle = { kind: "schedule", name: "daily", definitions: [mailer], onStart: [call] };
    const made = createRegistry([bundle, bundle, mailer]);
    expect([made.definitions, made.onStart]).toEqual([[mailer], [call]]);
    expect(() => createRegistry([bundle, { ...bundle }])).toThrow('two schedules have the name "daily"');
    expect(createRegistry([bundle, { ...bundle, name: "weekly" }]).onStart).toHaveLength(2);
    expect([bundle, mailer, {}, null, { ...bundle, definitions: [1] }].map(isServable)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("schemas", () => {
  it("may be asynchronous", async () => {
    const later: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "t",
        validate: async () => ({ issues: [{ message: "no", path: [{ key: "a" }, 0, "b"] }, { message: "root" }] }),
      },
    };
    await expect(validate(later, 1, "the input")).rejects.toMatchObject({
      code: "P0021",
      message: "the input does not fit its schema: $.a[0].b: no; $: root",
    });
  });

  it("need not know JSON Schema", () => {
    expect(jsonSchemaOf(schema(), "input")).toBeUndefined();
  });
});

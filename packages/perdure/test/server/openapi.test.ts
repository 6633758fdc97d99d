import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, it } from "vitest";
import type { FastifyInstance } from "fastify";
import { ask, openWorld, type World } from "./world.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Record<
    string,
    Record<
      string,
      { operationId?: string; responses: Record<string, unknown>; requestBody?: unknown; parameters?: unknown }
    >
  >;
  readonly components: { readonly schemas: Record<string, unknown> };
}

/** Routes as they are registered, by listener; those of pages (`hide`) are for people, and no part of the API. */
async function worldWithRoutes(): Promise<{ world: World; ingress: string[]; admin: string[] }> {
  const lists: string[][] = [];
  const watch = (message: unknown): void => {
    const list: string[] = [];
    lists.push(list);
    (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", ({ method, url, schema }) => {
      if (schema?.hide === true) return;
      for (const one of [method].flat()) list.push(`${one.toLowerCase()} ${url.replaceAll(/:(\w+)/g, "{$1}")}`);
    });
  };
  subscribe("fastify.initialization", watch);
  const world = await openWorld();
  unsubscribe("fastify.initialization", watch);
  return { world, ingress: lists[0] ?? [], admin: lists[1] ?? [] };
}

function operations(document: Document): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
}

it("documents every route of the admin surface, validly", async () => {
  const { world, admin } = await worldWithRoutes();
  const document: Document = (await ask(`${world.admin}/openapi.json`)).json;
  expect(operations(document).toSorted()).toEqual(admin.toSorted());
  expect(await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual({
    valid: true,
  });
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.components.schemas)).toContain("RunDetail");
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      expect(operation.responses, `${method} ${path}`).toHaveProperty("4XX");
      expect(operation, `${method} ${path}`).toHaveProperty("summary");
    }
  }
  expect(document.paths["/runs"]?.["get"]?.parameters).toContainEqual(
    expect.objectContaining({ in: "query", name: "status" }),
  );
  await world.close();
});

it("documents every route and every handler of the ingress, validly", async () => {
  const { world, ingress } = await worldWithRoutes();
  const document: Document = (await ask(`${world.ingress}/openapi.json`)).json;
  const fixed = ingress.filter((route) => !/^(?:get|post) \/\{a\}/.test(route));
  const documented = operations(document);
  expect(documented).toEqual(expect.arrayContaining(fixed));
  const handlers = documented.filter((route) => !fixed.includes(route));
  expect(handlers).toEqual(
    expect.arrayContaining([
      "post /mailer/echo",
      "get /mailer/echo",
      "post /mailer/echo/send",
      "post /inbox/{key}/add",
      "post /order/{key}/run/send",
    ]),
  );
  expect(handlers.filter((route) => route.includes("secret"))).toEqual([]);
  expect(handlers).not.toContain("get /mailer/mail"); // It takes an input.
  expect(await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual({
    valid: true,
  });
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
  await world.close();
});

it("shows the handlers' schemas, with references that lead somewhere", async () => {
  const world = await openWorld();
  const document: Document = (await ask(`${world.ingress}/openapi.json`)).json;
  expect(document.paths["/mailer/mail"]?.["post"]).toMatchObject({
    description: "Sends a mail",
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/mailer.mail.input" } } },
    },
  });
  expect(document.components.schemas["mailer.mail.input"]).toMatchObject({
    properties: { to: { $ref: "#/components/schemas/mailer.mail.input/$defs/address" } },
    $defs: { address: { type: "string" } },
  });
  await world.close();
});

import { UnknownModelError } from "@perdure/protocol";
import { describe, expect, it } from "vitest";
import { createModelResolver, type ProviderLike } from "./resolver.ts";
import { scriptedModel } from "./scripted-model.ts";

const provider: ProviderLike = { languageModel: (modelId) => scriptedModel(() => "x", { provider: "p", modelId }) };
const missing = () => Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));

describe("models by name", () => {
  it("are of the provider before the first slash", async () => {
    const asked: string[] = [];
    const resolve = createModelResolver(async (name) => {
      asked.push(name);
      return provider;
    });
    expect((await resolve("openai/gpt-5")).modelId).toBe("gpt-5");
    expect((await resolve("openai/org/model")).modelId).toBe("org/model");
    expect(asked).toEqual(["openai"]);
  });

  it("may be models already", async () => {
    const model = scriptedModel(() => "x");
    expect(await createModelResolver(missing)(model)).toBe(model);
  });

  it.each(["gpt-5", "/gpt-5", "openai/", ""])('"%s" is none, and the error says how one is written', async (ref) => {
    await expect(createModelResolver(missing)(ref)).rejects.toThrow(/write provider\/model, such as openai\/gpt-5/);
  });

  it("that cannot be loaded name the package to install and the key to set", async () => {
    const resolve = createModelResolver(missing);
    const error: unknown = await resolve("anthropic/claude").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnknownModelError);
    expect(error).toMatchObject({ code: "P0074", retry: "terminal" });
    expect(String(error)).toContain("npm install @ai-sdk/anthropic) and set ANTHROPIC_API_KEY");
    await expect(resolve("antropic/claude")).rejects.toThrow('Did you mean "anthropic/…"?');
    await expect(resolve("somebody/else")).rejects.toThrow("npm install @ai-sdk/somebody");
  });

  it("are loaded again after a failure", async () => {
    let tries = 0;
    const resolve = createModelResolver(() => {
      tries += 1;
      return tries === 1 ? missing() : Promise.resolve(provider);
    });
    await expect(resolve("openai/gpt-5")).rejects.toThrow(UnknownModelError);
    expect((await resolve("openai/gpt-5")).modelId).toBe("gpt-5");
  });

  it("have to be of the AI SDK's current interface", async () => {
    const old = { ...scriptedModel(() => "x"), specificationVersion: "v2" as never };
    await expect(createModelResolver(missing)(old)).rejects.toThrow(/interface v2, and v4 is needed/);
  });
});

import { describe, expect, test, vi } from "vitest";
import { ApiClient, ApiFailure, NetworkFailure, path } from "./client.ts";
import { Session } from "./session.ts";

function storage(initial: Readonly<Record<string, string>> = {}) {
  const values = new Map(Object.entries(initial));
  return {
    getItem: (name: string): string | null => values.get(name) ?? null,
    setItem: (name: string, value: string): void => void values.set(name, value),
    removeItem: (name: string): void => void values.delete(name),
  };
}

function clientOf(answer: () => Promise<Response>, stored = storage()) {
  const fetcher = vi.fn<typeof fetch>(answer);
  return { api: new ApiClient(new Session(stored), fetcher), fetcher, stored };
}

const refusal = (): Promise<Response> =>
  Promise.resolve(Response.json({ error: { code: "P0035", message: "no", status: 401 } }, { status: 401 }));

describe("asking the API", () => {
  test("keys are data, whatever they hold", () => {
    expect(path`/state/${"a/b"}/${"ü ?#"}`).toBe("/state/a%2Fb/%C3%BC%20%3F%23");
  });

  test("the token travels in a header, lists are joined, and what is empty is left out", async () => {
    const { api, fetcher } = clientOf(() => Promise.resolve(Response.json({})), storage({ "perdure.token": "s3cret" }));
    await api.get("/runs", { query: { status: ["paused", "failed"], key: "", cursor: undefined, limit: 5 } });
    const [address, init] = fetcher.mock.calls[0] ?? [];
    expect(address).toBe("/runs?status=paused%2Cfailed&limit=5");
    expect(init?.headers).toEqual({ authorization: "Bearer s3cret" });
  });

  test("an error is the server's, in its words", async () => {
    const body = { error: { code: "P0030", message: "no such run", status: 404 } };
    const { api } = clientOf(() => Promise.resolve(Response.json(body, { status: 404 })));
    const error = await api.get("/runs/x").catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ApiFailure);
    expect(error).toMatchObject({ code: "P0030", status: 404, message: "no such run" });
  });

  test("no answer, or one of somebody in between, is a failure of the network", async () => {
    const down = clientOf(() => Promise.reject(new TypeError("failed to fetch")));
    await expect(down.api.get("/runs")).rejects.toBeInstanceOf(NetworkFailure);
    const proxy = clientOf(() => Promise.resolve(new Response("<html>Bad gateway", { status: 502 })));
    await expect(proxy.api.get("/runs")).rejects.toBeInstanceOf(NetworkFailure);
  });

  test("a token that is refused is forgotten, and the page asks for another", async () => {
    const { api, stored } = clientOf(refusal, storage({ "perdure.token": "wrong" }));
    await Promise.allSettled([api.get("/runs"), api.get("/version")]);
    expect(api.session.state.get()).toEqual({ kind: "closed", refused: true });
    expect(stored.getItem("perdure.token")).toBeNull();
    api.session.signIn("right");
    expect(api.session.state.get()).toEqual({ kind: "unknown" });
    expect(api.session.headers).toEqual({ authorization: "Bearer right" });
  });

  test("where no token was sent, none was refused", async () => {
    const { api } = clientOf(refusal);
    await api.get("/runs").catch(() => undefined);
    expect(api.session.state.get()).toEqual({ kind: "closed", refused: false });
  });
});

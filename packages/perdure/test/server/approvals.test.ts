// Approvals over HTTP, what the admin sees of agents, and what it does about them.

import { audit, newApprovalId, type ApprovalRequest } from "@perdure/agents";
import { createMemoryStorage, openMemoryStore } from "@perdure/engine";
import type { ApprovalSummary } from "@perdure/protocol";
import { object, service } from "@perdure/sdk";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterEach, describe, expect, test } from "vitest";
import { openAgentWorld, SLOWLY, steps, type AgentWorld, type AgentWorldOptions } from "./agent-world.ts";
import { ask, errorOf, post, rawAsk, until, type Answer } from "./world.ts";

let world: AgentWorld;
afterEach(async () => {
  await world.close();
  if (world.errors.length > 0)
    throw new Error("the server met an error that nobody expected", { cause: world.errors[0] });
});

/** Asks for anything, as an agent that was talked into it might. */
const asker = service("asker", {
  async ask(ctx, request: ApprovalRequest) {
    return ctx.call("perdure.approvals", await newApprovalId(ctx)).run(request);
  },
});
const log = object("log", {
  add: async (ctx, subject: string) => ctx.call(audit, "main").record({ actor: "ada", action: "x", subject }),
});

async function open(options: AgentWorldOptions = {}): Promise<void> {
  world = await openAgentWorld({ more: [asker, log], ...options });
}

async function openApprovals(): Promise<readonly ApprovalSummary[]> {
  return (await ask(`${world.admin}/approvals?status=open`)).json.approvals;
}

/** The path of the approval that is asked for, once it is. */
async function asked(request: object): Promise<string> {
  const before = (await openApprovals()).length;
  await post(`${world.ingress}/asker/ask/send`, { kind: "tool", ...request });
  const approvals = await until(openApprovals, ({ length }) => length > before);
  const url = `${world.ingress}/perdure/approvals/${approvals[0]?.id}`;
  await until(
    () => ask(url),
    ({ status }) => status === 200,
  );
  return url;
}

const pageOf = (url: string): Promise<Answer> =>
  ask(url, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });

function sendForm(url: string, fields: Record<string, string>): Promise<Answer> {
  return ask(url, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", origin: new URL(url).origin },
  });
}

describe("an approval as JSON", () => {
  test("is shown, and answered once", async () => {
    await open();
    const url = await asked({ title: "Publish?", tool: "publish", input: { text: "x" } });
    expect((await ask(url)).json).toMatchObject({
      state: "open",
      request: { title: "Publish?", input: { text: "x" } },
    });
    const answer = await post(url, { decision: "approved", by: "ada", comment: "Fine.", input: { text: "y" } });
    expect(answer.json).toMatchObject({ decision: "approved", by: "ada", comment: "Fine.", input: { text: "y" } });
    expect((await ask(url)).json).toMatchObject({ state: "approved", decision: { by: "ada" } });
    const late = await post(url, { decision: "rejected", by: "bob" });
    expect(errorOf(late)).toMatchObject({ code: "P0081", status: 409, message: expect.stringContaining("ada") });
  });

  test("is answered by who may, and nobody else", async () => {
    await open();
    const url = await asked({ title: "Publish?", approvers: ["ada"] });
    const refused = await post(url, { decision: "approved", by: "eve" });
    expect(errorOf(refused)).toMatchObject({ code: "P0082", status: 403 });
    expect((await ask(url)).json.state).toBe("open");
  });

  test("is none where nobody has asked, and no run is made to find out", async () => {
    await open();
    const { json: before } = await ask(`${world.admin}/runs`);
    for (const id of ["apr_1", "x".repeat(44), "apr_%00"]) {
      const answer = await ask(`${world.ingress}/perdure/approvals/${id}`);
      expect(errorOf(answer)).toMatchObject({ code: "P0080", status: 404 });
    }
    expect((await ask(`${world.admin}/runs`)).json.runs.length).toBe(before.runs.length);
    expect((await ask(`${world.ingress}/perdure/approvals/apr_${"0".repeat(40)}`)).status).toBe(404);
  });

  test.each([
    ["no decision", { by: "ada" }],
    ["another decision", { decision: "maybe", by: "ada" }],
    ["nobody", { decision: "approved", by: "" }],
    ["what is not asked", { decision: "approved", by: "ada", admin: true }],
  ])("is not answered with %s", async (_, body) => {
    await open();
    const url = await asked({ title: "Publish?" });
    expect(errorOf(await post(url, body)).status).toBe(400);
    expect((await ask(url)).json.state).toBe("open");
  });
});

describe("the page of an approval", () => {
  const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

  test("has a form, and nothing that runs or loads", async () => {
    await open();
    const page = await pageOf(await asked({ title: "Publish?", input: { text: "x" } }));
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toMatch(/unsafe|script-src|\*/);
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.text).toMatch(
      /<form method="post">[^]*name="by"[^]*name="comment"[^]*value="approved"[^]*value="rejected"/,
    );
    expect(page.text).not.toMatch(/<script|<img|<link|<iframe|\son\w+=|https?:/i);
  });

  test("shows what an agent says as text, whatever it says", async () => {
    await open();
    const page = await pageOf(
      await asked({
        title: hostile,
        agent: hostile,
        session: hostile,
        tool: hostile,
        input: { [hostile]: hostile },
        details: hostile,
        approvers: [hostile],
      }),
    );
    expect(page.text).not.toMatch(/<script|<img/i);
    expect(page.text).toContain("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    // Exactly the tags of the page itself: nothing that was said has become one.
    const tags = [...page.text.replace(/<style>[^]*<\/style>/, "").matchAll(/<\/?([a-z0-9]+)/g)].map(
      (match) => match[1],
    );
    expect(new Set(tags)).toEqual(
      new Set(
        "html head meta title body h1 h2 dl dt dd pre form label input textarea details summary button".split(" "),
      ),
    );
  });

  test("shows what cannot be seen", async () => {
    await open();
    const page = await pageOf(
      await asked({ title: "pay \u202e001$\u202c to\u200b bob\u0007", input: { to: "\u2066x" } }),
    );
    expect(page.text).toContain("pay \\u{202e}001$\\u{202c} to\\u{200b} bob\\u{7}");
    expect(page.text).toContain("\\u{2066}x");
  });

  test("takes an answer, and shows it", async () => {
    await open();
    const url = await asked({ title: "Publish?", input: { text: "x" } });
    const taken = await sendForm(url, { decision: "approved", by: "ada", comment: "Fine.", input: '{"text":"y"}' });
    expect(taken.status).toBe(303);
    expect(new URL(taken.headers.get("location") ?? "", url).href).toBe(url);
    expect((await ask(url)).json.decision).toMatchObject({ decision: "approved", by: "ada", input: { text: "y" } });
    const page = await pageOf(url);
    expect(page.text).toContain("<dd>ada</dd>");
    expect(page.text).not.toContain("<form");
  });

  test("takes a rejection without what it would have done instead", async () => {
    await open();
    const url = await asked({ title: "Publish?", input: { text: "x" } });
    await sendForm(url, { decision: "rejected", by: "ada", comment: "", input: "not JSON" });
    expect((await ask(url)).json.decision).toEqual({ decision: "rejected", by: "ada", at: expect.any(Number) });
  });

  test.each([
    ["who may not", { decision: "approved", by: "eve" }, 403],
    ["nobody", { decision: "approved", by: " " }, 400],
    ["neither yes nor no", { by: "ada" }, 400],
    ["what is not JSON", { decision: "approved", by: "ada", input: "{" }, 400],
  ])("says why an answer by %s is refused, with the form below", async (_, fields, status) => {
    await open();
    const url = await asked({ title: "Publish?", input: 1, approvers: ["ada"] });
    const refused = await sendForm(url, fields as unknown as Record<string, string>);
    expect(refused.status).toBe(status);
    expect(refused.text).toContain('role="alert"');
    expect(refused.text).toContain("<form");
    expect((await ask(url)).json.state).toBe("open");
  });

  test("says that somebody was first", async () => {
    await open();
    const url = await asked({ title: "Publish?" });
    await post(url, { decision: "rejected", by: "bob" });
    const late = await sendForm(url, { decision: "approved", by: "ada" });
    expect(late.status).toBe(409);
    expect(late.text).toMatch(/role="alert">[^<]*bob/);
  });

  test("says that there is nothing to answer", async () => {
    await open();
    const page = await pageOf(`${world.ingress}/perdure/approvals/apr_${encodeURIComponent("<b>")}`);
    expect(page.status).toBe(404);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).toContain("apr_&lt;b&gt;");
  });

  test("cannot be sent by another page", async () => {
    await open();
    const url = await asked({ title: "Publish?" });
    const answer = await rawAsk(url, {
      method: "POST",
      body: "decision=approved&by=ada",
      headers: {
        host: new URL(url).host,
        origin: "https://evil.example",
        "content-type": "application/x-www-form-urlencoded",
      },
    });
    expect(answer.status).toBe(403);
    expect((await ask(url)).json.state).toBe("open");
  });
});

describe("an agent that asks", () => {
  const asks = steps(
    { text: "I publish.", toolCalls: [{ name: "publish", input: { text: "news" } }] },
    { text: "It is out." },
  );
  const say = (text: string): Promise<Answer> => post(`${world.ingress}/researcher/s1/send/send`, text);

  test("goes on when it is answered, and both are seen in its session and in its events", async () => {
    await open({ script: asks });
    const { json: sent } = await say("Publish the news.");
    const [approval] = await until(openApprovals, ({ length }) => length === 1);
    expect(approval).toMatchObject({
      state: "open",
      kind: "tool",
      agent: "researcher",
      session: "s1",
      tool: "publish",
      input: { text: "news" },
      approvers: ["ada", "bob"],
      expiresAt: null,
    });
    expect(approval?.ageMs).toBeGreaterThanOrEqual(0);
    const session = `${world.admin}/agents/researcher/s1`;
    const waiting = await until(
      () => ask(session),
      ({ json }) => json.state === "waiting",
    );
    expect(waiting.json).toMatchObject({
      turn: sent.runId,
      approvals: [{ id: approval?.id }],
      children: [],
      budget: null,
    });
    const url = `${world.ingress}/perdure/approvals/${approval?.id}`;
    await until(
      () => ask(url),
      ({ status }) => status === 200,
    );
    await post(url, { decision: "approved", by: "ada" });
    const result = await ask(`${world.ingress}/perdure/runs/${sent.runId}/attach`);
    expect(result.json.text).toBe("It is out.");
    expect((await ask(session)).json).toMatchObject({ state: "idle", turn: null, approvals: [], items: 5 });
    const { approvals } = (await ask(`${world.admin}/approvals?status=closed`)).json;
    expect(approvals).toMatchObject([{ id: approval?.id, state: "approved", approvers: [] }]);
    const messages = (await ask(`${world.ingress}/perdure/agents/researcher/s1/messages`)).json;
    expect(messages[1].parts).toContainEqual(
      expect.objectContaining({
        type: "data-approval",
        data: expect.objectContaining({ state: "approved", by: "ada" }),
      }),
    );
  });

  test("is listed, with its sessions", async () => {
    await open({ script: () => ({ text: "One two.", ...SLOWLY }) });
    await say("Count.");
    await until(
      async () => (await ask(`${world.admin}/agents`)).json.agents,
      ([only]) => only.sessions === 1,
    );
    const { agents } = (await ask(`${world.admin}/agents`)).json;
    expect(agents).toEqual([{ name: "researcher", description: null, sessions: 1, open: 1 }]);
    expect((await ask(`${world.admin}/agents/researcher`)).json).toEqual({ sessions: ["s1"], nextAfter: null });
    expect((await ask(`${world.admin}/agents/asker/s1`)).status).toBe(404);
    const { services } = (await ask(`${world.admin}/services`)).json;
    expect(services.filter(({ agent }: { agent?: true }) => agent === true)).toMatchObject([{ name: "researcher" }]);
  });
});

describe("the switch for writes", () => {
  test("is set by key, and says who did", async () => {
    await open();
    expect((await ask(`${world.admin}/controls`)).json).toEqual({ controls: [] });
    const set = await post(`${world.admin}/controls`, {
      key: "researcher/s1",
      writes: "deny",
      by: "ada",
      reason: "odd",
    });
    expect(set.json).toEqual({
      key: "researcher/s1",
      writes: "deny",
      by: "ada",
      reason: "odd",
      at: expect.stringMatching(/Z$/),
    });
    expect((await ask(`${world.admin}/controls`)).json).toEqual({ controls: [set.json] });
    expect((await post(`${world.admin}/controls`, { key: "1 2", writes: "deny", by: "ada" })).status).toBe(400);
    expect((await post(`${world.admin}/controls`, { key: "*", writes: "never", by: "ada" })).status).toBe(400);
  });

  test("takes an agent its writes at once", async () => {
    await open({
      script: steps({ toolCalls: [{ name: "publish", input: { text: "news" } }] }, { text: "I may not." }),
    });
    await post(`${world.admin}/controls`, { key: "*", writes: "deny", by: "ada" });
    const { json } = await post(`${world.ingress}/researcher/s1/send`, "Publish the news.");
    expect(json.text).toBe("I may not.");
    expect((await ask(`${world.admin}/approvals?status=all`)).json.approvals).toEqual([]);
  });
});

describe("a budget", () => {
  test("is shown with its session, and raised", async () => {
    await open({ agent: { budget: { tokens: 100_000 } } });
    await post(`${world.ingress}/researcher/s1/send`, "Hello?");
    const { budget } = (await ask(`${world.admin}/agents/researcher/s1`)).json;
    expect(budget).toMatchObject({ id: "researcher/s1", status: { limits: { tokens: 100_000 } } });
    const url = `${world.admin}/budgets/${encodeURIComponent("researcher/s1")}`;
    expect((await ask(url)).json).toMatchObject({ limits: { tokens: 100_000 } });
    const raised = await post(`${url}/raise`, { tokens: 5_000, by: "ada" });
    expect(raised.json).toMatchObject({ limits: { tokens: 105_000 }, lastRaise: { by: "ada" } });
    expect((await post(`${url}/raise`, { tokens: -1 })).status).toBe(400);
    expect((await post(`${url}/raise`, { token: 1 })).status).toBe(400);
  });
});

describe("the audit log", () => {
  const linesOf = async (query: string): Promise<string> => (await fetch(`${world.admin}/audit${query}`)).text();

  test("is exported, and checked", async () => {
    await open();
    for (const subject of ["a", "b", "c"]) await post(`${world.ingress}/log/l/add`, subject);
    const lines = (await linesOf(""))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ seq, subject }) => [seq, subject])).toEqual([
      [0, "a"],
      [1, "b"],
      [2, "c"],
    ]);
    expect((await linesOf("?from=2")).trim().split("\n")).toHaveLength(1);
    expect((await ask(`${world.admin}/audit?verify=true`)).json).toEqual({
      chain: "main",
      ok: true,
      count: 3,
      head: lines[2].hash,
    });
    expect(await linesOf("?chain=empty")).toBe("");
  });

  test("is exported and checked page by page", async () => {
    await open();
    const count = 620;
    await Promise.all(Array.from({ length: count }, () => post(`${world.ingress}/log/l/add`, "a")));
    expect((await linesOf("")).trim().split("\n")).toHaveLength(count);
    expect((await ask(`${world.admin}/audit?verify=true`)).json).toMatchObject({ ok: true, count });
  });

  test("shows that an entry was changed", async () => {
    const storage = createMemoryStorage();
    await open({ store: openMemoryStore(storage) });
    for (const subject of ["a", "b", "c"]) await post(`${world.ingress}/log/l/add`, subject);
    // As whoever can write to the store does it: there is no other way.
    const chunks = storage.data.streams.get("perdure.audit\u0000main")?.get("audit")?.chunks ?? [];
    for (const [index, chunk] of chunks.entries()) {
      const items = chunk.items.map((item) => String(item).replace('"subject":"b"', '"subject":"z"'));
      chunks[index] = { ...chunk, items };
    }
    expect((await ask(`${world.admin}/audit?verify=true`)).json).toMatchObject({ chain: "main", ok: false, at: 1 });
  });
});

test("the documents of both listeners are valid with agents in them", async () => {
  await open();
  for (const url of [world.ingress, world.admin]) {
    const document = (await ask(`${url}/openapi.json`)).json;
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  }
});

import { spawn } from "node:child_process";
import { connect, createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, type ServerAddresses } from "../../src/server/index.ts";
import { ask, errorOf, exchange, openWorld, post, rawAsk, until, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld({ hosts: ["perdure.test"] });
});
afterAll(() => world.close());

const codeOf = (text: string): unknown => (JSON.parse(text) as { error: { code: string } }).error.code;

describe("binding", () => {
  it.each(["0.0.0.0", "::", "192.0.2.1", "example.org"])("to %s is refused without a token", async (host) => {
    const { runtime } = world;
    for (const part of ["ingress", "admin"]) {
      const server = createServer({ runtime, ingress: { port: 0 }, admin: { port: 0 }, [part]: { host, port: 0 } });
      const refused: Error & { code?: string } = await server.start().then(
        () => new Error("it listens"),
        (error: Error) => error,
      );
      expect(refused.code).toBe("P0051");
      expect(refused.message).toContain("--token");
      expect(server.ingress.server.listening).toBe(false);
    }
  });

  it("with an empty token is refused as well", async () => {
    await expect(
      createServer({ runtime: world.runtime, token: " ", ingress: { port: 0 } }).start(),
    ).rejects.toMatchObject({ code: "P0051" });
  });

  it("to every address works with a token, under any name", async () => {
    const open = await openWorld({
      token: "s3cret",
      ingress: { host: "0.0.0.0", port: 0 },
      admin: { host: "0.0.0.0", port: 0 },
    });
    const port = new URL(open.ingress).port;
    expect(new URL(open.ingress).hostname).toBe("localhost");
    const authorization = "Bearer s3cret";
    expect(
      await rawAsk(`http://127.0.0.1:${port}/mailer/hello`, { headers: { host: "agents.example.org", authorization } }),
    ).toMatchObject({ status: 200 });
    expect(
      await rawAsk(`http://127.0.0.1:${port}/mailer/hello`, { headers: { host: "agents.example.org" } }),
    ).toMatchObject({ status: 401 });
    await open.close();
  });
});

describe("a token", () => {
  let locked: World;
  beforeAll(async () => {
    locked = await openWorld({ token: "s3cret" });
  });
  afterAll(() => locked.close());

  it.each([undefined, "Bearer wrong", "Bearer s3cret2", "Basic s3cret", "s3cret", "Bearer ", ""])(
    "is asked for on every path but /health: %j",
    async (authorization) => {
      for (const url of [
        `${locked.ingress}/mailer/hello`,
        `${locked.ingress}/`,
        `${locked.ingress}/openapi.json`,
        `${locked.ingress}/nowhere`,
        `${locked.ingress}/%ff/x`,
      ]) {
        const answer = await rawAsk(url, { headers: authorization === undefined ? {} : { authorization } });
        expect([answer.status, codeOf(answer.text), answer.headers["www-authenticate"]]).toEqual([
          401,
          "P0036",
          'Bearer realm="perdure"',
        ]);
      }
      for (const url of [
        `${locked.admin}/runs`,
        `${locked.admin}/events`,
        `${locked.admin}/metrics`,
        `${locked.admin}/openapi.json`,
      ]) {
        expect((await rawAsk(url, { headers: authorization === undefined ? {} : { authorization } })).status).toBe(401);
      }
      for (const url of [locked.ingress, locked.admin]) expect((await rawAsk(`${url}/health`)).status).toBe(200);
    },
  );

  it.each(["Bearer s3cret", "bearer s3cret", "Bearer  s3cret"])("opens both listeners: %s", async (authorization) => {
    expect((await rawAsk(`${locked.ingress}/mailer/hello`, { headers: { authorization } })).status).toBe(200);
    expect((await rawAsk(`${locked.admin}/runs`, { headers: { authorization } })).status).toBe(200);
  });
});

describe("browsers", () => {
  it.each(["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "user@localhost"])(
    "that were led here by the name %j are refused (DNS rebinding)",
    async (host) => {
      for (const url of [`${world.ingress}/mailer/hello`, `${world.admin}/runs`, `${world.ingress}/health`]) {
        const answer = await rawAsk(url, { headers: { host } });
        expect([answer.status, codeOf(answer.text)]).toEqual([403, "P0034"]);
      }
    },
  );

  it.each(["", "Host:\r\n"])("and whoever asks for no name at all: %j", async (header) => {
    const text = await exchange(world.ingress, `GET /mailer/hello HTTP/1.1\r\n${header}Connection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(text).toContain('"code":"P0034"');
  });

  it.each(["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:9", "perdure.test"])(
    "that ask for %s are served",
    async (host) => {
      expect((await rawAsk(`${world.ingress}/mailer/hello`, { headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    [{ origin: "https://evil.example" }],
    [{ origin: "null" }],
    [{ origin: "http://localhost:3000" }],
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
  ])("cannot send from other pages: %j", async (headers) => {
    for (const [url, method] of [
      [`${world.ingress}/mailer/hello`, "POST"],
      [`${world.ingress}/mailer/hello/send`, "POST"],
      [`${world.ingress}/mailer/hello`, "GET"],
      [`${world.admin}/runs/kill`, "POST"],
      [`${world.admin}/state/inbox/k`, "PATCH"],
    ] as const) {
      const answer = await rawAsk(url, { method, headers });
      expect([answer.status, codeOf(answer.text)]).toEqual([403, "P0034"]);
    }
  });

  it("can send from the server's own pages", async () => {
    const { host } = new URL(world.ingress);
    expect(
      (
        await rawAsk(`${world.ingress}/mailer/hello`, {
          method: "POST",
          headers: { origin: `http://${host}`, "sec-fetch-site": "same-origin" },
        })
      ).status,
    ).toBe(200);
    expect((await rawAsk(`${world.ingress}/mailer/hello`, { headers: { "sec-fetch-site": "none" } })).status).toBe(200);
  });
});

describe("taken ports", () => {
  const holdTwo = async (): Promise<{ port: number; end: () => void }> => {
    const servers: TcpServer[] = [];
    const hold = (port: number): Promise<number> =>
      new Promise((resolve, reject) => {
        const server = createTcpServer().on("error", reject);
        server.listen(port, "127.0.0.1", () => {
          servers.push(server);
          resolve((server.address() as AddressInfo).port);
        });
      });
    for (;;) {
      const port = await hold(0);
      const ok = await hold(port + 1).catch(() => null);
      if (ok !== null && port < 65_000) return { port, end: () => servers.forEach((server) => void server.close()) };
    }
  };
  const serverOn = (port: number, onTaken: "next" | "fail"): ReturnType<typeof createServer> =>
    createServer({ runtime: world.runtime, ingress: { port }, admin: { port: 0 }, onTaken });

  it("are left alone for the next free one, which is told", async () => {
    const { port, end } = await holdTwo();
    const server = serverOn(port, "next");
    const addresses: ServerAddresses = await server.start();
    expect(addresses.ingress.moved).toBe(true);
    expect(addresses.ingress.port).toBeGreaterThan(port + 1);
    expect(addresses.ingress.port).toBeLessThanOrEqual(port + 20);
    expect((await post(`${addresses.ingress.url}/mailer/hello`)).json).toBe("hello");
    server.ingress.server.close();
    server.admin.server.close();
    end();
  });

  it("are refused with who holds them, and nothing listens then", async () => {
    const { port, end } = await holdTwo();
    await expect(serverOn(port, "fail").start()).rejects.toMatchObject({
      code: "P0050",
      message: expect.stringContaining(`port ${port} on 127.0.0.1 is taken by this very process`),
    });
    const second = createServer({ runtime: world.runtime, ingress: { port: 0 }, admin: { port } });
    await expect(second.start()).rejects.toMatchObject({ code: "P0050" });
    await until(
      async () => second.ingress.server.listening,
      (listening) => !listening,
    );
    end();
  });

  it.runIf(process.platform === "linux")("name another process", async () => {
    const script =
      "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })";
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const port = await new Promise<number>((resolve) =>
      child.stdout.once("data", (data) => resolve(Number(String(data)))),
    );
    await expect(serverOn(port, "fail").start()).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`process ${child.pid} \\(.*createServer`)),
      metadata: { pid: String(child.pid) },
    });
    child.kill();
  });
});

describe("shutdown", () => {
  it("lets calls under way finish, and takes no new ones", async () => {
    const other = await openWorld();
    const call = post(`${other.ingress}/mailer/sleep`, 300);
    await until(
      () => other.runtime.reader.runs({ limit: 1 }),
      (runs) => runs.length === 1,
    );
    const closing = other.server.close(5_000);
    expect(await call).toMatchObject({ status: 200, json: "slept" });
    await closing;
    await expect(fetch(`${other.ingress}/health`)).rejects.toThrow("fetch failed");
  });

  it("answers 503 with Retry-After on connections that are still open", async () => {
    const other = await openWorld();
    const { port, hostname } = new URL(other.ingress);
    const requestOf = (path: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(requestOf("/mailer/sleep", "200")));
    const ended = new Promise((resolve) => socket.on("close", resolve));
    socket.on("data", (data) => {
      text += String(data);
    });
    await until(
      () => other.runtime.reader.runs({ limit: 1 }),
      (runs) => runs.length === 1,
    );
    const closing = other.server.close(5_000);
    socket.write(requestOf("/mailer/hello", ""));
    await ended;
    const [, first = "", second = ""] = text.split("HTTP/1.1 ");
    expect(first).toMatch(/^200 OK[^]*"slept"$/);
    expect(second).toMatch(/^503 Service Unavailable[^]*connection: close[^]*retry-after: 3/i);
    expect(second).toContain('"code":"P0037"');
    await closing;
  });

  it("tells callers of runs that go on longer, within the grace", async () => {
    const other = await openWorld();
    const call = post(`${other.ingress}/mailer/sleep`, 3_600_000);
    await until(
      () => other.runtime.reader.runs({ limit: 1 }),
      (runs) => runs.length === 1,
    );
    const began = Date.now();
    await Promise.all([other.server.close(300), other.server.close(300)]);
    expect(Date.now() - began).toBeLessThan(2_000);
    const answer = await call;
    expect(errorOf(answer)).toMatchObject({ code: "P0037", status: 503 });
    expect(answer.headers.get("retry-after")).toBe("3");
  });

  it("ends a server that never started", async () => {
    const other = await openWorld();
    const idle = createServer({ runtime: other.runtime });
    await idle.close(100);
    expect(idle.addresses).toBeNull();
    expect(other.runtime.draining).toBe(true);
    await other.close();
  });
});

it("says how the server may be asked", async () => {
  expect(errorOf(await ask(`${world.ingress}/nowhere`)).message).toContain("/openapi.json");
});

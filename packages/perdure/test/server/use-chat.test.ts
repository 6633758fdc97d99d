// useChat, as it is: React renders it into a document, and its own transport asks a real server.

import type { UseChatHelpers } from "@ai-sdk/react";
import type { AgentUIMessage } from "@perdure/agents";
import { DefaultChatTransport } from "ai";
// @ts-expect-error -- its types are a package of their own, and want the DOM in every file
import { JSDOM } from "jsdom";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { openAgentWorld, SLOWLY, steps, type AgentWorld, type AgentWorldOptions } from "./agent-world.ts";
import { ask, post, until } from "./world.ts";

interface Dom {
  readonly window: { readonly document: { getElementById(id: string): object | null } };
}

const dom = new JSDOM('<div id="root"></div>', { url: "http://localhost/" }) as Dom;
let world: AgentWorld;
const mounted: { unmount(): void }[] = [];

// React asks for the document when it is loaded, and after that for as long as it has something to do.
beforeAll(() => {
  Object.assign(globalThis, { window: dom.window, document: dom.window.document });
});

afterEach(async () => {
  for (const { unmount } of mounted.splice(0)) unmount();
  await world.close();
});

interface Page {
  /** As of the last time that it was rendered. */
  readonly chat: UseChatHelpers<AgentUIMessage>;
  readonly text: string;
  until(done: (page: Page) => boolean): Promise<void>;
  leave(): void;
}

async function openPage(
  options: { readonly messages?: AgentUIMessage[]; readonly resume?: boolean } = {},
): Promise<Page> {
  const { createElement } = await import("react");
  const { createRoot } = await import("react-dom/client");
  const { useChat } = await import("@ai-sdk/react");
  const transport = new DefaultChatTransport<AgentUIMessage>({
    api: `${world.ingress}/perdure/agents/researcher/s1/chat`,
  });
  let chat: UseChatHelpers<AgentUIMessage> | undefined;
  let wake = (): void => undefined;
  const Chat = (): null => {
    chat = useChat<AgentUIMessage>({ id: "s1", transport, ...options });
    wake();
    return null;
  };
  const root = createRoot(dom.window.document.getElementById("root") as Parameters<typeof createRoot>[0]);
  root.render(createElement(Chat));
  const leave = (): void => root.unmount();
  mounted.push({ unmount: leave });
  const page: Page = {
    get chat() {
      if (chat === undefined) throw new Error("nothing was rendered yet");
      return chat;
    },
    get text() {
      return page.chat.messages.map(({ role, parts }) => `${role}: ${textOf(parts)}`).join("; ");
    },
    until: async (done) => {
      const end = Date.now() + 10_000;
      while (chat === undefined || !done(page)) {
        if (Date.now() > end) throw new Error(`waited too long: ${chat?.status} ${chat?.error} ${page.text}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 20);
        });
      }
    },
    leave,
  };
  await page.until(() => true);
  return page;
}

function textOf(parts: AgentUIMessage["parts"]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("|");
}

async function open(options: AgentWorldOptions): Promise<void> {
  world = await openAgentWorld(options);
}

const stored = async (): Promise<AgentUIMessage[]> =>
  (await ask(`${world.ingress}/perdure/agents/researcher/s1/messages`)).json;

describe("useChat", () => {
  test("streams an answer, and shows it again when the page is opened anew", async () => {
    await open({ script: () => ({ text: "One two three.", ...SLOWLY }) });
    const page = await openPage();
    void page.chat.sendMessage({ text: "Count." });
    world.pace.release(1);
    await page.until(({ text }) => /assistant: One two\s?$/.test(text));
    expect(page.chat.status).toBe("streaming");
    world.pace.release(10);
    await page.until(({ chat }) => chat.status === "ready");
    expect(page.text).toBe("user: Count.; assistant: One two three.");
    page.leave();

    const again = await openPage({ messages: await stored(), resume: true });
    expect(again.text).toBe(page.text);
    expect(again.chat.messages.map(({ id }) => id)).toEqual(page.chat.messages.map(({ id }) => id));
  });

  test("shows tools with their inputs and outputs", async () => {
    await open({
      script: steps(
        { text: "I look.", toolCalls: [{ name: "search", input: { query: "tides" } }] },
        { text: "Found." },
      ),
    });
    const page = await openPage();
    await page.chat.sendMessage({ text: "Tides?" });
    await page.until(({ chat }) => chat.status === "ready");
    const parts = page.chat.messages.at(-1)?.parts ?? [];
    expect(parts.find(({ type }) => type === "tool-search")).toMatchObject({
      state: "output-available",
      input: { query: "tides" },
      output: { hits: ["about tides"] },
    });
    // What was streamed and what is stored tell the same, but for what is only of interest while it happens.
    const lasting = (all: AgentUIMessage["parts"]): unknown[] =>
      all.flatMap((part) =>
        part.type.startsWith("data-") ? [] : [{ type: part.type, ...("text" in part ? { text: part.text } : {}) }],
      );
    expect(lasting(parts)).toEqual(lasting((await stored()).at(-1)?.parts ?? []));
  });

  test("comes back in the middle of an answer, and shows it once", async () => {
    await open({ script: () => ({ text: "One two three four.", ...SLOWLY }) });
    const first = await openPage();
    void first.chat.sendMessage({ text: "Count." });
    world.pace.release(1);
    await first.until(({ text }) => text.includes("One two"));
    first.leave();

    const second = await openPage({ messages: await stored(), resume: true });
    await second.until(({ text }) => text.includes("One two"));
    world.pace.release(10);
    await second.until(({ chat }) => chat.status === "ready");
    expect(second.text).toBe("user: Count.; assistant: One two three four.");
  });

  test("comes back to nothing where nothing is under way", async () => {
    await open({});
    const page = await openPage({ messages: await stored(), resume: true });
    await page.until(({ chat }) => chat.status === "ready");
    expect(page.chat.messages).toEqual([]);
    expect(page.chat.error).toBeUndefined();
  });

  test("is stopped by the server's stop, and keeps what there is", async () => {
    await open({ script: () => ({ text: "One two three four.", ...SLOWLY }) });
    const page = await openPage();
    void page.chat.sendMessage({ text: "Count." });
    world.pace.release(1);
    await page.until(({ text }) => text.includes("One two"));
    await post(`${world.ingress}/perdure/agents/researcher/s1/stop`);
    await page.until(({ chat }) => chat.status === "ready");
    expect(page.text).toMatch(/assistant: One two\s?$/);
    expect(page.chat.messages.at(-1)?.metadata).toMatchObject({ reason: "stopped" });
  });

  test("that stops listening stops nothing", async () => {
    await open({ script: () => ({ text: "One two three four.", ...SLOWLY }) });
    const page = await openPage();
    void page.chat.sendMessage({ text: "Count." });
    world.pace.release(1);
    await page.until(({ text }) => text.includes("One two"));
    await page.chat.stop();
    world.pace.release(10);
    const all = await until(stored, (messages) => textOf(messages.at(-1)?.parts ?? []).includes("four"));
    expect(all.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("shows what failed on the way as a mark, and the answer once", async () => {
    await open({
      script: (_, seen) => ({
        text: "One two three.",
        ...(seen === 1 ? { fault: { kind: "cut" as const, afterTokens: 2 } } : {}),
      }),
    });
    const page = await openPage();
    await page.chat.sendMessage({ text: "Count." });
    await page.until(({ chat }) => chat.status === "ready");
    expect(page.text).toBe("user: Count.; assistant: One two three.");
    expect(page.chat.messages.at(-1)?.parts.map(({ type }) => type)).toContain("data-attempt-failed");
  });

  test("shows an approval, which is answered by its id", async () => {
    await open({
      script: steps({ toolCalls: [{ name: "publish", input: { text: "news" } }] }, { text: "It is out." }),
    });
    const page = await openPage();
    void page.chat.sendMessage({ text: "Publish." });
    const approval = (): { readonly id?: string; readonly state?: string; readonly by?: string | undefined } => {
      const part = page.chat.messages.at(-1)?.parts.find(({ type }) => type === "data-approval");
      return part?.type === "data-approval" ? { id: part.data.approval, state: part.data.state, by: part.data.by } : {};
    };
    await page.until(() => approval().state === "open");
    const url = `${world.ingress}/perdure/approvals/${approval().id}`;
    await until(
      () => ask(url),
      ({ status }) => status === 200,
    );
    await post(url, { decision: "approved", by: "ada" });
    await page.until(({ chat }) => chat.status === "ready");
    expect(approval()).toMatchObject({ state: "approved", by: "ada" });
    expect(page.text).toContain("It is out.");
  });
});

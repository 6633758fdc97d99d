// Steer
// =====
// From saying something to its effect, end to end from outside of the server's process. The provider and what the tools call
// live in the bench's process.
//
//   steer_p50_ms      a message to an agent whose tool works, sent to its HTTP door; the tool ends the moment the message is
//                     accepted. Until the message is in the transcript, as its stream tells it, and the provider has the
//                     request that carries it: whichever is later.
//   accepted_p50_ms   of that, until the message was accepted: it is stored, and cannot be lost.
//   interrupt_p50_ms  a message with the policy `interrupt` to an agent whose model speaks: until the provider has the next
//                     request, which carries it.
//   approve_p50_ms    the answer to an approval, sent to its HTTP door: until the tool's effect begins, outside.

import { type ScriptedRequest, startScriptedProvider } from "perdure/testing";
import { Driver } from "./agents/driver.ts";
import { follow, type StreamItem } from "./agents/follow.ts";
import { type BenchOptions, type Figures, median, progress, round } from "./bench.ts";
import { startPerdure } from "./perdure/start.ts";
import { post } from "./peers/talker.ts";

interface World {
  readonly url: string;
  readonly driver: Driver;
  /** Resolves when the provider has a request that carries `text`. */
  requested(text: string): Promise<number>;
}

type Sample = Readonly<Record<string, number>>;

export async function run(options: BenchOptions): Promise<Figures> {
  const tries = options.long ? 300 : 60;
  const wanted = new Map<string, (at: number) => void>();
  const provider = await startScriptedProvider({
    script: (request) => {
      const last = request.messages.at(-1)?.text ?? "";
      for (const [text, found] of wanted) if (last.includes(text)) found(performance.now());
      return answer(request);
    },
  });
  const driver = new Driver();
  const env = { BENCH_PROVIDER_URL: provider.openaiBaseUrl, BENCH_DRIVER_URL: await driver.listen() };
  const server = await startPerdure({ handlers: "steer-agent.ts", env });
  const requested = (text: string): Promise<number> =>
    new Promise((resolve) => {
      wanted.set(text, (at) => {
        wanted.delete(text);
        resolve(at);
      });
    });
  const world: World = { url: server.url, driver, requested };
  try {
    const figures: Figures = {};
    for (const measure of [steers, interrupts, approvals]) {
      await measure(world, "warm", Math.ceil(tries / 3));
      const samples = await measure(world, "s", tries);
      for (const key of Object.keys(samples[0] ?? {}))
        figures[`perdure.${key}_p50_ms`] = round(median(samples.map((sample) => sample[key] ?? Number.NaN)));
      progress(`${measure.name}: ${JSON.stringify(figures)}`);
    }
    return figures;
  } finally {
    driver.close();
    await server.stop();
    await provider.close();
  }
}

/** `worker` calls its tool for ever; `talker` speaks until it is interrupted; `payer` pays once and answers. */
function answer({
  modelId,
  messages,
}: ScriptedRequest): ReturnType<Parameters<typeof startScriptedProvider>[0]["script"]> {
  const last = messages.at(-1);
  const id = `call_${messages.length}`;
  switch (modelId) {
    case "worker":
      return last?.text.includes("Enough") === true ? "Done." : { toolCalls: [{ id, name: "work", input: {} }] };
    case "talker":
      return last?.text.includes("Enough") === true ? "Done." : { text: "word ".repeat(20_000), tokensPerSecond: 50 };
    default:
      return last?.role === "tool" ? "Paid." : { toolCalls: [{ id, name: "pay", input: {} }] };
  }
}

async function steers({ url, driver, requested }: World, session: string, tries: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const transcript = await follow(`${url}/perdure/streams/worker/${session}/transcript`);
  await post(`${url}/worker/${session}/send/send`, { text: "Begin." });
  await driver.called();
  for (let i = 0; i < tries; i += 1) {
    const text = `${session} steer ${i}!`;
    const asked = requested(text);
    const seen = transcript.until((item) => isMessage(item, text));
    const sentAt = performance.now();
    await post(`${url}/worker/${session}/send/send`, { text });
    const acceptedAt = performance.now();
    driver.release();
    const doneAt = Math.max(await asked, await seen);
    samples.push({ steer: doneAt - sentAt, accepted: acceptedAt - sentAt });
    await driver.called();
  }
  await post(`${url}/worker/${session}/send/send`, { text: "Enough." });
  driver.release();
  transcript.close();
  return samples;
}

async function interrupts({ url, requested }: World, session: string, tries: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const events = await follow(`${url}/perdure/streams/talker/${session}/events`);
  const speaks = (): Promise<number> =>
    events.until(({ type, part }) => type === "part" && part?.type === "text-delta");
  await post(`${url}/talker/${session}/send/send`, { text: "Begin." });
  for (let i = 0; i < tries; i += 1) {
    await speaks();
    const text = `${session} interrupt ${i}!`;
    const asked = requested(text);
    const sentAt = performance.now();
    await post(`${url}/talker/${session}/send/send`, { text, policy: "interrupt" });
    samples.push({ interrupt: (await asked) - sentAt });
    await events.until(({ type }) => type === "call-start");
  }
  await post(`${url}/talker/${session}/send/send`, { text: "Enough.", policy: "interrupt" });
  events.close();
  return samples;
}

async function approvals({ url, driver }: World, session: string, tries: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const events = await follow(`${url}/perdure/streams/payer/${session}/events`);
  for (let i = 0; i < tries; i += 1) {
    let approval = "";
    const asked = events.until((item) => {
      if (item.type === "approval-asked") approval = item.approval ?? "";
      return approval !== "";
    });
    const over = events.until(({ type }) => type === "turn-end");
    await post(`${url}/payer/${session}/send/send`, { text: "Pay." });
    await asked;
    const effect = driver.called().then(() => performance.now());
    await open(url, approval);
    const sentAt = performance.now();
    const answered = post(`${url}/perdure/approvals/${approval}`, { decision: "approved", by: "ada" });
    samples.push({ approve: (await effect) - sentAt });
    driver.release();
    await answered;
    await over;
  }
  events.close();
  return samples;
}

/** The event comes when the agent asks; the question is open a moment later. */
async function open(url: string, approval: string): Promise<void> {
  while (!(await fetch(`${url}/perdure/approvals/${approval}`)).ok);
}

function isMessage({ type, text }: StreamItem, wanted: string): boolean {
  return type === "message" && text === wanted;
}

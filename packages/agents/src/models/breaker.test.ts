import { describe, expect, it } from "vitest";
import { Breaker } from "./breaker.ts";
import { FakeClock } from "./testing/fake-clock.ts";

const OPTIONS = { windowMs: 10_000, callsMin: 4, failureRate: 0.5, openMs: 5_000 };
const FAILED = { failure: "server" } as const;

function world() {
  const clock = new FakeClock();
  const breaker = new Breaker(clock.now, OPTIONS);
  const call = (verdict: "success" | "none" | typeof FAILED) => breaker.pass()?.(verdict);
  const open = () => {
    for (let i = 0; i < OPTIONS.callsMin; i += 1) call(FAILED);
  };
  return { clock, breaker, call, open };
}

describe("the breaker", () => {
  it("opens at its failure rate, and not before enough was seen", () => {
    const { breaker, call } = world();
    for (const verdict of ["success", FAILED, FAILED] as const) call(verdict);
    expect(breaker.state).toBe("closed");
    call("none");
    expect(breaker.state).toBe("closed");
    call(FAILED);
    expect([breaker.state, breaker.refusesForMs, breaker.pass()]).toEqual(["open", 5_000, undefined]);
  });

  it("stays closed while fewer fail, and forgets what is older than its window", () => {
    const { clock, breaker, call } = world();
    for (const verdict of ["success", "success", "success", FAILED, FAILED] as const) call(verdict);
    expect(breaker.state).toBe("closed");
    clock.pass(10_000);
    for (const verdict of [FAILED, FAILED, FAILED] as const) call(verdict);
    expect(breaker.state).toBe("closed");
    call(FAILED);
    expect(breaker.state).toBe("open");
  });

  it("B1: lets one probe through when its time is over, and closes when that succeeds", () => {
    const { clock, breaker, open, call } = world();
    open();
    clock.pass(4_999);
    expect(breaker.pass()).toBeUndefined();
    clock.pass(1);
    expect(breaker.state).toBe("half-open");
    const probe = breaker.pass();
    expect([breaker.pass(), breaker.refusesForMs]).toEqual([undefined, 5_000]);
    probe?.("success");
    expect(breaker.state).toBe("closed");
    call(FAILED);
    expect(breaker.state).toBe("closed");
  });

  it("opens again when the probe fails", () => {
    const { clock, breaker, open, call } = world();
    open();
    clock.pass(5_000);
    call(FAILED);
    expect([breaker.state, breaker.refusesForMs]).toEqual(["open", 5_000]);
  });

  it("B2: does not hear calls that began before it opened", () => {
    const { clock, breaker, open, call } = world();
    const early = Array.from({ length: 2 * OPTIONS.callsMin }, () => breaker.pass());
    open();
    clock.pass(5_000);
    expect(breaker.state).toBe("half-open");
    early[0]?.("success");
    early[1]?.(FAILED);
    expect(breaker.state).toBe("half-open");
    call("success");
    for (const pass of early) pass?.(FAILED);
    expect(breaker.state).toBe("closed");
  });

  it("B3: a probe without a verdict gives its place to the next", () => {
    const { clock, breaker, open } = world();
    open();
    clock.pass(5_000);
    breaker.pass()?.("none");
    expect(breaker.pass()).toBeTypeOf("function");
  });

  it("tells who waits that it opened, each time, and says why", () => {
    const { clock, breaker, open, call } = world();
    let told = 0;
    const stop = breaker.onOpen(() => {
      told += 1;
    });
    open();
    clock.pass(5_000);
    call({ failure: "server" });
    stop();
    clock.pass(5_000);
    breaker.pass()?.({ failure: "server" });
    expect([told, breaker.lastFailure]).toEqual([2, "server"]);
  });

  it("reopens in time when the wall clock is set back", () => {
    const { clock, breaker, open } = world();
    open();
    clock.set(clock.now() - 3_600_000);
    expect(breaker.state).toBe("open");
    clock.pass(5_000);
    expect(breaker.state).toBe("half-open");
  });
});

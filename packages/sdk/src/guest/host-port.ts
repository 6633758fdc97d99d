// placeholder until the globals land
import type { AbortSignalLike } from "../ports.ts";
export interface GuestHost {
  log(level: "debug" | "info" | "warn" | "error", text: string): void;
  setTimer(callback: () => void, ms: number): number;
  clearTimer(id: number): void;
  fetch(request: {
    url: string;
    method: string;
    headers: [string, string][];
    body: Uint8Array | null;
    signal: AbortSignalLike | null;
  }): Promise<unknown>;
  randomUUID(): string;
  randomBytes(count: number): Uint8Array;
}
export let guestHost: GuestHost;
export function provideGuestHost(host: GuestHost): void {
  guestHost = host;
}

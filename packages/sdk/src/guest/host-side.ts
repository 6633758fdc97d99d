// What a host of isolates shares with the guest.

export { encode } from "../json.ts";
export { retryAfterMs } from "../attempt/backoff.ts";
export type { StepInfo } from "../context/options.ts";
export { HOST_FETCH } from "./guest-ports.ts";
export { REHEARSAL } from "./rehearsal.ts";

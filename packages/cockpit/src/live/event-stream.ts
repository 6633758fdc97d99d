// The one connection that everything live comes through: GET /events. Its promises are those of every stream that is
// followed (follower.ts).

import type { ApiEvent } from "@perdure/protocol";
import type { ApiClient } from "../api/client.ts";
import { Follower, type FollowPace } from "./follower.ts";
import type { SseMessage } from "./sse-parser.ts";

export interface EventStreamOptions extends FollowPace {
  readonly onEvents: (events: readonly ApiEvent[]) => void;
}

export class EventStream extends Follower {
  constructor(api: Pick<ApiClient, "open">, { onEvents, ...pace }: EventStreamOptions) {
    super(api, { ...pace, path: "/events", onMessages: (messages) => onEvents(messages.map(eventOf)) });
  }
}

function eventOf({ event, data }: SseMessage): ApiEvent {
  return { type: event, ...(JSON.parse(data) as object) } as ApiEvent;
}

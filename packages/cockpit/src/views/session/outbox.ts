// What was said on this page and is on its way
// ============================================
//   sending ─▶ accepted (the server has stored it; from then on it is the session's)
//       ├────▶ waiting (the server does not answer, and nobody knows whether it arrived) ─▶ sending, when it is back
//       └────▶ refused (it says why) ─▶ sending, if the viewer wants
//
// O1. Each message has a key of its own: sent again after a failure, it is the same message.

import { useRef, useState } from "react";
import type { AgentMessagePolicy, AgentMessageRequest, RunId, SendAnswer } from "@perdure/protocol";
import { NetworkFailure, path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useReturn } from "../../live/use-live.ts";
import { sayFailure } from "../../ui/toasts.tsx";
import type { SessionName } from "./use-session.ts";

interface OutMessage {
  readonly key: string;
  readonly text: string;
  readonly policy: AgentMessagePolicy;
  readonly at: string;
  readonly state: "sending" | "waiting" | "refused" | "accepted";
  readonly runId: RunId | null;
}

export interface Outbox {
  readonly messages: readonly OutMessage[];
  readonly send: (text: string, policy: AgentMessagePolicy | undefined) => void;
  readonly again: (key: string) => void;
  readonly discard: (key: string) => void;
}

export function useOutbox({ agent, session }: SessionName): Outbox {
  const api = useApi();
  const [messages, setMessages] = useState<readonly OutMessage[]>([]);
  const said = useRef(new Map<string, AgentMessageRequest>());
  const change = (key: string, to: Partial<OutMessage>): void =>
    setMessages((all) => all.map((one) => (one.key === key ? { ...one, ...to } : one)));
  const post = async (key: string): Promise<void> => {
    try {
      const body = said.current.get(key);
      const answer = await api.post<SendAnswer>(path`/agents/${agent}/${session}/messages`, body, {
        "idempotency-key": key,
      });
      change(key, { state: "accepted", runId: answer.runId });
    } catch (error) {
      const isAway = error instanceof NetworkFailure;
      change(key, { state: isAway ? "waiting" : "refused" });
      if (!isAway) sayFailure(error);
    }
  };
  const again = (key: string): void => {
    change(key, { state: "sending" });
    void post(key);
  };
  useReturn(() => {
    for (const { key, state } of messages) if (state === "waiting") again(key);
  });
  return {
    messages,
    again,
    send: (text, policy) => {
      const key = `cockpit/${randomKey()}`;
      said.current.set(key, policy === undefined ? { text } : { text, policy });
      const at = new Date().toISOString();
      setMessages((all) => [...all, { key, text, policy: policy ?? "steer", at, state: "sending", runId: null }]);
      void post(key);
    },
    discard: (key) => setMessages((all) => all.filter((one) => one.key !== key)),
  };
}

/** `crypto.randomUUID` is only there where the page is local or encrypted. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// perdure/client: a typed client for other processes.

export * from "@perdure/sdk/client";
/** The messages of `useChat` with an agent. */
export type { AgentUIData, AgentUIMessage, AgentUIMetadata } from "@perdure/agents";

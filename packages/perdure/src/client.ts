// perdure/client: a typed client for other processes.

export * from "@perdure/sdk/client";

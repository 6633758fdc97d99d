export type { ServedRuntime, ValidateInput } from "./context.ts";
export { createServer, type AddressOptions, type Server, type ServerAddresses, type ServerOptions } from "./server.ts";

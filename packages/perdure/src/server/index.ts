export { createAdmin } from "./admin.ts";
export { BODY_BYTES_MAX, type AdminOptions, type HttpOptions, type IngressOptions, type ServedRuntime, type ValidateInput } from "./context.ts";
export { createIngress } from "./ingress.ts";
export { listen, type ListenAddress, type ListenOptions } from "./listen.ts";
export { ADMIN_PORT, INGRESS_PORT, createServer, type AddressOptions, type Server, type ServerAddresses, type ServerOptions } from "./server.ts";

// What runs inside an isolate, and what its host has to know of it.

export { hostFunction, install } from "./guest/install.ts";

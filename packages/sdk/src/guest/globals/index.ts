// The globals of an isolate that its engine does not bring. Evaluated before anything of the user's
// =================================================================================================
// Not there, so that libraries which look for it find out: `process`, `Buffer`, `require`, `Intl`, `WebSocket`, `Worker`,
// `MessageChannel`. What has a locale (`toLocaleString`, `localeCompare`) is the engine's, which has one locale.

import { AbortController, AbortSignal } from "./abort.ts";
import { console } from "./console.ts";
import { crypto } from "./crypto.ts";
import { defineGlobals } from "./define.ts";
import { CustomEvent, Event, EventTarget } from "./events.ts";
import { Blob, File } from "./fetch/blob.ts";
import { fetch } from "./fetch/fetch.ts";
import { FormData } from "./fetch/form-data.ts";
import { Headers } from "./fetch/headers.ts";
import { Request } from "./fetch/request.ts";
import { Response } from "./fetch/response.ts";
import * as streams from "./streams.ts";
import { structuredClone } from "./structured-clone.ts";
import { TextDecoder, TextEncoder } from "./text-encoding.ts";
import { clearTimeout, setImmediate, setInterval, setTimeout } from "./timers.ts";
import { URLSearchParams } from "./url/search-params.ts";
import { URL } from "./url/url.ts";

defineGlobals({
  AbortController,
  AbortSignal,
  Blob,
  clearImmediate: clearTimeout,
  clearInterval: clearTimeout,
  clearTimeout,
  console,
  crypto,
  CustomEvent,
  Event,
  EventTarget,
  fetch,
  File,
  FormData,
  Headers,
  navigator: Object.freeze({ userAgent: "perdure", language: "en-US" }),
  reportError: (error: unknown) => (console["error"] as (error: unknown) => void)(error),
  Request,
  Response,
  self: globalThis,
  setImmediate,
  setInterval,
  setTimeout,
  structuredClone,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  ...streams,
});

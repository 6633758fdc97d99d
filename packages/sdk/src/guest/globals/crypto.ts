// crypto: randomness by the host, and digests. The rest of `subtle` is refused by name.

import { guestHost } from "../host-port.ts";
import { tag } from "./define.ts";
import { digest } from "./digest.ts";
import { platformError } from "./platform-error.ts";
import { bytesOf } from "./text-encoding.ts";

const RANDOM_BYTES_MAX = 65_536;
const ABSENT = [
  ...[
    "decrypt",
    "deriveBits",
    "deriveKey",
    "encrypt",
    "exportKey",
    "generateKey",
    "importKey",
    "sign",
    "unwrapKey",
    "verify",
  ],
  "wrapKey",
];

class SubtleCrypto {
  async digest(
    algorithm: string | { readonly name: string },
    data: ArrayBuffer | ArrayBufferView,
  ): Promise<ArrayBuffer> {
    const name = (typeof algorithm === "string" ? algorithm : algorithm.name).toUpperCase();
    const made = digest(name, bytesOf(data));
    if (made === undefined) throw absent(`crypto.subtle.digest("${name}"), which is there for SHA-1 and SHA-256,`);
    return made.buffer as ArrayBuffer;
  }
}

for (const name of ABSENT)
  Object.defineProperty(SubtleCrypto.prototype, name, {
    value: () => Promise.reject(absent(`crypto.subtle.${name}`)),
    writable: true,
    configurable: true,
  });

class Crypto {
  readonly subtle: SubtleCrypto = new SubtleCrypto();

  randomUUID(): string {
    return guestHost.randomUUID();
  }

  getRandomValues<T extends ArrayBufferView>(array: T): T {
    if (!ArrayBuffer.isView(array) || array instanceof DataView || /Float/.test(array.constructor.name))
      throw platformError("getRandomValues takes an array of integers", "TypeMismatchError");
    if (array.byteLength > RANDOM_BYTES_MAX)
      throw platformError(
        `getRandomValues gives at most ${RANDOM_BYTES_MAX} bytes, not ${array.byteLength}`,
        "QuotaExceededError",
      );
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(guestHost.randomBytes(array.byteLength));
    return array;
  }
}

const absent = (what: string): Error =>
  platformError(
    `${what} is not there inside an isolate: call a function of a "use host" module, which has all of node:crypto`,
    "NotSupportedError",
  );

export const crypto: Crypto = new Crypto();

tag(Crypto, "Crypto");
tag(SubtleCrypto, "SubtleCrypto");

// Finds the bytes of an image and of its base, and looks into it.

import type { Store } from "@perdure/engine";
import { ImageDamagedError, type ImageInfo, type ImageInspection, ImageMismatchError } from "@perdure/protocol";
import { inspectImage } from "./inspect-image.ts";

/** @throws ImageDamagedError, ImageMismatchError */
export async function inspectStored(
  { reader, artifacts }: Pick<Store, "reader" | "artifacts">,
  { hash, base: baseHash }: ImageInfo,
): Promise<ImageInspection> {
  const [image, base] = await Promise.all([reader.imageBytes(hash), artifacts.get(baseHash)]);
  if (image === null) throw new ImageDamagedError(`the bytes of image ${hash.slice(0, 12)} are missing`);
  if (base === null)
    throw new ImageMismatchError(
      `the base ${baseHash.slice(0, 12)}, which the image is a difference to, is not in the store`,
    );
  return inspectImage(image, base.bytes);
}

// Files of a prompt that are given by their address
// =================================================
// Some models fetch them, others want the bytes. The AI SDK would download in the handler, again on every replay; here it
// happens within the step, for the model that is about to be asked.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { createDownload } from "ai";

type UrlFile = LanguageModelV4FilePart & { readonly data: { readonly type: "url"; readonly url: URL } };
type Bytes = ReadonlyMap<string, { readonly data: Uint8Array; readonly mediaType: string | undefined }>;

/** Models that are given the bytes of what they cannot fetch. Those of a prompt without addresses are left as they are. */
export function withAttachments(
  models: readonly LanguageModelV4[],
  prompt: LanguageModelV4Prompt,
): readonly LanguageModelV4[] {
  return urlFilesOf(prompt).length === 0 ? models : models.map(fetching);
}

/** The addresses of files are texts where a request came as JSON. */
export function withAddresses<O extends Pick<LanguageModelV4CallOptions, "prompt">>(options: O): O {
  if (urlFilesOf(options.prompt).length === 0) return options;
  const read = <F extends AnyFile>(file: F): F =>
    isUrlFile(file) ? { ...file, data: { ...file.data, url: new URL(file.data.url) } } : file;
  return { ...options, prompt: options.prompt.map((message) => withFiles(message, read)) };
}

function fetching(model: LanguageModelV4): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: async (options) => model.doGenerate(await inlined(model, options)),
    doStream: async (options) => model.doStream(await inlined(model, options)),
  };
}

const download = createDownload();

async function inlined(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4CallOptions> {
  const supported = await model.supportedUrls;
  const { abortSignal } = options;
  const wanted = new Map(
    urlFilesOf(options.prompt)
      .filter((file) => !isSupported(file, supported))
      .map(({ data: { url } }) => [url.href, url]),
  );
  const fetched = await Promise.all(
    [...wanted].map(async ([href, url]) => {
      return [href, await download({ url, ...(abortSignal === undefined ? {} : { abortSignal }) })] as const;
    }),
  );
  const bytes: Bytes = new Map(fetched);
  return { ...options, prompt: options.prompt.map((message) => withBytes(message, bytes)) };
}

function urlFilesOf(prompt: LanguageModelV4Prompt): UrlFile[] {
  const files: UrlFile[] = [];
  for (const message of prompt) withFiles(message, (file) => (isUrlFile(file) && files.push(file), file));
  return files;
}

function withBytes(message: LanguageModelV4Message, bytes: Bytes): LanguageModelV4Message {
  return withFiles(message, (file) => {
    const found = isUrlFile(file) ? bytes.get(file.data.url.href) : undefined;
    if (found === undefined) return file;
    const isWhole = file.mediaType.includes("/") && !file.mediaType.endsWith("/*");
    const mediaType = isWhole ? file.mediaType : (found.mediaType ?? file.mediaType);
    return { ...file, mediaType, data: { type: "data", data: found.data } };
  });
}

/** The message with each of its files as `change` makes it: what users give, and what tools answered with. */
function withFiles<M extends LanguageModelV4Message>(message: M, change: <F extends AnyFile>(file: F) => F): M {
  if (message.role === "system") return message;
  const content = message.content.map((part) => {
    if (part.type === "file") return change(part);
    if (part.type !== "tool-result" || part.output.type !== "content") return part;
    const value = part.output.value.map((item) => (item.type === "file" ? change(item) : item));
    return { ...part, output: { ...part.output, value } };
  });
  return { ...message, content };
}

type AnyFile = Pick<LanguageModelV4FilePart, "type" | "mediaType" | "data">;

function isUrlFile(file: AnyFile): file is UrlFile {
  return file.data.type === "url";
}

/** As the AI SDK decides it: by the media type, with or without a subtype, and the patterns that the model gives for it. */
function isSupported({ mediaType, data }: UrlFile, supported: Readonly<Record<string, RegExp[]>>): boolean {
  const type = mediaType.toLowerCase();
  return Object.entries(supported).some(([pattern, urls]) => {
    const prefix = pattern.toLowerCase().replace(/^\*(?:\/\*)?$|\*$/, "");
    const fits = prefix.endsWith("/") ? `${type}/`.startsWith(prefix) : prefix === "" || prefix === type;
    return fits && urls.some((url) => new RegExp(url.source, url.flags.replace(/[gy]/g, "")).test(data.url.href));
  });
}

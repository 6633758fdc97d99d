// What stream and transcript say alike: contents of models as the AI SDK's clients are told of them.

import type { JSONValue, LanguageModelV4File, LanguageModelV4Source, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** The same in chunks and in parts. */
export type SourceOrFile =
  | {
      readonly type: "source-url";
      readonly sourceId: string;
      readonly url: string;
      readonly title?: string;
      readonly providerMetadata?: SharedV4ProviderMetadata;
    }
  | {
      readonly type: "source-document";
      readonly sourceId: string;
      readonly mediaType: string;
      readonly title: string;
      readonly filename?: string;
      readonly providerMetadata?: SharedV4ProviderMetadata;
    }
  | { readonly type: "file"; readonly url: string; readonly mediaType: string };

export function sourceOrFile(part: LanguageModelV4Source | LanguageModelV4File): SourceOrFile | undefined {
  const { providerMetadata } = part;
  const metadata = providerMetadata === undefined ? {} : { providerMetadata };
  if (part.type === "file") {
    const url = urlOf(part);
    return url === undefined ? undefined : { type: "file", url, mediaType: part.mediaType, ...metadata };
  }
  const { id: sourceId, title } = part;
  if (part.sourceType === "url")
    return { type: "source-url", sourceId, url: part.url, ...(title === undefined ? {} : { title }), ...metadata };
  const { mediaType, filename } = part;
  return {
    type: "source-document",
    sourceId,
    mediaType,
    title: part.title,
    ...(filename === undefined ? {} : { filename }),
    ...metadata,
  };
}

/** Bytes as such do not come through JSON: a provider that gives them leaves nothing to show. */
function urlOf({ mediaType, data }: LanguageModelV4File): string | undefined {
  if (data.type === "url") return String(data.url);
  return typeof data.data === "string" ? `data:${mediaType};base64,${data.data}` : undefined;
}

export type ReadInput =
  | { readonly ok: true; readonly input: JSONValue }
  | { readonly ok: false; readonly text: string };

/** A tool call's input, as the model wrote it. */
export function readInput(text: string): ReadInput {
  try {
    return { ok: true, input: text.trim() === "" ? {} : (JSON.parse(text) as JSONValue) };
  } catch {
    return { ok: false, text };
  }
}

export function asText(value: JSONValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const NOT_CALLED = "It was cut short before it was called.";

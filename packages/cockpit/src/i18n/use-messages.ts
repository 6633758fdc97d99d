import { useSyncExternalStore } from "react";
import { language, type Language, messagesIn } from "./languages.ts";
import { formatFor, type Format } from "./format.ts";
import type { Messages } from "./messages.ts";

export function useLanguage(): Language {
  return useSyncExternalStore(language.subscribe, language.get);
}

/** All texts, in the viewer's language. */
export function useMessages(): Messages {
  return messagesIn(useLanguage());
}

/** Numbers, durations and times as the viewer writes them, in the viewer's zone. */
export function useFormat(): Format {
  return formatFor(useLanguage());
}

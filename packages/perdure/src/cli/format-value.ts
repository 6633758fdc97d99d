// A value as JSON: on many lines for a person, on one for a program.

import type { PayloadView } from "@perdure/protocol";

export function formatValue(value: PayloadView, live: boolean): string {
  return live ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

import type { Messages } from "../i18n/messages.ts";
import type { Fault } from "./check-value.ts";

export function faultText(fault: Fault, { form: t }: Messages): string {
  const says = t.faults;
  switch (fault.kind) {
    case "missing":
    case "choice":
    case "variant":
    case "unknown":
      return says[fault.kind];
    case "type":
      return says.type(t.types[fault.expected]);
    case "pattern":
      return says.pattern(fault.pattern);
    default:
      return says[fault.kind](String(fault.limit));
  }
}

// Times: an age that grows while one looks, with the exact time behind it.

import type { ReactNode } from "react";
import type { InstantText } from "@perdure/protocol";
import { useFormat } from "../i18n/use-messages.ts";
import { useNow } from "../live/clock.ts";

export function Ago({ at }: { readonly at: InstantText }): ReactNode {
  const format = useFormat();
  const now = useNow();
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={format.dateTime(instant)}>
      {format.relative(instant, now)}
    </time>
  );
}

/** How long something took, or has taken until now. */
export function Took({ from, to }: { readonly from: InstantText; readonly to: InstantText | null }): ReactNode {
  return to === null ? <Ticking from={from} /> : <Fixed ms={Date.parse(to) - Date.parse(from)} />;
}

function Ticking({ from }: { readonly from: InstantText }): ReactNode {
  return <Fixed ms={useNow() - Date.parse(from)} />;
}

function Fixed({ ms }: { readonly ms: number }): ReactNode {
  return useFormat().duration(Math.max(0, ms));
}

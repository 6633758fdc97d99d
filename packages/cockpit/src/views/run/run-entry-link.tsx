import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunId } from "@perdure/protocol";

interface RunEntryLinkProps {
  readonly run: RunId;
  readonly entry: number;
  readonly children: ReactNode;
}

/** To an entry of the run that is shown: what else the address says stays. */
export function RunEntryLink({ run, entry, children }: RunEntryLinkProps): ReactNode {
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      search={({ scale }) => (scale === "compact" ? { scale, entry } : { entry })}
      replace
    >
      {children}
    </Link>
  );
}

import type { ReactNode } from "react";
import type { ServiceManifest } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";

/** How the runs of a service are remembered. */
export function MemoryTag({ service }: { readonly service: ServiceManifest }): ReactNode {
  const t = useMessages().branches.memory;
  const memory = service.memory ?? "journal";
  return (
    <span className="tag" title={memory === "snapshot" ? t.snapshotHelp : t.journalHelp}>
      {t.title}: {t[memory]}
    </span>
  );
}

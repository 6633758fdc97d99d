import type { ReactNode } from "react";
import type { ServiceManifest } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";

/** How the runs of a service are remembered. */
export function MemoryTag({ service }: { readonly service: ServiceManifest }): ReactNode {
  const memory: "journal" | "snapshot" = service.memory ?? "journal";
  const t = useMessages().branches.memory;
  return (
    <span className="tag" title={memory === "snapshot" ? t.snapshotHelp : t.journalHelp}>
      {t.title}: {t[memory]}
    </span>
  );
}

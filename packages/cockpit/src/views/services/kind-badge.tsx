import type { ReactNode } from "react";
import type { ServiceManifest } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";

/** Service, object, workflow, or agent: in words, since colours are for statuses. */
export function KindBadge({ service: { kind, agent } }: { readonly service: ServiceManifest }): ReactNode {
  const t = useMessages().services;
  return <span className="tag">{t.kinds[agent === true ? "agent" : kind]}</span>;
}

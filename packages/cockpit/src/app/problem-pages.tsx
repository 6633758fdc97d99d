import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import type { ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";
import { visibleText } from "../ui/visible-text.ts";
import { ChunkLost } from "./chunk-lost.tsx";
import { ChunkLostError } from "./chunks.ts";

export function NotFound(): ReactNode {
  const t = useMessages();
  return (
    <div className="page">
      <Empty isPage icon={<Compass aria-hidden />} title={t.common.errors.notFound}>
        <p>{t.common.errors.notFoundHelp}</p>
        <Link className="button" to="/">
          {t.common.errors.toOverview}
        </Link>
      </Empty>
    </div>
  );
}

export function Crashed({ error, reset }: { readonly error: unknown; readonly reset: () => void }): ReactNode {
  const t = useMessages();
  if (error instanceof ChunkLostError) return <ChunkLost />;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return (
    <div className="page" role="alert">
      <Empty isPage title={t.common.errors.crashed}>
        <p>{t.common.errors.crashedHelp}</p>
        <pre>{visibleText(text)}</pre>
        <Button onClick={reset}>{t.common.retry}</Button>
      </Empty>
    </div>
  );
}

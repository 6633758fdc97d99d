// What stands where a part of the page is missing: it waits until the server answers, and loads the page again.

import { CloudOff } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";

const ASK_EVERY_MS = 1_000;
/** Loaded again and still missing: then it would be so for ever. */
const AGAIN_AFTER_MS = 15_000;
const STORED_AS = "perdure.reloaded";

export function ChunkLost(): ReactNode {
  const t = useMessages().common;
  const [isHopeless] = useState(() => Date.now() - Number(sessionStorage.getItem(STORED_AS) ?? 0) < AGAIN_AFTER_MS);
  useEffect(() => {
    if (isHopeless) return undefined;
    const ask = async (): Promise<void> => {
      const answer = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
      if (answer?.ok === true) reload();
    };
    const timer = setInterval(() => void ask(), ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isHopeless]);
  return (
    <div className="page" role="alert">
      <Empty isPage icon={<CloudOff aria-hidden />} title={t.errors.network}>
        <p>{isHopeless ? t.errors.chunkLostHelp : t.errors.networkHelp}</p>
        <Button onClick={reload}>{t.retry}</Button>
      </Empty>
    </div>
  );
}

function reload(): void {
  sessionStorage.setItem(STORED_AS, String(Date.now()));
  location.reload();
}

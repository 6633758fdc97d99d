// What a view shows when it has nothing to show: it loads, it is empty, it failed.

import { CircleAlert, CloudOff } from "lucide-react";
import type { ReactNode } from "react";
import { ApiFailure, NetworkFailure } from "../api/client.ts";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "./button.tsx";
import { visibleText } from "./visible-text.ts";

export interface EmptyProps {
  /** It stands for the whole page: its title is the page's. */
  readonly isPage?: boolean;
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
}

export function Empty({ isPage = false, icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className="state">
      {icon}
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

export function Failed({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }): ReactNode {
  const t = useMessages();
  const isNetwork = error instanceof NetworkFailure;
  const code = error instanceof ApiFailure ? error.code : null;
  return (
    <div className="state" role="alert">
      {isNetwork ? <CloudOff aria-hidden /> : <CircleAlert aria-hidden />}
      <h2>{isNetwork ? t.common.errors.network : visibleText(error.message)}</h2>
      {isNetwork ? <p>{t.common.errors.networkHelp}</p> : null}
      {code === null ? null : <p className="mono dim">{code}</p>}
      {onRetry === undefined ? null : <Button onClick={onRetry}>{t.common.retry}</Button>}
    </div>
  );
}

export function Loading({ rows = 6 }: { readonly rows?: number }): ReactNode {
  const t = useMessages();
  return (
    <div className="body" role="status" aria-busy="true" aria-label={t.common.loading}>
      {Array.from({ length: rows }, (_, at) => (
        <div
          key={at}
          className="skeleton"
          style={{ height: 16, margin: "8px 0", width: `${92 - ((at * 17) % 40)}%` }}
        />
      ))}
    </div>
  );
}

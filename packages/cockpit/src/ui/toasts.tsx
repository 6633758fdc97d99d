// Short notes on what became of an action.

import { X } from "lucide-react";
import { useSyncExternalStore, type ReactNode } from "react";
import { createSignal } from "../api/signal.ts";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "./button.tsx";
import { visibleText } from "./visible-text.ts";

interface Toast {
  readonly id: number;
  readonly look: "good" | "bad";
  readonly text: string;
}

const toasts = createSignal<readonly Toast[]>([]);
const SHOWN_MS = { good: 4_000, bad: 12_000 } as const;
let lastId = 0;

export function say(text: string, look: Toast["look"] = "good"): void {
  lastId += 1;
  const toast: Toast = { id: lastId, look, text };
  toasts.set([...toasts.get(), toast].slice(-4));
  setTimeout(() => dismiss(toast.id), SHOWN_MS[look]);
}

/** Says why something failed, in the server's words. */
export function sayFailure(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), "bad");
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function Toasts(): ReactNode {
  const t = useMessages();
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, look, text }) => (
        <div key={id} className="toast" data-look={look}>
          <div>{visibleText(text)}</div>
          <Button look="ghost" size="s" icon aria-label={t.common.close} onClick={() => dismiss(id)}>
            <X aria-hidden />
          </Button>
        </div>
      ))}
    </div>
  );
}

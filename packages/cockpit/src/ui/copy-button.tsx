import { Check, Copy } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "./button.tsx";
import { visibleText } from "./visible-text.ts";

const SHOWN_MS = 1_500;

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }): ReactNode {
  const t = useMessages();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  const says = isCopied ? t.common.copied : (label ?? t.common.copy);
  return (
    <Button look="ghost" size="s" icon aria-label={says} title={says} onClick={copy}>
      {isCopied ? <Check aria-hidden /> : <Copy aria-hidden />}
    </Button>
  );
}

/** A command as it is typed, to be copied. Names in it may be anybody's: what hides in them is shown, and copied as it is. */
export function CommandLine({ command }: { readonly command: string }): ReactNode {
  const shown = visibleText(command);
  return (
    <div className="command">
      <code title={shown}>{shown}</code>
      <CopyButton text={command} />
    </div>
  );
}

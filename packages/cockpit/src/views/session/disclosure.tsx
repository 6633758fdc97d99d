import { ChevronRight } from "lucide-react";
import { useId, type ReactNode } from "react";
import { useOpenPart } from "./open-parts.ts";

export interface DisclosureProps {
  /** Names it among all of the conversation. */
  readonly id: string;
  readonly summary: ReactNode;
  readonly className?: string;
  /** Open until somebody closes it. */
  readonly startsOpen?: boolean;
  readonly children: ReactNode;
}

/** One line that opens: what is in it is made only then. */
export function Disclosure({ id, summary, className = "", startsOpen = false, children }: DisclosureProps): ReactNode {
  const [isToggled, toggle] = useOpenPart(id);
  const isOpen = isToggled !== startsOpen;
  const content = useId();
  return (
    <div className={`disclosure ${className}`} data-open={isOpen || undefined}>
      <button type="button" aria-expanded={isOpen} aria-controls={content} onClick={toggle}>
        <ChevronRight aria-hidden />
        {summary}
      </button>
      <div id={content} className="disclosed" hidden={!isOpen}>
        {isOpen ? children : null}
      </div>
    </div>
  );
}

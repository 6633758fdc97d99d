// A dialog: what it is about, its content, its actions. The focus goes in, stays in, and returns.

import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode, RefObject } from "react";

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly wide?: boolean;
  /** What has the focus at first; otherwise the first that can have it. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}

export function Dialog({ isOpen, onClose, title, wide = false, initialFocus, children }: DialogProps): ReactNode {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => (open ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          className="dialog"
          data-wide={wide || undefined}
          {...(initialFocus === undefined ? {} : { initialFocus })}
        >
          <Base.Title render={<h2 />}>{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

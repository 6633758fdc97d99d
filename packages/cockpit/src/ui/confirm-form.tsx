// What is asked before something is done: what it means, fields, the command line that does the same, and the two ways out.

import { useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from "react";
import { useMessages } from "../i18n/use-messages.ts";
import { Button } from "./button.tsx";
import { CommandLine } from "./copy-button.tsx";
import { Dialog } from "./dialog.tsx";
import { sayFailure } from "./toasts.tsx";

export interface ConfirmFormProps {
  readonly title: string;
  readonly label: string;
  readonly icon?: ReactNode;
  readonly isDanger?: boolean;
  readonly wide?: boolean;
  readonly command?: string;
  /** False: the form says what is wrong with it, and stays. Failures are said, and it stays, too. */
  readonly onConfirm: () => Promise<void> | false;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function ConfirmForm(props: ConfirmFormProps): ReactNode {
  const { title, label, icon, isDanger = false, wide = false, command, onConfirm, onClose, children } = props;
  const t = useMessages();
  const [isBusy, setBusy] = useState(false);
  // What is dangerous is not done by the Enter that opened it, or that was meant for something else.
  const first = useRef<HTMLButtonElement>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const acting = onConfirm();
    if (acting === false) return;
    setBusy(true);
    try {
      await acting;
      onClose();
    } catch (error) {
      sayFailure(error);
      setBusy(false);
    }
  };
  return (
    <Dialog isOpen onClose={onClose} title={title} wide={wide} initialFocus={first}>
      <form className="confirm-form" onSubmit={(event) => void submit(event)} onKeyDown={submitByChord}>
        {children}
        {command === undefined ? null : (
          <div className="field">
            <span className="label dim">{t.run.asCommand}</span>
            <CommandLine command={command} />
          </div>
        )}
        <div className="actions">
          <Button {...(isDanger ? { ref: first } : {})} onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button
            {...(isDanger ? {} : { ref: first })}
            type="submit"
            look={isDanger ? "danger" : "primary"}
            disabled={isBusy}
          >
            {icon}
            {label}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Ctrl-Enter, also from within a text of several lines. */
function submitByChord(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
}

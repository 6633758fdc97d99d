import { Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { StateView } from "@perdure/protocol";
import { useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";
import { clearAll, isEditable, isSame, stateEdit } from "./edit-plan.ts";
import { Refusal, useSave } from "./use-save.tsx";

export interface RemoveDialogProps {
  readonly view: StateView;
  readonly refresh: () => Promise<StateView | undefined>;
  /** Null: all that the key has. */
  readonly name: string | null;
  readonly onClose: () => void;
}

/** Asked once more; what is removed is what was seen when it was asked. */
export function RemoveDialog({ view, refresh, name, onClose }: RemoveDialogProps): ReactNode {
  const t = useMessages();
  const [seen, setSeen] = useState(view.state);
  const save = useSave(view, refresh);
  const names = name === null ? Object.keys(seen) : [name];
  const hasChanged = names.some((one) => !isSame(seen[one], view.state[one]));
  const words = [view.service, view.key, ...(name === null ? [] : [name])].map(shellWord);
  const remove = async (): Promise<void> => {
    const edit =
      name === null
        ? clearAll(seen, save.force)
        : stateEdit({ name, base: seen[name], next: undefined, force: save.force });
    // What is not JSON cannot be said to be expected.
    const isComparable = names.every((one) => isEditable(seen[one] ?? null));
    const { expect: _, ...blind } = edit;
    if (!(await save.send(isComparable ? edit : blind))) return;
    say(t.state.removed_(names.length));
    onClose();
  };
  const title = name === null ? t.state.confirmRemoveAll : t.state.confirmRemove(visibleLine(name));
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <p>{t.state.removeHelp}</p>
      {name !== null ? null : (
        <ul className="removed-names">
          {names.map((one) => (
            <li key={one} className="mono">
              {visibleLine(one)}
            </li>
          ))}
        </ul>
      )}
      <div className="field">
        <span className="label dim">{t.run.asCommand}</span>
        <CommandLine command={`npx perdure state clear ${words.join(" ")}`} />
      </div>
      {hasChanged ? (
        <div className="notice" data-tone="orange" role="alert">
          <p>{t.state.changedMeanwhile}</p>
          <Button size="s" onClick={() => setSeen(view.state)}>
            {t.state.removeAnyway}
          </Button>
        </div>
      ) : null}
      <Refusal save={save} />
      <div className="actions">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button look="danger" disabled={save.isBusy || hasChanged} onClick={() => void remove()}>
          <Trash2 aria-hidden />
          {t.state.remove}
        </Button>
      </div>
    </Dialog>
  );
}

// An edit on its way: what refuses it, and whether it is made against a run that has the key's turn.

import { useState, type ReactNode } from "react";
import type { StateEdit, StateView } from "@perdure/protocol";
import { ApiFailure, path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useMessages } from "../../i18n/use-messages.ts";
import { visibleText } from "../../ui/visible-text.ts";
import { isSame } from "./edit-plan.ts";

export interface Save {
  readonly isBusy: boolean;
  readonly error: Error | null;
  /** A run has the key's turn: only by force. */
  readonly isHeld: boolean;
  readonly force: boolean;
  readonly setForce: (force: boolean) => void;
  /** Whether it was made. */
  readonly send: (edit: StateEdit) => Promise<boolean>;
}

export function useSave({ service, key }: StateView, refresh: () => Promise<StateView | undefined>): Save {
  const api = useApi();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [isHeld, setHeld] = useState(false);
  const [force, setForce] = useState(false);
  const send = async (edit: StateEdit): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await api.patch(path`/state/${service}/${key}`, edit);
      await refresh();
      return true;
    } catch (failure) {
      const now = failure instanceof ApiFailure && failure.status === 409 ? await refresh() : undefined;
      // Refused although everything is as expected: then it is the run that has the turn.
      setHeld(now !== undefined && isAsExpected(edit, now));
      setError(failure as Error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, isHeld, force, setForce, send };
}

function isAsExpected({ expect = {} }: StateEdit, { state }: StateView): boolean {
  const { values = {}, absent = [] } = expect;
  return (
    Object.entries(values).every(([name, value]) => isSame(state[name], value)) &&
    absent.every((name) => state[name] === undefined)
  );
}

export function Refusal({ save }: { readonly save: Save }): ReactNode {
  const t = useMessages().state;
  if (save.error === null) return null;
  return (
    <div className="notice" data-tone={save.isHeld ? "orange" : "red"} role="alert">
      <p>{visibleText(save.error.message)}</p>
      {save.isHeld ? (
        <label className="check">
          <input type="checkbox" checked={save.force} onChange={(event) => save.setForce(event.target.checked)} />
          {t.force}
        </label>
      ) : null}
    </div>
  );
}

// A moment, where the entry that it was taken at is looked at: when, how large, and its name, which keeps it.

import { Diamond, Pencil, X } from "lucide-react";
import { useId, useState, type FormEvent, type ReactNode } from "react";
import type { ActionAnswer, MomentView, RunId } from "@perdure/protocol";
import { path } from "../../api/client.ts";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { useHotkeys } from "../../keys/use-hotkeys.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { shellWord } from "../../ui/shell-word.ts";
import { say, sayFailure } from "../../ui/toasts.tsx";
import { visibleLine } from "../../ui/visible-text.ts";

export function MomentPart({ run, moment }: { readonly run: RunId; readonly moment: MomentView }): ReactNode {
  const t = useMessages().branches.moments;
  const format = useFormat();
  const [isNaming, setNaming] = useState(false);
  const { entry, at, size, name } = moment;
  const rename = useRename(run, entry);
  const says = name === null ? t.nameIt : t.rename;
  useHotkeys([{ keys: "M", label: says, run: () => setNaming(true) }]);
  return (
    <section className="moment" aria-label={t.one(format.number(entry))} data-named={name !== null || undefined}>
      <header>
        <Diamond aria-hidden />
        <h3 className="cut">{name === null ? t.one(format.number(entry)) : visibleLine(name)}</h3>
        {isNaming ? null : (
          <>
            <Button look="ghost" size="s" onClick={() => setNaming(true)}>
              <Pencil aria-hidden />
              {says}
            </Button>
            {name === null ? null : (
              <Button
                look="ghost"
                size="s"
                icon
                aria-label={t.unname}
                title={t.unname}
                onClick={() => void rename(null)}
              >
                <X aria-hidden />
              </Button>
            )}
          </>
        )}
      </header>
      <p className="dim">
        {name === null ? "" : `${t.entry} ${format.number(entry)} · `}
        {format.clock(Date.parse(at))} · {format.bytes(size)} · {name === null ? t.unnamed : t.named}
      </p>
      <p className="dim">{t.help}</p>
      {isNaming ? <NameForm run={run} moment={moment} onName={rename} onClose={() => setNaming(false)} /> : null}
    </section>
  );
}

function useRename(run: RunId, entry: number): (name: string | null) => Promise<boolean> {
  const t = useMessages().branches.moments;
  const api = useApi();
  return async (name) => {
    try {
      await api.patch<ActionAnswer>(path`/runs/${run}/moments/${entry}`, { name });
      say(name === null ? t.removed : t.saved);
      return true;
    } catch (error) {
      sayFailure(error);
      return false;
    }
  };
}

interface NameFormProps {
  readonly run: RunId;
  readonly moment: MomentView;
  readonly onName: (name: string) => Promise<boolean>;
  readonly onClose: () => void;
}

function NameForm({ run, moment, onName, onClose }: NameFormProps): ReactNode {
  const t = useMessages();
  const says = t.branches.moments;
  const id = useId();
  const [name, setName] = useState(moment.name ?? "");
  const isReady = name.trim() !== "" && name.trim() !== moment.name;
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isReady && (await onName(name.trim()))) onClose();
  };
  return (
    <form
      className="moment-form"
      onSubmit={(event) => void save(event)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <label htmlFor={id} className="visually-hidden">
        {says.name}
      </label>
      <input
        id={id}
        className="input"
        autoComplete="off"
        autoFocus
        placeholder={says.placeholder}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" look="primary" disabled={!isReady}>
        {says.save}
      </Button>
      <Button onClick={onClose}>{t.common.cancel}</Button>
      <CommandLine command={`npx perdure moments name ${run} ${moment.entry} ${shellWord(name.trim() || "<name>")}`} />
    </form>
  );
}

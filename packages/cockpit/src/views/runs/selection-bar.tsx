// What can be done with the runs that are chosen: asked once more, with its progress.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { useApi } from "../../app/app-context.ts";
import { useFormat, useMessages } from "../../i18n/use-messages.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { RunLink } from "../../ui/run-link.tsx";
import { sayFailure } from "../../ui/toasts.tsx";
import { visibleText } from "../../ui/visible-text.ts";
import { actOnMany, countChosen, type Chosen, type Progress, type RunAction } from "./act-on-many.ts";
import { commandOfMany } from "./command-of-many.ts";
import { filterBody, showsAll, showsRun, type RunsSearch } from "./runs-search.ts";
import { NOTHING, type Selection } from "./selection.ts";

const ACTIONS: readonly RunAction[] = ["cancel", "pause", "resume", "restart", "kill", "purge"];

export interface SelectionBarProps {
  readonly search: RunsSearch;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
}

export function SelectionBar({ search, selection, onSelect }: SelectionBarProps): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const [action, setAction] = useState<RunAction | null>(null);
  if (selection.kind === "some" && selection.ids.size === 0) return null;
  const says = selection.kind === "matching" ? t.runs.allMatching : t.runs.selected(format.number(selection.ids.size));
  return (
    <div className="selection-bar" role="region" aria-label={says}>
      <b>{says}</b>
      {selection.kind === "matching" ? null : (
        <Button look="ghost" size="s" onClick={() => onSelect({ kind: "matching" })}>
          {t.runs.selectAllMatching}
        </Button>
      )}
      {ACTIONS.map((name) => (
        <Button key={name} size="s" onClick={() => setAction(name)}>
          {t.run.actions[name]}
        </Button>
      ))}
      <Button look="ghost" size="s" onClick={() => onSelect(NOTHING)}>
        {t.runs.clearSelection}
      </Button>
      {action === null ? null : (
        <ActDialog
          action={action}
          chosen={chosenOf(selection, search)}
          command={commandOfMany(action, selection, search)}
          onClose={(acted) => {
            setAction(null);
            if (acted) onSelect(NOTHING);
          }}
        />
      )}
    </div>
  );
}

function chosenOf(selection: Selection, search: RunsSearch): Chosen {
  return selection.kind === "matching"
    ? {
        kind: "filter",
        filter: filterBody(search, Date.now()),
        ...(showsAll(search) ? {} : { accepts: (run) => showsRun(search, run) }),
      }
    : { kind: "ids", ids: [...selection.ids] };
}

interface ActDialogProps {
  readonly action: RunAction;
  readonly chosen: Chosen;
  /** What does the same; null: nothing does. */
  readonly command: string | null;
  readonly onClose: (acted: boolean) => void;
}

function ActDialog({ action, chosen: given, command, onClose }: ActDialogProps): ReactNode {
  const t = useMessages();
  const format = useFormat();
  const api = useApi();
  const id = useId();
  const [chosen] = useState(given); // What was confirmed is what is done, however much time passes.
  const [progress, setProgress] = useState<Progress | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const { current } = stop;
    return () => current.abort();
  }, []);
  const count = useQuery({
    queryKey: ["runs", "count", action, id],
    queryFn: ({ signal }) => countChosen(api, action, chosen, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const begin = (): void => {
    setProgress({ done: 0, total: null, failed: [], isOver: false });
    actOnMany(api, action, chosen, { onProgress: setProgress, signal: stop.current.signal }).catch((error: unknown) => {
      setProgress(null);
      sayFailure(error);
    });
  };
  const close = (): void => onClose(progress !== null);
  const howMany = count.data === undefined ? t.runs.allMatching : t.common.count.runs(count.data);
  return (
    <Dialog isOpen onClose={close} title={t.runs.confirm[action](count.isPending ? "…" : howMany)}>
      <p>{t.runs.consequence[action]}</p>
      {progress !== null ? (
        <ProgressView progress={progress} />
      ) : command === null ? null : (
        <div className="field">
          <span className="label dim">{t.run.asCommand}</span>
          <CommandLine command={command} />
        </div>
      )}
      <div className="actions">
        {progress === null ? <Button onClick={close}>{t.common.close}</Button> : null}
        {progress === null ? (
          <Button
            look={action === "kill" || action === "purge" ? "danger" : "primary"}
            disabled={count.isPending || count.data === 0}
            onClick={begin}
          >
            {count.isPending ? t.runs.counting : t.run.actions[action]}
          </Button>
        ) : (
          <Button onClick={close}>{progress.isOver ? t.common.close : t.runs.stop}</Button>
        )}
      </div>
      <span className="visually-hidden" role="status">
        {progress === null ? "" : t.runs.done(format.number(progress.done))}
      </span>
    </Dialog>
  );
}

function ProgressView({ progress: { done, total, failed, isOver } }: { readonly progress: Progress }): ReactNode {
  const t = useMessages().runs;
  const format = useFormat();
  const tried = done + failed.length;
  return (
    <>
      {total === null ? <progress className="progress" /> : <progress className="progress" value={tried} max={total} />}
      <p>
        {isOver
          ? t.done(format.number(done))
          : t.progress(format.number(tried), total === null ? "…" : format.number(total))}
      </p>
      {failed.length === 0 ? null : (
        <section>
          <h3>{t.failures(format.number(failed.length))}</h3>
          <ul className="failure-list">
            {failed.map(({ runId, message }) => (
              <li key={runId}>
                <RunLink id={runId} /> {visibleText(message)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
